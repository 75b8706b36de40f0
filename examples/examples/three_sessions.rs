//! Three conversations about deploying to a small simulated cluster, on one home folder.
//!
//! ```text
//! cargo run -p hermes-examples --example three_sessions -- [--json] [--seed N] [--forget]
//!     [--without memory|skills]
//! ```

#![expect(clippy::print_stdout, reason = "a program's output is what it is for")]

use std::error::Error;

use clap::{Parser, ValueEnum};
use hermes_examples::three_sessions::{
    home::Parts,
    report,
    run::{Keep, Plan, run},
};

/// Lets an agent deploy three services, one conversation each, and shows what it learns in between.
#[derive(Debug, Parser)]
struct Options {
    /// Prints one line of JSON instead of the story.
    #[arg(long)]
    json: bool,
    /// Which world: names, addresses, paths and the order of the tasks follow from it.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Empties the home folder before every conversation.
    #[arg(long)]
    forget: bool,
    /// Takes one way of learning away.
    #[arg(long, value_enum)]
    without: Option<Without>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Without {
    /// No facts are kept.
    Memory,
    /// No procedures are kept.
    Skills,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let outcome = run(&plan(&options)).await?;
    if options.json {
        println!("{}", report::json(&outcome)?);
    } else {
        print!("{outcome}");
    }
    Ok(())
}

fn plan(options: &Options) -> Plan {
    let mut plan = Plan::new(options.seed);
    plan.home = if options.forget { Keep::Nothing } else { Keep::Everything };
    plan.parts = match options.without {
        None => Parts::Both,
        Some(Without::Memory) => Parts::WithoutMemory,
        Some(Without::Skills) => Parts::WithoutSkills,
    };
    plan
}

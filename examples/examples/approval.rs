//! A terminal whose dangerous commands are put to somebody before they run.
//!
//! ```text
//! cargo run -p hermes-examples --example approval
//! ```
//!
//! The model is scripted and the terminal only pretends, so that this runs anywhere.

#![expect(clippy::print_stdout, reason = "a program's output is what it is for")]

use std::error::Error;

use hermes_core::{
    Agent,
    approval::{self, Approval, ApprovalRequest, NeedsApproval, Severity},
    schemars::{self, JsonSchema},
    testing::ScriptedProvider,
    tool,
};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Command {
    /// What the shell is to run.
    command: String,
}

/// Stands for a person: allows what can be made good again, and shows what was asked.
async fn ask(request: ApprovalRequest) -> Approval {
    println!("? {}", request.command.unwrap_or_default());
    for danger in &request.dangers {
        println!("  {:?}: {}", danger.severity(), danger.reason());
    }
    if request.dangers.iter().any(|danger| Severity::Critical <= danger.severity()) {
        return Approval::Deny("never on this machine".to_owned());
    }
    Approval::AllowForSession
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let terminal = tool::from_fn("terminal", "Runs a command.", |it: Command, _| async move {
        Ok(format!("(pretended to run {})", it.command))
    })
    .configure(|spec| spec.with_approval(NeedsApproval::dangerous("command")));
    let commands = ["ls", "rm -rf build", "rm -rf dist", "grep 'rm -rf /' notes", "r''m -rf /"];
    let model = commands.iter().fold(ScriptedProvider::new(), |model, command| {
        model.call("terminal", json!({"command": command}))
    });

    let agent = Agent::builder(model.say("Done.")).model("scripted").tool(terminal);
    let session = agent.approver(approval::from_fn(ask)).build()?.session();
    session.send("Clean up.").await?;

    for result in session.history().iter().flat_map(|message| message.call_results()) {
        println!("> {}", result.content);
    }
    Ok(())
}

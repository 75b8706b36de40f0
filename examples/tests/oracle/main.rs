//! Scores the crates against vectors made by running hermes-agent, and against what is right.
//!
//! The vectors are in the folder that `HERMES_ORACLE` names, or in `shared/oracle` beside the
//! project; where neither is there, that is said and only what the repository holds is scored. One
//! line of figures per family. Figures below those of `floors.txt` fail the run, figures above say
//! how to raise them.
//! `ORACLE_SHOW=n` shows the first n differing vectors of each kind. Words on the command line select
//! families.
#![expect(clippy::print_stdout, reason = "a test harness")]
#![expect(clippy::disallowed_methods, reason = "a test harness is configured by its environment")]

mod floors;
mod frontmatter;
mod fts;
mod fuzzy;
mod guard;
mod held_out;
mod index;
mod index_views;
mod memory;
mod skill_manage;
mod threat;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use self::floors::Standing;

/// A family: its name, and what scores it; `None` where the part it scores is not built yet.
type Family = (&'static str, Option<fn(&Path, usize) -> String>);

const FAMILIES: [Family; 8] = [
    ("fuzzy", Some(|folder, show| fuzzy::run(&folder.join("fuzzy.jsonl"), show))),
    ("threat", Some(threat::run)),
    ("guard", Some(guard::run)),
    ("memory", Some(memory::run)),
    ("frontmatter", Some(frontmatter::run)),
    ("skill_manage", Some(skill_manage::run)),
    ("index", Some(index::run)),
    ("fts", Some(fts::run)),
];

fn main() -> ExitCode {
    floors::check();
    let show = std::env::var("ORACLE_SHOW").ok().and_then(|it| it.parse().ok()).unwrap_or(0);
    let wanted: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|it| it == name);
    let mut holds = true;
    if is_wanted("held_out") {
        holds &= report(&held_out::run(show));
        holds &= report(&held_out::fuzzy(show));
    }
    if is_wanted("unseen") {
        holds &= report(&held_out::unseen());
    }
    let folder = match std::env::var_os("HERMES_ORACLE").map(PathBuf::from) {
        Some(folder) if !folder.is_absolute() || !folder.is_dir() => {
            println!("oracle: HERMES_ORACLE={} is not an absolute folder", folder.display());
            return ExitCode::FAILURE;
        }
        Some(folder) => folder,
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/oracle"),
    };
    if folder.is_dir() {
        for (name, run) in FAMILIES.into_iter().filter(|(name, _)| is_wanted(name)) {
            let pending = || format!("oracle {name} pending");
            holds &= report(&run.map_or_else(pending, |run| run(&folder, show)));
        }
    } else {
        println!("oracle: {} is not there, so its vectors are not scored", folder.display());
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints what a family has scored; returns whether it holds its floor.
fn report(printed: &str) -> bool {
    println!("{printed}");
    match floors::stand(printed) {
        Standing::Holds => true,
        Standing::Rose(line) => {
            println!("oracle: better than the floor; raise it in floors.txt: {line}");
            true
        }
        Standing::Fell(what) => {
            println!("oracle: below the floor: {what}");
            false
        }
    }
}

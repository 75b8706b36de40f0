//! Scores the crates against vectors made by running hermes-agent, and against what is right.
//!
//! The vectors are in the folder that `HERMES_ORACLE` names, or in `shared/oracle` beside the
//! project; where neither is there, that is said and the run passes. One line of figures per family.
//! `ORACLE_SHOW=n` shows the first n differing vectors of each kind. Words on the command line select
//! families.
#![expect(clippy::print_stdout, reason = "a test harness")]
#![expect(clippy::disallowed_methods, reason = "a test harness is configured by its environment")]

mod frontmatter;
mod fts;
mod fuzzy;
mod guard;
mod index;
mod index_views;
mod memory;
mod skill_manage;
mod threat;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

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
    let folder = match std::env::var_os("HERMES_ORACLE").map(PathBuf::from) {
        Some(folder) if !folder.is_absolute() || !folder.is_dir() => {
            println!("oracle: HERMES_ORACLE={} is not an absolute folder", folder.display());
            return ExitCode::FAILURE;
        }
        Some(folder) => folder,
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/oracle"),
    };
    if !folder.is_dir() {
        println!("oracle: {} is not there, so nothing is scored", folder.display());
        println!("0 passed, 0 failed");
        return ExitCode::SUCCESS;
    }
    let show = std::env::var("ORACLE_SHOW").ok().and_then(|it| it.parse().ok()).unwrap_or(0);
    let wanted: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    for (name, run) in FAMILIES {
        if wanted.is_empty() || wanted.iter().any(|it| it == name) {
            let line =
                run.map_or_else(|| format!("oracle {name} pending"), |run| run(&folder, show));
            println!("{line}");
        }
    }
    ExitCode::SUCCESS
}

//! How long the guard takes for the skills of a large collection, beside reading their bytes once.
//!
//! ```text
//! cargo bench -p hermes-benches --bench guard
//! ```
//!
//! Times depend on the machine; the ratios within one run are what counts. For comparison,
//! hermes-agent 0.19 needs 26 s of CPU for 73 skills, 1.3 s for 5,000 ordinary lines, and 8.4 s for
//! 4,800 characters of `you have no `.

#![expect(clippy::print_stdout, reason = "a benchmark reports to the terminal")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use hermes_skills::guard::{self, Folder};

/// How many skills a collection has, and how large each is, in bytes.
const SKILLS: usize = 177;
const SIZE: usize = 12_000;

fn main() {
    let skills: Vec<Folder> = (0..SKILLS).map(skill).collect();
    let base = fastest(|| black_box(&skills).iter().map(Folder::hash).collect::<Vec<_>>());
    println!("{:<44} {base:>12?}", "the hashes of 177 skills of 12 KB");
    guard::scan(&Folder::new().file("SKILL.md", "the rules are compiled at the first scan"));
    report("177 skills of 12 KB", base, || {
        black_box(&skills).iter().map(guard::scan).collect::<Vec<_>>()
    });
    for (name, text) in [
        ("one line of 200,000 characters", "x".repeat(200_000)),
        ("5,000 ordinary lines", script(218_000)),
        ("you have no, 4,800 characters", format!("act as if {}", "you have no ".repeat(400))),
        ("names that stand for names", "a = $a + \"/etc/x\"\n".repeat(10_000)),
    ] {
        let folder = Folder::new().file("scripts/a.sh", text);
        report(name, base, || guard::scan(black_box(&folder)));
    }
}

/// Measures `run` and prints its time and how it relates to `base`.
fn report<T>(name: &str, base: Duration, run: impl FnMut() -> T) {
    let taken = fastest(run);
    println!("{name:<44} {taken:>12?} {:>8.1}x", taken.as_secs_f64() / base.as_secs_f64());
}

/// Returns the shortest of a few runs.
fn fastest<T>(mut run: impl FnMut() -> T) -> Duration {
    let timed = (0..5).map(|_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed()
    });
    timed.min().unwrap_or_default()
}

/// Makes a skill of documentation and a script.
fn skill(number: usize) -> Folder {
    let mut text = format!("---\nname: skill-{number}\ndescription: Does things.\n---\n");
    let mut step = 0;
    while text.len() < SIZE * 2 / 3 {
        step += 1;
        let _ = write!(
            text,
            "## Step {step}\n\nRun `scripts/run.py --step {step}` and read what it prints. Tell the user \
             what has changed, and ask before anything is deleted.\n\n```bash\nnpm test && git status\n```\n\n"
        );
    }
    Folder::new().file("SKILL.md", text).file("scripts/run.py", script(SIZE / 3))
}

/// Makes an ordinary script with about that many bytes.
fn script(bytes: usize) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < bytes {
        number += 1;
        let _ = write!(
            text,
            "def step_{number}(path, count={number}):\n    # Reads the file and counts its lines.\n    \
             lines = open(path).readlines()\n    return [line for line in lines if count < len(line)]\n\n"
        );
    }
    text
}

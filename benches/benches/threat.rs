//! How long the scan for threats takes, as a multiple of what ordinary text takes.
//!
//! ```text
//! cargo bench -p hermes-benches --bench threat
//! ```
//!
//! Times depend on the machine; the ratios within one run are what counts. With `-- count <name>`
//! one input is scanned once, to count its instructions:
//!
//! ```text
//! valgrind --tool=callgrind <the program> count ordinary
//! ```
//!
//! For comparison, hermes-agent 0.19 looks at the first 65,536 characters only: 80 ms of CPU for
//! real text, 1.4 s for `cat ` repeated, 1.2 s for `update `, 0.1 s for `ignore a a a`, 1.7 s for
//! `translate x into `.

#![expect(clippy::print_stdout, reason = "a benchmark reports to the terminal")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use hermes_benches::hostile::texts;
use hermes_core::threat::{self, Scope};

/// How long each text is, in bytes.
const LENGTH: usize = 1_000_000;

fn main() {
    let mut arguments = std::env::args().skip_while(|it| it != "count").skip(1);
    if let Some(wanted) = arguments.next() {
        let found = texts(LENGTH).into_iter().find(|(name, _)| *name == wanted);
        black_box(threat::scan(&found.unwrap_or_default().1, Scope::Strict));
        return;
    }
    threat::scan("the rules are compiled at the first scan", Scope::Strict);
    let mut base = Duration::ZERO;
    for (name, text) in texts(LENGTH) {
        let taken = fastest(|| threat::scan(black_box(&text), Scope::Strict));
        if base.is_zero() {
            base = taken;
        }
        let bytes = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
        let speed = bytes / 1e6 / taken.as_secs_f64();
        let ratio = taken.as_secs_f64() / base.as_secs_f64();
        println!("{name:<24} {taken:>12?} {speed:>8.1} MB/s {ratio:>6.2}x");
    }
    let entry =
        "The staging cluster runs in eu-central-1; deploys go through the pipeline on tag push.";
    println!(
        "{:<24} {:>12?}",
        "a memory entry",
        fastest(|| threat::scan(black_box(entry), Scope::Strict))
    );
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

//! How long the patch engine takes, as a multiple of what reading and copying the text takes.
//!
//! ```text
//! cargo bench -p hermes-benches --bench patch
//! ```
//!
//! Times depend on the machine; the ratios within one run are what counts. For comparison,
//! hermes-agent 0.19 needs 10 s of CPU for a megabyte without a match, 15 s for an inexact match near
//! its end, and 20 ms for an exact one.

#![expect(clippy::print_stdout, reason = "a benchmark reports to the terminal")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use hermes_skills::patch::{self, PatchOptions};

const OLD: &str = "def alpha_beta(self):\n    value = compute_thing(12)\n    if value is missing:\n        \
                   raise KeyError(value)\n    other = value + 1\n    return other_result";

fn main() {
    let text = source(1_000_000);
    let large = source(16_000_000);
    let base = fastest(|| (black_box(&text).lines().count(), text.clone()));
    println!("{:<44} {:>12?}", "lines().count() and a copy, 1 MB", base);

    let near_end = format!("{text}\n{OLD}\nend\n");
    let shifted = OLD.replace('\n', "\n  ");
    let slipped = OLD.replace("missing", "mising");
    let edited = OLD.replace("+ 1", "+ 2");
    let none = report("no match, 6 lines, 1 MB", base, &text, (OLD, "x"));
    report("no match, 1 line, 1 MB", base, &text, ("  other = compute(value, absent)", "x"));
    report("exact, near the end, 1 MB", base, &near_end, (OLD, "x"));
    report("indentation differs, near the end, 1 MB", base, &near_end, (&shifted, &edited));
    report("a slip, near the end, 1 MB", base, &near_end, (&slipped, &edited));
    let sixteen = report("no match, 6 lines, 16 MB", base, &large, (OLD, "x"));
    println!("16 MB takes {:.1} times as long as 1 MB", sixteen.as_secs_f64() / none.as_secs_f64());

    let line = "a".repeat(30_000_000);
    report(
        "no match, 30 MB in one line",
        base,
        &line,
        (&format!("{} b", "a".repeat(1_000_000)), "x"),
    );
    let equal = "x = 1\n".repeat(200_000);
    let many = format!("{}y", " x = 1\n".repeat(1_000));
    report("no match, 200,000 equal lines, 1,001 lines", base, &equal, (&many, "x"));
}

/// Measures one replacement and prints its time and how it relates to `base`.
fn report(name: &str, base: Duration, text: &str, (old, new): (&str, &str)) -> Duration {
    let options = PatchOptions::default();
    let taken = fastest(|| patch::replace(black_box(text), old, new, &options));
    println!("{name:<44} {taken:>12?} {:>8.1}x", taken.as_secs_f64() / base.as_secs_f64());
    taken
}

/// Returns the shortest of a few runs.
fn fastest<T>(mut run: impl FnMut() -> T) -> Duration {
    let timed = (0..9).map(|_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed()
    });
    timed.min().unwrap_or_default()
}

/// Makes a text of ordinary code and prose with about that many bytes.
fn source(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 512);
    let mut number = 0;
    while text.len() < bytes {
        number += 1;
        let _ = write!(
            text,
            "## Step {number}: prepare the worker\n\nRun the check “twice” — it is cheap — and read the log.\n\
             def handler_{number}(request):\n    value = request.get('key{number}', {})\n    if value:\n        \
             return value\n    return None\n\n",
            number * 7 % 1_000
        );
    }
    text
}

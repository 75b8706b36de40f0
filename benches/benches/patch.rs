//! How long the patch engine takes, as a multiple of what reading and copying the text takes.
//!
//! ```text
//! cargo bench -p hermes-benches --bench patch             every case, as ratios within one run
//! cargo bench -p hermes-benches --bench patch -- none-1   one case, once
//! ```
//!
//! Times depend on the machine; the ratios within one run are what counts, or the instructions of
//! one case:
//!
//! ```text
//! valgrind --tool=callgrind --toggle-collect='hermes_skills::patch::replace' target/release/deps/patch-… none-1
//! ```
//!
//! For comparison, hermes-agent 0.19 needs 10 s of CPU for a megabyte without a match, 15 s for an
//! inexact match near its end, and 20 ms for an exact one.

#![expect(clippy::print_stdout, reason = "a benchmark reports to the terminal")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::ops::Range;
use std::time::{Duration, Instant};

use hermes_skills::patch::{self, PatchOptions};

const OLD: &str = "def alpha_beta(self):\n    value = compute_thing(12)\n    if value is missing:\n        \
                   raise KeyError(value)\n    other = value + 1\n    return other_result";
const COMMON: &str = "def handler(request):\n    value = request.get('key', {})\n    if value:\n        \
                      return value\n    return None\n    # absent";
const MB: usize = 1_000_000;

/// A call of the engine: the text, the quotation, and what replaces it.
struct Case {
    name: &'static str,
    text: String,
    old: String,
    new: String,
    options: PatchOptions,
}

/// Makes a case by the name that the command line knows it by.
type Make = fn(&'static str) -> Case;

const CASES: [(&str, Make); 29] = [
    ("none-1", |name| case(name, source(MB), OLD, "x")),
    ("none-16", |name| case(name, source(16 * MB), OLD, "x")),
    ("none-common", |name| case(name, source(MB), COMMON, "x")),
    ("none-one-line", |name| case(name, source(MB), "  other = compute(value, absent)", "x")),
    ("none-40-lines", |name| {
        case(name, source(MB), &OLD.repeat(8).replace("alpha", "\n\nbeta"), "x")
    }),
    ("none-escapes", |name| {
        case(name, source(MB), &OLD.replace("(12)", "(\\\"12\\n\\\", value)"), "x")
    }),
    ("none-crlf", |name| case(name, source(MB).replace('\n', "\r\n"), OLD, "x")),
    ("exact", |name| case(name, near_end(), OLD, "x")),
    ("exact-16", |name| case(name, source(16 * MB) + OLD, OLD, "x")),
    ("indentation", |name| case(name, near_end(), &OLD.replace('\n', "\n  "), &edited())),
    ("blank-lines", |name| case(name, near_end(), &OLD.replace("12)\n", "12)\n\n"), &edited())),
    ("slip", |name| case(name, near_end(), &OLD.replace("missing", "mising"), &edited())),
    ("one-line-30", |name| case(name, "a".repeat(30 * MB), &format!("{} b", "a".repeat(MB)), "x")),
    ("one-line-100", |name| case(name, "a b".repeat(100 * MB / 3), "a  b a", "x")),
    ("equal-bytes-100", |name| case(name, "a".repeat(100 * MB), "a", "x")),
    ("equal-words-30", |name| case(name, "a  ".repeat(10 * MB), "a a\u{200b}", "x")),
    ("slips-all-over", |name| {
        let old = prose(2_000).replace("ordinary", "ordnary");
        case(name, prose(20_000), &old, &old.replace("place", "spot"))
    }),
    ("slips-in-long-words", |name| {
        let line = |last| format!("{}{last} = 1\n", "abcdefgh".repeat(240));
        case(name, line("x").repeat(500), &line("y").repeat(500), &line("x").repeat(499))
    }),
    ("equal-lines", |name| {
        let old = format!("{}y", " x = 1\n".repeat(1_000));
        case(name, "x = 1\n".repeat(200_000), &old, "x")
    }),
    ("all-on-one-line-crlf", |name| {
        let text = format!("x{}", "y".repeat(99)).repeat(MB / 10) + "\r\n";
        case(name, text, "x", "z\nz").all()
    }),
    ("all-inexact-on-one-line", |name| {
        case(name, "see “it” now ".repeat(MB / 16), "\"it\"", "\"that\"").all()
    }),
    ("all-inexact-on-lines", |name| {
        let text = "    say(“hi”)\n".repeat(MB / 16);
        case(name, text, "say(\"hi\")", "say(\"hi\")\n  if x:\n    stop()").all()
    }),
    ("all-inexact-of-many-lines", |name| {
        let lines = |from: usize, quote: &str| -> String {
            numbered(from..from + 1_000, |at| format!("{quote}{at}{quote}\n"))
        };
        let text = (lines(0, "“") + "\n").repeat(100);
        case(name, text, &lines(0, "\""), &lines(500, "\"")).all()
    }),
    ("nearly-repeated", |name| {
        case(name, "ba\n".repeat(MB / 3), &format!("a\n{}", "ba\n".repeat(MB / 6)), "x")
    }),
    ("one-line-quoted-as-many", |name| {
        let words = |end: &str| -> String { numbered(0..MB / 8, |at| format!("w{at}{end}")) };
        case(name, words(" "), &(words("\n") + "none"), "x")
    }),
    ("escapes-all-over", |name| {
        let calls =
            |name: &str| -> String { numbered(0..MB / 20, |at| format!("{name}{at}(\\\"a\\\") ")) };
        let old = calls("say");
        case(name, old.replace('\\', ""), &old, &calls("tell"))
    }),
    ("all-indentations", |name| {
        let deep = |at: usize| -> String {
            (0..16).map(|bit| if at >> bit & 1 == 0 { ' ' } else { '\t' }).collect()
        };
        let lines = |start: &str, end: &str| -> String {
            numbered(0..MB / 25, |at| format!("{start}{}{end}{at}\n", deep(at)))
        };
        case(name, lines(" ", "x"), &lines("", "x"), &lines("", "\t y"))
    }),
    ("nothing-alike", |name| {
        let words = |at: usize| -> String { numbered(0..MB / 50, |word| format!("{at}w{word} ")) };
        let old: String = (0..6).map(|at| words(at) + "\n").collect();
        case(name, old.replace('\n', " \n"), &old, &"z\n".repeat(MB / 50))
    }),
    ("nul-and-cr", |name| case(name, "a\0b\rc\r\n".repeat(MB / 7), "a\0b c\nd", "x")),
];

fn main() {
    let asked = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    if let Some(asked) = asked {
        for (name, make) in CASES.iter().filter(|(name, _)| *name == asked) {
            let _ = black_box(make(name).run());
        }
        return;
    }
    let text = source(MB);
    let base = fastest(|| (black_box(&text).lines().count(), text.clone()));
    println!("{:<20} {:>12?}", "count and copy", base);
    for (name, make) in &CASES {
        make(name).report(base);
    }
}

impl Case {
    /// Asks for every match.
    fn all(mut self) -> Self {
        self.options = self.options.replace_all(true);
        self
    }

    fn run(&self) -> Result<patch::Patched, patch::PatchError> {
        patch::replace(black_box(&self.text), &self.old, &self.new, &self.options)
    }

    /// Measures the case and prints its time, and how it relates to `base` for each MB of its text.
    fn report(&self, base: Duration) {
        let taken = fastest(|| self.run());
        #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
        let megabytes = (self.text.len() as f64 / MB as f64).max(1.0);
        let ratio = taken.as_secs_f64() / base.as_secs_f64();
        let name = self.name;
        println!("{name:<20} {taken:>12?} {ratio:>8.1}x {:>8.1}x per MB", ratio / megabytes);
    }
}

fn case(name: &'static str, text: String, old: &str, new: &str) -> Case {
    let options = PatchOptions::default();
    Case { name, text, old: old.to_owned(), new: new.to_owned(), options }
}

/// Returns a megabyte with the quoted lines near its end.
fn near_end() -> String {
    format!("{}\n{OLD}\nend\n", source(MB))
}

fn edited() -> String {
    OLD.replace("+ 1", "+ 2")
}

/// Writes what `part` makes of every number.
fn numbered(numbers: Range<usize>, part: impl Fn(usize) -> String) -> String {
    numbers.fold(String::new(), |text, at| text + &part(at))
}

/// Makes lines of prose, all different.
fn prose(lines: usize) -> String {
    (0..lines).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "An ordinary line takes place x{at}.");
        text
    })
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

//! What a call costs grows with its arguments, and never with their product.
//!
//! Each case is made in two sizes, the second four times the first. Linear work takes about four times
//! as long then, the product of two lengths sixteen times. What counts is the time that the thread had a
//! processor, the shortest of several, so that it does not matter how busy the machine is.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::{PatchOptions, replace};

/// How many times longer the larger case may take.
const BOUND: u32 = 9;
/// What is faster than this says nothing.
const LEAST: Duration = Duration::from_micros(500);
/// How often the two are measured before the larger one is called too slow.
const ATTEMPTS: usize = 6;

/// The text, the quotation and what replaces it.
type Call = (String, String, String);

/// Asserts that what `make` makes of `size` takes about as much longer as it is larger.
#[track_caller]
fn check(every: bool, size: usize, make: impl Fn(usize) -> Call) {
    let (small, large) = (make(size), make(4 * size));
    let (mut least, mut most) = (Duration::MAX, Duration::MAX);
    for _ in 0..ATTEMPTS {
        least = least.min(time(every, &small));
        most = most.min(time(every, &large));
        if most <= least.max(LEAST) * BOUND {
            return;
        }
    }
    panic!("{least:?}, and {most:?} for four times as much");
}

fn time(every: bool, (text, old, new): &Call) -> Duration {
    let (start, worked) = (Instant::now(), worked());
    let _ = replace(text, old, new, &PatchOptions::default().replace_all(every));
    self::worked().zip(worked).map_or(start.elapsed(), |(end, start)| end.saturating_sub(start))
}

/// Returns how long this thread has had a processor, where the system says so.
fn worked() -> Option<Duration> {
    // The figure is brought up to date when the thread steps aside.
    std::thread::yield_now();
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = stat.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// Writes `line` for every number.
fn numbered(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        let _ = write!(text, "{}", line(at));
        text
    })
}

#[test]
fn many_places_on_one_line_of_a_text_with_carriage_returns() {
    let filler = "y".repeat(600);

    for new in ["z", "z\nz"] {
        check(true, 1_000, |size| {
            let text = format!("x {filler} ").repeat(size) + "\r\n";
            (text, "x".to_owned(), new.to_owned())
        });
        check(true, 1_000, |size| {
            let text = "a\r\n".to_owned() + &format!("x {filler} ").repeat(size);
            (text, "x".to_owned(), new.to_owned())
        });
    }
}

#[test]
fn many_inexact_places_on_one_line() {
    check(true, 1_000, |size| {
        ("see “it” now ".repeat(size), "\"it\"".to_owned(), "\"that\"".to_owned())
    });
    check(true, 1_000, |size| {
        ("see “it” now ".repeat(size), "\"it\"".to_owned(), "\"that\n one\"".to_owned())
    });
}

#[test]
fn many_inexact_places_on_lines_of_their_own() {
    check(true, 300, |size| {
        let text = numbered(size, |at| format!("    say(“hi”)\n    run({at})\n"));
        (text, "say(\"hi\")".to_owned(), "say(\"hi\")\n  if x:\n    stop()".to_owned())
    });
}

#[test]
fn a_quotation_of_repeated_lines_that_nearly_fits() {
    check(false, 10_000, |size| {
        ("ba\n".repeat(2 * size), format!("a\n{}", "ba\n".repeat(size)), "x".to_owned())
    });
}

#[test]
fn a_long_line_whose_words_stand_on_lines_of_their_own_in_the_quotation() {
    check(false, 1_000, |size| {
        let text = numbered(size, |at| format!("word{at} and{at} "));
        let old = numbered(size, |at| format!("word{at}\nand{at}\n"));
        (text, old + "none", "x".to_owned())
    });
}

#[test]
fn a_new_text_full_of_escapes() {
    check(false, 400, |size| {
        let old = numbered(size, |at| format!("say{at}(\\\"a\\\") "));
        let new = numbered(size, |at| format!("tell{at}(\\\"b\\\") "));
        (old.replace('\\', "") + "\n", old, new)
    });
}

#[test]
fn a_quotation_of_many_indentations() {
    let deep = |at: usize| -> String {
        (0..13).map(|bit| if at >> bit & 1 == 0 { ' ' } else { '\t' }).collect()
    };

    check(false, 800, |size| {
        let old = numbered(size, |at| format!("{}x{at}\n", deep(at)));
        let text = numbered(size, |at| format!(" {}x{at}\n", deep(at)));
        let new = numbered(size, |at| format!("{}\t y{at}\n", deep(at)));
        (text, old, new)
    });
    check(false, 800, |size| {
        let old = numbered(size, |at| format!("{}x{at}\n", deep(at)));
        let text = numbered(size, |at| format!(" {}x{at}\n", deep(at)));
        let new = numbered(size, |at| format!("{:7}y{at}\n", deep(at % 64).split_at(6).0));
        (text, old, new)
    });
}

#[test]
fn one_misspelling_on_every_line() {
    check(false, 1_000, |size| {
        let text = numbered(4 * size, |at| format!("An ordinary line takes place x{at}.\n"));
        let old = numbered(size, |at| format!("An ordnary line takes place x{at}.\n"));
        let new = old.replace("place", "spot");
        (text, old + "last", new)
    });
}

#[test]
fn lines_that_are_like_none_of_the_quotation() {
    check(false, 12, |size| {
        let long = |name: &str| numbered(10 * size, |at| format!("{name}{at} "));
        let old = numbered(6, |at| format!("{}\n", long(&format!("w{at}x"))));
        let new = numbered(10 * size, |at| format!("z{at}\n"));
        (old.replace('\n', "  \n"), old, new)
    });
}

#[test]
fn characters_that_are_not_seen_are_passed_once() {
    check(false, 20_000, |size| {
        (format!("a{}", "\u{200b}".repeat(size)), "b  c".to_owned(), "d".to_owned())
    });
}

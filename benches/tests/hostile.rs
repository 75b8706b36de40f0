//! No text makes the scan for threats much slower than ordinary text does.
//!
//! The bound is 3x in instructions, which `cargo bench` and callgrind show. Here it is time, of a
//! build that is not optimised, on a machine that does other things: what is far over the bound is
//! caught.

#![expect(clippy::unwrap_used, reason = "a test with its helpers")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use hermes_benches::hostile::texts;
use hermes_core::threat::{self, Scope};

const LENGTH: usize = 20_000;
const BOUND: f64 = 6.0;

#[test]
fn no_text_is_much_slower_to_scan_than_ordinary_text() {
    let texts = texts(LENGTH);
    let (_, ordinary) = texts.first().unwrap();
    let mut base = Duration::MAX;
    let mut slow: Vec<(&str, f64)> = Vec::new();
    for (name, text) in &texts {
        // Ordinary text again each time, so that both meet the machine as it is just then.
        let mut taken = Duration::MAX;
        for _ in 0..8 {
            base = base.min(time(ordinary));
            taken = taken.min(time(text));
        }
        let ratio = per_byte(taken, text) / per_byte(base, ordinary);
        if BOUND < ratio {
            slow.push((name, ratio));
        }
    }

    assert_eq!(slow, []);
}

fn per_byte(time: Duration, text: &str) -> f64 {
    time.as_secs_f64() / f64::from(u32::try_from(text.len()).unwrap())
}

fn time(text: &str) -> Duration {
    let start = Instant::now();
    black_box(threat::scan(black_box(text), Scope::Strict));
    start.elapsed()
}

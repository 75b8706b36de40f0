//! What requests and streams cost, as a multiple of the least that has to be done.
//!
//! ```text
//! cargo bench -p hermes-benches --bench providers
//! cargo bench -p hermes-benches --bench providers -- 'Anthropic, Text'
//! ```
//!
//! A word after `--` picks the rows whose names have it, for a profiler.
//!
//! Times depend on the machine; the ratios within one run are what counts. Building the body of a long
//! request is held against a copy of its bytes, decoding a stream against parsing its data to nothing.

#![expect(clippy::print_stdout, reason = "a benchmark reports to the terminal")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hermes_benches::samples::{self, Deltas, Stream};
use hermes_core::{message::Message, provider::Request};
use hermes_providers::{Anthropic, BuildError, OpenAiChat, OpenAiResponses};
use serde::de::IgnoredAny;

const BASE: &str = "http://127.0.0.1:9";
const RUNS: usize = 100;
/// The bytes of a piece of a stream.
const PIECE: usize = 4_096;

fn main() -> Result<(), BuildError> {
    let chat = OpenAiChat::builder(BASE).build()?;
    let messages = Anthropic::builder(BASE).build()?;
    let responses = OpenAiResponses::builder(BASE).build()?;

    println!("body of 1,000 messages (4 MB), one of them new; limit 2x a copy of its bytes");
    report_body("  OpenAiChat", |request| chat.build_body(request));
    report_body("  Anthropic", |request| messages.build_body(request));
    report_body("  OpenAiResponses", |request| responses.build_body(request));

    println!("stream of 10,000 deltas; limit 3x IgnoredAny over the same data");
    for deltas in [Deltas::Text, Deltas::Arguments] {
        let stream = samples::chat_stream(10_000, deltas);
        let read = |bytes: &[u8]| chat.read_answer(bytes.chunks(PIECE)).flatten().count();
        report_stream(&format!("  OpenAiChat, {deltas:?}"), &stream, read);
        let stream = samples::messages_stream(10_000, deltas);
        let read = |bytes: &[u8]| messages.read_answer(bytes.chunks(PIECE)).flatten().count();
        report_stream(&format!("  Anthropic, {deltas:?}"), &stream, read);
        let stream = samples::responses_stream(10_000, deltas);
        let read = |bytes: &[u8]| responses.read_answer(bytes.chunks(PIECE)).flatten().count();
        report_stream(&format!("  OpenAiResponses, {deltas:?}"), &stream, read);
    }
    Ok(())
}

/// Measures a request that goes on from one that was sent before.
fn report_body(name: &str, build: impl Fn(&Request) -> Bytes) {
    if !is_wanted(name) {
        return;
    }
    let messages = samples::conversation(999, 4_000_000);
    let request = |new: Option<String>| {
        let messages = messages.iter().cloned().chain(new.map(Message::user));
        let mut request = Request::new("model", messages.collect::<Vec<_>>());
        request.system = "You are a careful worker.".into();
        request
    };
    let sent = build(&request(None));
    let going_on: Vec<Request> =
        (0..RUNS).map(|nth| request(Some(format!("and then? {nth}")))).collect();
    let mut going_on = going_on.iter();
    let (copy, body) = fastest_of_two(|| sent.to_vec(), || going_on.next().map(&build));
    report(name, body, copy);
}

/// Measures a stream that comes in pieces, as from a socket. `read` counts the events.
fn report_stream(name: &str, stream: &Stream, read: impl Fn(&[u8]) -> usize) {
    if !is_wanted(name) {
        return;
    }
    assert!(10_000 < read(&stream.bytes), "the stream is not read to its end");
    let (ignored, decoded) = fastest_of_two(
        || {
            let whole = |payload: &String| {
                serde_json::from_slice::<IgnoredAny>(black_box(payload.as_bytes())).is_ok()
            };
            stream.payloads.iter().all(whole)
        },
        || read(black_box(&stream.bytes)),
    );
    report(name, decoded, ignored);
}

fn is_wanted(name: &str) -> bool {
    let mut words = std::env::args().skip(1).filter(|it| !it.starts_with("--"));
    words.next().is_none_or(|word| name.contains(&word))
}

fn report(name: &str, taken: Duration, base: Duration) {
    let ratio = taken.as_secs_f64() / base.as_secs_f64();
    println!("{name:<32} {taken:>12?} of {base:>12?} {ratio:>8.2}x");
}

/// Returns the shortest of many runs of each, which take turns so that both meet the same noise.
fn fastest_of_two<A, B>(
    mut one: impl FnMut() -> A,
    mut two: impl FnMut() -> B,
) -> (Duration, Duration) {
    let timed = (0..RUNS).map(|_| (timed(&mut one), timed(&mut two)));
    let fastest = timed.reduce(|(a, b), (c, d)| (a.min(c), b.min(d)));
    fastest.unwrap_or_default()
}

fn timed<T>(run: &mut impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    black_box(run());
    start.elapsed()
}

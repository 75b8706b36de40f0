//! What a wire allocates depends on what is new: for a request, its new messages; for a stream, a text
//! a delta.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test with its helpers")]

use bytes::Bytes;
use hermes_benches::samples::{self, Deltas, Stream};
use hermes_core::{message::Message, provider::Request};
use hermes_providers::{Anthropic, OpenAiChat, OpenAiResponses};

const BASE: &str = "http://127.0.0.1:9";
const DELTAS: usize = 10_000;

/// Builds the body of a conversation of `messages` messages, all but the last of which were sent
/// before. Returns the allocations, and the bytes of them beside the body itself.
fn allocated(messages: usize, build: impl Fn(&Request) -> Bytes) -> (u64, u64) {
    let mut messages = samples::conversation(messages - 1, 4_000 * messages);
    build(&Request::new("model", messages.clone()));
    messages.push(Message::user("and then?"));
    let request = Request::new("model", messages);

    let mut length = 0;
    let info = allocation_counter::measure(|| length = build(&request).len());

    (info.count_total, info.bytes_total.checked_sub(u64::try_from(length).unwrap()).unwrap())
}

#[track_caller]
fn check_body(name: &str, build: impl Fn(&Request) -> Bytes) {
    let (short, _) = allocated(100, &build);
    let (long, bytes) = allocated(1_000, &build);
    println!(
        "{name}: {short} allocations for 100 messages, {long} for 1,000, {bytes} bytes beside"
    );

    // Lists grow, but nothing is made anew for each message; 4,000 bytes of each would be written.
    assert!(long <= short + 4, "{name}: {long} against {short}");
    assert!(long <= 30, "{name}: {long}");
    assert!(bytes <= 120 * 1_000, "{name}: {bytes}");
}

#[test]
fn a_body_costs_one_copy_and_the_new_message() {
    let chat = OpenAiChat::builder(BASE).build().unwrap();
    let messages = Anthropic::builder(BASE).build().unwrap();
    let responses = OpenAiResponses::builder(BASE).build().unwrap();

    check_body("chat", |request| chat.build_body(request));
    check_body("messages", |request| messages.build_body(request));
    check_body("responses", |request| responses.build_body(request));
}

/// Reads a stream and compares its allocations with its deltas, of which a hundred may cost as many as
/// `limit`, and what it holds at once with `most` bytes.
#[track_caller]
fn check_stream(
    name: &str,
    stream: &Stream,
    (limit, most): (usize, u64),
    read: impl Fn(&[u8]) -> usize,
) {
    let mut events = 0;
    let info = allocation_counter::measure(|| events = read(&stream.bytes));
    println!("{name}: {} allocations, {} bytes at once", info.count_total, info.bytes_max);

    assert!(DELTAS < events, "{name}: only {events} events");
    let limit = u64::try_from(DELTAS / 100 * limit).unwrap();
    assert!(info.count_total <= limit, "{name}: {} for {limit}", info.count_total);
    assert!(info.bytes_max <= most, "{name}: {} for {most}", info.bytes_max);
}

/// The text of the event, and scratch space for one delta in four, which has escapes. Chat completions
/// have lists around a delta.
#[test]
fn a_delta_of_text_costs_one_allocation_and_its_lists() {
    let chat = OpenAiChat::builder(BASE).build().unwrap();
    let messages = Anthropic::builder(BASE).build().unwrap();
    let responses = OpenAiResponses::builder(BASE).build().unwrap();
    let most = 12_000;

    let stream = samples::chat_stream(DELTAS, Deltas::Text);
    check_stream("chat", &stream, (240, most), |bytes| {
        chat.read_answer(bytes.chunks(4_096)).map(Result::unwrap).count()
    });
    let stream = samples::messages_stream(DELTAS, Deltas::Text);
    check_stream("messages", &stream, (140, most), |bytes| {
        messages.read_answer(bytes.chunks(4_096)).map(Result::unwrap).count()
    });
    let stream = samples::responses_stream(DELTAS, Deltas::Text);
    check_stream("responses", &stream, (140, most), |bytes| {
        responses.read_answer(bytes.chunks(4_096)).map(Result::unwrap).count()
    });
}

/// As with text, and the arguments are kept until the call is whole.
#[test]
fn a_delta_of_arguments_costs_one_allocation_and_its_lists() {
    let chat = OpenAiChat::builder(BASE).build().unwrap();
    let messages = Anthropic::builder(BASE).build().unwrap();
    let responses = OpenAiResponses::builder(BASE).build().unwrap();
    let most = 180_000;

    let stream = samples::chat_stream(DELTAS, Deltas::Arguments);
    check_stream("chat", &stream, (370, most), |bytes| {
        chat.read_answer(bytes.chunks(4_096)).map(Result::unwrap).count()
    });
    let stream = samples::messages_stream(DELTAS, Deltas::Arguments);
    check_stream("messages", &stream, (165, most), |bytes| {
        messages.read_answer(bytes.chunks(4_096)).map(Result::unwrap).count()
    });
    let stream = samples::responses_stream(DELTAS, Deltas::Arguments);
    check_stream("responses", &stream, (165, most), |bytes| {
        responses.read_answer(bytes.chunks(4_096)).map(Result::unwrap).count()
    });
}

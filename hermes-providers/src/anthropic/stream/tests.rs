//! Streams after the documentation of Anthropic, "Streaming messages", and of endpoints that speak the
//! same wire, cut at every byte: the events must not change.

use hermes_core::message::{Message, Part};
use serde_json::{Value, json};

use super::*;
use crate::wire::{
    names::Names,
    target::Target,
    testing::{self, Outcome, assembled, check_stream},
};

#[track_caller]
fn check(stream: &str) -> Message {
    check_stream::<MessageReader>(stream)
}

fn decode(events: &[Value]) -> Outcome {
    let data: Vec<String> = events.iter().map(Value::to_string).collect();
    testing::decode::<MessageReader>(&data)
}

/// Writes events as they stand in a stream.
fn stream(events: &[Value]) -> String {
    let lines = events.iter().map(|event| {
        let kind = event["type"].as_str().unwrap_or("message");
        format!("event: {kind}\ndata: {event}\n\n")
    });
    lines.collect()
}

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": [],
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 5, "output_tokens": 1}}})
}

fn block(index: u64, block: &Value, deltas: &[Value]) -> Vec<Value> {
    let mut events =
        vec![json!({"type": "content_block_start", "index": index, "content_block": block})];
    events.extend(
        deltas.iter().map(|it| json!({"type": "content_block_delta", "index": index, "delta": it})),
    );
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

fn text(index: u64, text: &str) -> Vec<Value> {
    block(
        index,
        &json!({"type": "text", "text": ""}),
        &[json!({"type": "text_delta", "text": text})],
    )
}

fn thought(index: u64, text: &str, signature: &str) -> Vec<Value> {
    block(
        index,
        &json!({"type": "thinking", "thinking": "", "signature": ""}),
        &[
            json!({"type": "thinking_delta", "thinking": text}),
            json!({"type": "signature_delta", "signature": signature}),
        ],
    )
}

fn call(index: u64, id: &str, pieces: &[&str]) -> Vec<Value> {
    let deltas: Vec<Value> =
        pieces.iter().map(|it| json!({"type": "input_json_delta", "partial_json": it})).collect();
    block(index, &json!({"type": "tool_use", "id": id, "name": "ping", "input": {}}), &deltas)
}

fn stop(reason: &str) -> Vec<Value> {
    vec![
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 15}}),
        json!({"type": "message_stop"}),
    ]
}

fn answer(blocks: &[Vec<Value>], reason: &str) -> Vec<Value> {
    let mut events = vec![start()];
    events.extend(blocks.iter().flatten().cloned());
    events.extend(stop(reason));
    events
}

#[test]
fn text_with_pings() {
    let mut events = answer(&[text(0, "Grüße 東京 🚀")], "end_turn");
    events.insert(2, json!({"type": "ping"}));

    let message = check(&stream(&events));

    assert_eq!(message.text(), "Grüße 東京 🚀");
    assert_eq!(message.stop, Some(StopReason::EndTurn));
    let usage = message.usage.unwrap();
    assert_eq!((usage.input, usage.output, usage.cache_read, usage.cache_write), (70, 15, 60, 5));
}

#[test]
fn calls_in_fragments() {
    let first = call(1, "toolu_1", &["", "{\"a\": \"", "é\"", "}"]);
    let events = answer(&[text(0, "let me"), first, call(2, "toolu_2", &[])], "tool_use");

    let message = check(&stream(&events));

    let calls: Vec<_> =
        message.calls().map(|it| (it.id.as_str(), it.arguments.parse().cloned())).collect();
    assert_eq!(calls, [("toolu_1", Ok(json!({"a": "é"}))), ("toolu_2", Ok(json!({})))]);
    assert_eq!(message.stop, Some(StopReason::ToolCalls));
}

#[test]
fn thinking_with_a_signature() {
    let message =
        check(&stream(&answer(&[thought(0, "hm, ñ", "c2ln"), text(1, "ja")], "end_turn")));

    assert_eq!(
        message.parts,
        [Part::Reasoning(thinking::signed("test", "hm, ñ", "c2ln")), Part::Text("ja".to_owned())]
    );
}

#[test]
fn redacted_thinking() {
    let redacted = block(0, &json!({"type": "redacted_thinking", "data": "EmwK"}), &[]);

    let message = check(&stream(&answer(&[redacted, text(1, "ok")], "end_turn")));

    assert_eq!(message.parts[0], Part::Reasoning(thinking::redacted("test", "EmwK")));
}

#[test]
fn thinking_between_calls() {
    let events = answer(
        &[
            thought(0, "first", "s1"),
            call(1, "a", &["{}"]),
            thought(2, "second", "s2"),
            call(3, "b", &["{}"]),
        ],
        "tool_use",
    );

    let message = check(&stream(&events));

    let ordered = thinking::in_order(&message.parts, Target::new("test", "m", &Names::default()));
    let kinds: Vec<_> = ordered
        .iter()
        .map(|part| match part {
            Part::Reasoning(reasoning) => reasoning.text.as_str(),
            Part::Call(call) => call.id.as_str(),
            _ => "?",
        })
        .collect();
    assert_eq!(kinds, ["first", "a", "second", "b"]);
}

#[test]
fn blocks_of_unknown_kinds_with_a_stop_by_length() {
    let server = block(
        0,
        &json!({"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}),
        &[json!({"type": "input_json_delta", "partial_json": "{\"query\":\"…\"}"})],
    );
    let results = block(1, &json!({"type": "web_search_tool_result", "content": [{"x": 1}]}), &[]);
    let cited = block(
        2,
        &json!({"type": "text", "text": "", "citations": []}),
        &[
            json!({"type": "citations_delta", "citation": {"url": "u"}}),
            json!({"type": "text_delta", "text": "naïve"}),
        ],
    );

    let message = check(&stream(&answer(&[server, results, cited], "max_tokens")));

    assert_eq!(message.parts, [Part::Text("naïve".to_owned())]);
    assert_eq!(message.stop, Some(StopReason::Length));
}

#[test]
fn without_event_names_and_with_the_other_line_ends() {
    let events = answer(&[text(0, "Ω")], "end_turn");
    let lines: Vec<String> = events.iter().map(|event| format!("data:{event}\r\n\r\n")).collect();

    assert_eq!(check(&lines.concat()).text(), "Ω");
}

#[test]
fn without_a_last_event_once_the_model_has_stopped() {
    let mut events = answer(&[text(0, "ça")], "refusal");
    events.pop();

    assert_eq!(check(&stream(&events)).stop, Some(StopReason::Refusal));
}

#[test]
fn a_stream_that_ends_early_is_cut() {
    let mut events = answer(&[text(0, "half")], "end_turn");
    events.truncate(3);

    assert!(matches!(decode(&events).1, Err(WireError::Cut(_))));
    assert!(matches!(decode(&[]).1, Err(WireError::Cut(_))));
}

#[test]
fn an_error_in_the_stream_is_one() {
    let error =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});

    let (_, result) = decode(&[start(), error]);

    let Err(WireError::Refused(detail)) = result else { panic!("{result:?}") };
    assert_eq!(detail.shown, "Overloaded");
}

#[test]
fn a_whole_answer_is_the_same_as_a_streamed_one() {
    let body = json!({"type": "message", "role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "ja"},
        {"type": "tool_use", "id": "a", "name": "ping", "input": {"n": 1}}
    ], "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 2}});

    let message = assembled(testing::decode_whole::<MessageReader>(&body.to_string()));

    assert_eq!(message.parts[0], Part::Reasoning(thinking::signed("test", "hm", "s")));
    assert_eq!(message.text(), "ja");
    assert_eq!(message.calls().next().unwrap().arguments.parse(), Ok(&json!({"n": 1})));
    assert_eq!(message.usage, Some(Usage::new(3, 2)));
}

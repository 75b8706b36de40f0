use hermes_core::{
    message::{Message, Part, Usage},
    provider::ModelEvent,
};
use serde_json::Value;

use super::*;
use crate::wire::testing::{self, Outcome, assembled, calls};

fn decode(events: &[Value]) -> Outcome {
    let data: Vec<String> = events.iter().map(Value::to_string).collect();
    testing::decode::<ResponseReader>(&data)
}

#[track_caller]
fn message(events: &[Value]) -> Message {
    assembled(decode(events))
}

fn said(index: u64, text: &str) -> Value {
    json!({"type": "response.output_text.delta", "output_index": index, "delta": text})
}

fn done(index: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn completed() -> Value {
    json!({"type": "response.completed", "response": {"status": "completed"}})
}

#[test]
fn a_stream_that_ends_early_is_cut() {
    let (events, result) = decode(&[said(0, "half")]);

    assert_eq!(events, [ModelEvent::Text("half".to_owned())]);
    assert!(matches!(result, Err(WireError::Cut(_))));
    assert!(matches!(decode(&[]).1, Err(WireError::Cut(_))));
    assert!(matches!(testing::decode::<ResponseReader>(&["[DONE]"]).1, Err(WireError::Cut(_))));
}

#[test]
fn a_done_without_a_last_event_does_not_end_an_answer() {
    let half = said(0, "half").to_string();

    let (_, result) = testing::decode::<ResponseReader>(&[half.as_str(), "[DONE]"]);

    assert!(matches!(result, Err(WireError::Cut(_))));
}

#[test]
fn a_response_that_failed_is_an_error_after_the_text_before_it() {
    let error = json!({"code": "rate_limit_exceeded", "message": "Rate limit reached"});
    let failed =
        json!({"type": "response.failed", "response": {"status": "failed", "error": error}});

    let (events, result) = decode(&[said(0, "hi"), failed]);

    assert_eq!(events, [ModelEvent::Text("hi".to_owned())]);
    let Err(WireError::Refused(detail)) = result else { panic!("{result:?}") };
    assert_eq!(detail.shown, "Rate limit reached");
    assert!(detail.text().contains("rate_limit_exceeded"));
}

#[test]
fn a_response_that_failed_without_a_reason_is_an_error_all_the_same() {
    for response in
        [json!({"status": "failed", "error": null}), Value::Null, json!({"status": "failed"})]
    {
        let (_, result) = decode(&[json!({"type": "response.failed", "response": response})]);

        assert!(matches!(result, Err(WireError::Refused(_))), "{response}: {result:?}");
    }
}

#[test]
fn an_error_event_is_an_error_in_both_its_shapes() {
    for error in [
        json!({"type": "error", "code": "server_error", "message": "lost it", "param": null}),
        json!({"type": "error", "error": {"type": "server_error", "message": "lost it"}}),
        json!({"error": {"code": 502, "message": "lost it"}}),
    ] {
        let (_, result) = decode(&[said(0, "hi"), error]);

        let Err(WireError::Refused(detail)) = result else { panic!("{result:?}") };
        assert_eq!(detail.shown, "lost it");
    }
}

#[test]
fn an_answer_that_was_filtered_is_a_refusal() {
    let details = json!({"reason": "content_filter"});
    let response = json!({"status": "incomplete", "incomplete_details": details});

    let message =
        message(&[said(0, "so"), json!({"type": "response.incomplete", "response": response})]);

    assert_eq!(message.stop, Some(StopReason::Refusal));
}

#[test]
fn another_reason_to_stop_is_carried() {
    let details = json!({"reason": "brand_new"});
    let response = json!({"status": "incomplete", "incomplete_details": details});

    let message =
        message(&[said(0, "so"), json!({"type": "response.incomplete", "response": response})]);

    assert_eq!(message.stop, Some(StopReason::Other("brand_new".to_owned())));
}

#[test]
fn unknown_events_items_and_types_are_no_errors() {
    let message = message(&[
        json!({"type": "response.brand_new.delta", "output_index": "x", "delta": {"a": []}}),
        json!({"type": 7}),
        json!(["keepalive"]),
        json!("keepalive"),
        json!({"type": "keepalive", "sequence_number": 3}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": null}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "hologram"}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": [1]}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": ["no text"]}),
        said(1, "a"),
        json!({"type": "response.completed", "response": {"status": "completed", "usage": 3,
            "output": {}, "incomplete_details": "none", "service_tier": "standard"}}),
    ]);

    assert_eq!(message.parts, [Part::Text("a".to_owned())]);
    assert_eq!(message.stop, Some(StopReason::EndTurn));
}

#[test]
fn texts_of_two_items_do_not_run_into_each_other() {
    let message = message(&[said(0, "let me "), said(0, "look"), said(1, "it is 4"), completed()]);

    assert_eq!(message.text(), "let me look\n\nit is 4");
}

#[test]
fn what_only_the_last_event_tells_is_taken_from_there() {
    let output = json!([
        {"type": "reasoning", "id": "rs_1", "encrypted_content": "x", "summary": []},
        {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "ja"}]},
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "ping", "arguments": "{}"},
    ]);
    let response = json!({"status": "completed", "output": output});

    let message = message(&[json!({"type": "response.completed", "response": response})]);

    assert_eq!(message.text(), "ja");
    assert_eq!(calls(&message), [("a", "ping", "{}")]);
}

#[test]
fn what_was_only_announced_is_told_by_the_last_event() {
    let added = |index: u64, item: Value| json!({"type": "response.output_item.added", "output_index": index, "item": item});
    let output = json!([
        {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "ja"}]},
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "ping", "arguments": "{}"},
        {"type": "message", "id": "msg_2", "content": [{"type": "output_text", "text": "said"}]},
    ]);

    let message = message(&[
        added(0, json!({"type": "message", "id": "msg_1", "content": []})),
        added(1, json!({"type": "function_call", "call_id": "a", "name": "ping"})),
        said(2, "said"),
        json!({"type": "response.completed", "response": {"status": "completed", "output": output}}),
    ]);

    assert_eq!(message.text(), "said\n\nja");
    assert_eq!(calls(&message), [("a", "ping", "{}")]);
}

#[test]
fn arguments_may_come_at_the_end_only_or_as_an_object() {
    let added = |arguments: Value| {
        json!({"type": "response.output_item.added", "output_index": 0, "item":
            {"type": "function_call", "call_id": "a", "name": "ping", "arguments": arguments}})
    };
    let at_end = json!({"type": "response.function_call_arguments.done", "output_index": 0,
        "arguments": "{\"n\":1}"});
    let item = |arguments: Value| {
        done(
            0,
            &json!({"type": "function_call", "call_id": "a", "name": "ping", "arguments": arguments}),
        )
    };

    for events in [
        [added(json!("")), at_end.clone(), item(json!("{\"n\":1}")), completed()],
        [added(Value::Null), json!({"type": "x"}), item(json!({"n": 1})), completed()],
        [added(json!({})), at_end, json!({"type": "x"}), completed()],
    ] {
        assert_eq!(calls(&message(&events)), [("a", "ping", "{\"n\":1}")]);
    }
}

#[test]
fn a_call_without_an_id_gets_one_of_its_item() {
    let item = json!({"type": "function_call", "id": "fc_7", "name": "ping", "arguments": "{}"});

    let message = message(&[done(0, &item), completed()]);

    assert_eq!(calls(&message), [("fc_7", "ping", "{}")]);
}

#[test]
fn items_that_share_an_index_stay_apart() {
    let call = |id: &str| {
        [
            json!({"type": "response.output_item.added", "output_index": 0, "item":
                {"type": "function_call", "call_id": id, "name": "ping", "arguments": ""}}),
            json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"}),
        ]
    };
    let mut events = vec![said(0, "both")];
    events.extend(call("a"));
    events.extend(call("b"));
    events.push(completed());

    let message = message(&events);

    assert_eq!(message.text(), "both");
    assert_eq!(calls(&message), [("a", "ping", "{}"), ("b", "ping", "{}")]);
}

#[test]
fn reasoning_without_its_content_is_only_read() {
    let item = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": null,
        "summary": [{"type": "summary_text", "text": "hm"}]});

    let message = message(&[done(0, &item), said(1, "ja"), completed()]);

    let Part::Reasoning(thought) = &message.parts[0] else { panic!("{:?}", message.parts) };
    assert_eq!((thought.text.as_str(), &thought.opaque), ("hm", &None));
    assert_eq!(message.parts.len(), 2);
}

#[test]
fn a_whole_answer_is_the_same_as_a_streamed_one() {
    let body = json!({"id": "resp_1", "object": "response", "status": "completed", "error": null,
        "output": [
            {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "ja"}]},
            {"type": "function_call", "call_id": "a", "name": "ping", "arguments": "{\"n\":1}"}
        ], "usage": {"input_tokens": 3, "output_tokens": 2}});

    let message = assembled(testing::decode_whole::<ResponseReader>(&body.to_string()));

    assert_eq!(message.text(), "ja");
    assert_eq!(calls(&message), [("a", "ping", "{\"n\":1}")]);
    assert_eq!(message.stop, Some(StopReason::ToolCalls));
    assert_eq!(message.usage, Some(Usage::new(3, 2)));
}

#[test]
fn a_whole_error_is_an_error() {
    let whole = |body: &str| testing::decode_whole::<ResponseReader>(body).1.unwrap_err();

    assert!(matches!(whole(r#"{"error":{"message":"no"}}"#), WireError::Refused(_)));
    let failed = r#"{"object":"response","status":"failed","error":{"message":"no"}}"#;
    assert!(matches!(whole(failed), WireError::Refused(_)));
    assert!(matches!(whole(r#"{"detail":"no"}"#), WireError::Refused(_)));
    assert!(matches!(whole(r#"{"hello":"world"}"#), WireError::Malformed(_)));
    assert!(matches!(whole(r#"{"hello":"#), WireError::Malformed(_)));
}

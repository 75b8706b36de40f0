use hermes_core::{
    message::{Message, Usage},
    provider::ModelEvent,
};
use serde_json::json;

use super::*;
use crate::wire::testing::{self, Outcome, assembled};

/// Decodes the data of events, in order, to the end of the stream.
fn decode(data: &[&str]) -> Outcome {
    testing::decode::<ChatReader>(data)
}

fn chunk(delta: &Value, stop: Option<&str>) -> String {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": stop}]}).to_string()
}

#[track_caller]
fn message(chunks: &[String]) -> Message {
    assembled(testing::decode::<ChatReader>(chunks))
}

#[test]
fn text_and_stop_make_a_message() {
    let message = message(&[
        chunk(&json!({"role": "assistant", "content": ""}), None),
        chunk(&json!({"content": "hel"}), None),
        chunk(&json!({"content": "lo"}), None),
        chunk(&json!({}), Some("stop")),
        "[DONE]".to_owned(),
    ]);

    assert_eq!(message.text(), "hello");
    assert_eq!(message.stop, Some(StopReason::EndTurn));
}

#[test]
fn done_may_be_missing_once_the_model_has_stopped() {
    let message = message(&[chunk(&json!({"content": "a"}), Some("length"))]);

    assert_eq!(message.stop, Some(StopReason::Length));
}

#[test]
fn the_stop_may_be_missing_before_done() {
    let call =
        json!({"tool_calls": [{"index": 0, "id": 7, "function": {"name": "x", "arguments": ""}}]});

    let message = message(&[chunk(&call, None), "[DONE]".to_owned()]);

    assert_eq!(message.stop, Some(StopReason::ToolCalls));
    assert_eq!(message.calls().next().unwrap().id.as_str(), "7");
}

#[test]
fn a_stream_that_ends_early_is_cut() {
    let (events, result) = decode(&[&chunk(&json!({"content": "half"}), None)]);

    assert_eq!(events, [ModelEvent::Text("half".to_owned())]);
    assert!(matches!(result, Err(WireError::Cut(_))));
    assert!(matches!(decode(&[]).1, Err(WireError::Cut(_))));
    assert!(matches!(decode(&["[DONE]"]).1, Err(WireError::Cut(_))));
}

#[test]
fn usage_may_come_in_a_chunk_of_its_own() {
    let usage = json!({"choices": [], "usage": {
        "prompt_tokens": 100, "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 60, "audio_tokens": null},
        "completion_tokens_details": {"reasoning_tokens": 4}
    }});

    let message = message(&[chunk(&json!({"content": "a"}), Some("stop")), usage.to_string()]);

    let mut expected = Usage::new(100, 10);
    expected.cache_read = 60;
    expected.reasoning = 4;
    assert_eq!(message.usage, Some(expected));
}

#[test]
fn usage_may_come_under_two_names_at_once() {
    let usage = json!({"choices": [], "usage": {
        "prompt_tokens": 100, "completion_tokens": 10, "input_tokens": 0, "output_tokens": 0,
        "input_tokens_details": null, "prompt_tokens_details": {"cached_tokens": 60}
    }});

    let message = message(&[chunk(&json!({"content": "a"}), Some("stop")), usage.to_string()]);

    let mut expected = Usage::new(100, 10);
    expected.cache_read = 60;
    assert_eq!(message.usage, Some(expected));
}

#[test]
fn an_error_in_the_stream_comes_after_the_text_before_it() {
    let error = json!({"error": {"message": "upstream overloaded", "code": 529}}).to_string();

    let (events, result) = decode(&[&chunk(&json!({"content": "hi"}), None), &error, "[DONE]"]);

    assert_eq!(events, [ModelEvent::Text("hi".to_owned())]);
    let Err(WireError::Refused(detail)) = result else { panic!("{result:?}") };
    assert_eq!((detail.shown.as_str(), detail.status), ("upstream overloaded", Some(529)));
}

#[test]
fn an_error_may_stand_in_the_choice() {
    let error = json!({"choices": [{
        "delta": {"content": ""}, "finish_reason": "error",
        "error": {"code": 502, "message": "lost the upstream"}
    }]});

    let (_, result) = decode(&[&error.to_string()]);

    let Err(WireError::Refused(detail)) = result else { panic!("{result:?}") };
    assert_eq!(detail.shown, "lost the upstream");
}

#[test]
fn a_filter_that_calls_itself_an_error_is_a_refusal() {
    for (reason, stop) in [
        ("ERROR_TOXIC", StopReason::Refusal),
        ("error_safety", StopReason::Refusal),
        ("ERROR_LIMIT", StopReason::Length),
    ] {
        let message = message(&[chunk(&json!({"content": "half"}), Some(reason))]);

        assert_eq!(message.stop, Some(stop), "{reason}");
    }
}

#[test]
fn broken_json_is_malformed() {
    let (_, result) = decode(&["{\"choices\":[{"]);

    assert!(matches!(result, Err(WireError::Malformed(_))), "{result:?}");
}

#[test]
fn unknown_fields_and_types_are_no_errors() {
    let odd = json!({
        "choices": [
            {"index": 0, "delta": {"content": "a", "audio": {"x": []}, "tool_calls": null}, "logprobs": 1},
            {"index": 1, "delta": {"content": "another choice"}},
            null
        ],
        "service_tier": "standard", "usage": null, "error": null
    });

    let message = message(&[odd.to_string(), chunk(&json!(null), Some("brand_new_reason"))]);

    assert_eq!(message.text(), "a");
    assert_eq!(message.stop, Some(StopReason::Other("brand_new_reason".to_owned())));
}

#[test]
fn arguments_may_be_an_object() {
    let with = |arguments: Value| json!({"tool_calls": [{"index": 0, "id": "o1", "function": {"name": "ping", "arguments": arguments}}]});

    let whole = message(&[chunk(&with(json!({"n": 1})), Some("stop"))]);
    let empty = message(&[
        chunk(&with(json!({})), None),
        chunk(&json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"n\":"}}]}), None),
        chunk(
            &json!({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}),
            Some("tool_calls"),
        ),
    ]);

    assert_eq!(whole.calls().next().unwrap().arguments.parse(), Ok(&json!({"n": 1})));
    assert_eq!(empty.calls().next().unwrap().arguments.parse(), Ok(&json!({"n": 1})));
}

#[test]
fn reasoning_is_told_from_text() {
    let message = message(&[
        chunk(&json!({"reasoning_content": "let me "}), None),
        chunk(&json!({"reasoning": "see"}), None),
        chunk(
            &json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "…"}]}, {"type": "text", "text": "42"}]}),
            Some("stop"),
        ),
    ]);

    assert_eq!(message.text(), "42");
    let reasoning = hermes_core::message::Part::Reasoning(Reasoning::new("let me see…"));
    assert_eq!(message.parts[0], reasoning);
}

#[test]
fn opaque_reasoning_is_joined_and_carried() {
    let message = message(&[
        chunk(
            &json!({"reasoning": "ab", "reasoning_details": [{"type": "reasoning.text", "text": "a", "index": 0}]}),
            None,
        ),
        chunk(
            &json!({"reasoning_details": [{"type": "reasoning.text", "text": "b", "signature": "s", "index": 0}]}),
            None,
        ),
        chunk(
            &json!({"tool_calls": [{"index": 0, "id": "x", "function": {"name": "y", "arguments": "{}"}, "extra_content": {"google": {"thought_signature": "t"}}}]}),
            Some("tool_calls"),
        ),
    ]);

    let expected = Reasoning::new("ab").with_opaque(
        "test",
        json!({
            "reasoning_details": [{"type": "reasoning.text", "text": "ab", "signature": "s", "index": 0}],
            "extra_content": {"0": {"google": {"thought_signature": "t"}}}
        }),
    );
    assert_eq!(message.parts[0], hermes_core::message::Part::Reasoning(expected));
}

#[test]
fn a_refusal_is_a_refusal_whatever_the_stop() {
    let message =
        message(&[chunk(&json!({"refusal": "I won't"}), None), chunk(&json!({}), Some("stop"))]);

    assert_eq!(message.text(), "I won't");
    assert_eq!(message.stop, Some(StopReason::Refusal));
}

#[test]
fn a_whole_answer_is_the_same_as_a_streamed_one() {
    let body = json!({"id": "x", "choices": [{"message": {
        "role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "p", "arguments": "{}"}},
            {"id": "b", "type": "function", "function": {"name": "q", "arguments": {"n": 1}}}
        ]}, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 3, "completion_tokens": 2}});

    let message = assembled(testing::decode_whole::<ChatReader>(&body.to_string()));

    let calls: Vec<_> = message.calls().map(|it| (it.id.as_str(), &*it.name)).collect();
    assert_eq!(calls, [("a", "p"), ("b", "q")]);
    assert_eq!(message.usage, Some(Usage::new(3, 2)));
}

#[test]
fn a_whole_error_is_an_error() {
    let whole = |body: &str| testing::decode_whole::<ChatReader>(body).1.unwrap_err();

    assert!(matches!(whole(r#"{"error":{"message":"no"}}"#), WireError::Refused(_)));
    assert!(matches!(whole(r#"{"detail":"no"}"#), WireError::Refused(_)));
    assert!(matches!(whole(r#"{"hello":"world"}"#), WireError::Malformed(_)));
    assert!(matches!(whole(r#"{"hello":"#), WireError::Malformed(_)));
}

#[test]
fn events_without_an_empty_line_between_them_are_taken_apart() {
    let glued = format!(
        "{}\n{}\n[DONE]",
        chunk(&json!({"content": "a"}), None),
        chunk(&json!({"content": "b"}), Some("stop"))
    );

    let message = message(&[glued]);

    assert_eq!(message.text(), "ab");
}

#[test]
fn a_call_in_both_forms_is_one_call() {
    let piece = |arguments: &str| {
        let function = json!({"name": "memory", "arguments": arguments});
        let call = json!({"index": 0, "id": "c", "type": "function", "function": function});
        chunk(&json!({"content": null, "function_call": function, "tool_calls": [call]}), None)
    };
    let stop = chunk(&json!({"function_call": null, "tool_calls": null}), Some("tool_calls"));

    let message = message(&[piece("{\""), piece("a"), piece("\":1"), piece("}"), piece(""), stop]);

    let calls: Vec<_> = message.calls().map(|it| (&*it.name, it.arguments.as_str())).collect();
    assert_eq!(calls, [("memory", "{\"a\":1}")]);
}

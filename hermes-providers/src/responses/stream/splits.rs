//! Streams written after the documents that each names, cut at every byte: the events must not change.

use hermes_core::message::{Message, Part, StopReason};

use super::ResponseReader;
use crate::wire::testing::{calls, check_stream};

#[track_caller]
fn check(stream: &str) -> Message {
    check_stream::<ResponseReader>(stream)
}

/// After OpenAI's guide "Streaming API responses" and the reference "Streaming events": a text, with
/// all the events around it, `obfuscation` and `logprobs` included.
#[test]
fn openai_text_with_usage() {
    let message = check(concat!(
        "event: response.created\n",
        r#"data: {"type":"response.created","response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","error":null,"incomplete_details":null,"model":"gpt-4.1","output":[],"store":false,"usage":null},"sequence_number":0}"#,
        "\n\nevent: response.in_progress\n",
        r#"data: {"type":"response.in_progress","response":{"id":"resp_1","object":"response","status":"in_progress","output":[]},"sequence_number":1}"#,
        "\n\nevent: response.output_item.added\n",
        r#"data: {"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]},"sequence_number":2}"#,
        "\n\nevent: response.content_part.added\n",
        r#"data: {"type":"response.content_part.added","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]},"sequence_number":3}"#,
        "\n\nevent: response.output_text.delta\n",
        r#"data: {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"Grüße aus ","logprobs":[],"obfuscation":"x8Q","sequence_number":4}"#,
        "\n\nevent: response.output_text.delta\n",
        r#"data: {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"東京 🚀","sequence_number":5}"#,
        "\n\nevent: response.output_text.done\n",
        r#"data: {"type":"response.output_text.done","item_id":"msg_1","output_index":0,"content_index":0,"text":"Grüße aus 東京 🚀","sequence_number":6}"#,
        "\n\nevent: response.content_part.done\n",
        r#"data: {"type":"response.content_part.done","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Grüße aus 東京 🚀","annotations":[]},"sequence_number":7}"#,
        "\n\nevent: response.output_item.done\n",
        r#"data: {"type":"response.output_item.done","output_index":0,"item":{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Grüße aus 東京 🚀","annotations":[]}]},"sequence_number":8}"#,
        "\n\nevent: response.completed\n",
        r#"data: {"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"output":[{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"Grüße aus 東京 🚀","annotations":[]}]}],"usage":{"input_tokens":37,"input_tokens_details":{"cached_tokens":32},"output_tokens":11,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":48}},"sequence_number":9}"#,
        "\n\n",
    ));

    assert_eq!(message.parts, [Part::Text("Grüße aus 東京 🚀".to_owned())]);
    assert_eq!(message.stop, Some(StopReason::EndTurn));
    let usage = message.usage.unwrap();
    assert_eq!((usage.input, usage.output, usage.cache_read), (37, 11, 32));
}

/// After OpenAI's guide "Function calling", section "Streaming": two calls, arguments in fragments.
#[test]
fn openai_calls_in_fragments() {
    let message = check(concat!(
        r#"data: {"type":"response.created","response":{"id":"resp_2","status":"in_progress"}}"#,
        "\n\n",
        r#"data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_weather","arguments":""}}"#,
        "\n\n",
        r#"data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"location\":\"Bog"}"#,
        "\n\n",
        r#"data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"otá\"}"}"#,
        "\n\n",
        r#"data: {"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":"{\"location\":\"Bogotá\"}"}"#,
        "\n\n",
        r#"data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_weather","arguments":"{\"location\":\"Bogotá\"}","status":"completed"}}"#,
        "\n\n",
        r#"data: {"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_2","call_id":"call_2","name":"now","arguments":""}}"#,
        "\n\n",
        r#"data: {"type":"response.function_call_arguments.delta","item_id":"fc_2","output_index":1,"delta":"{}"}"#,
        "\n\n",
        r#"data: {"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"fc_2","call_id":"call_2","name":"now","arguments":"{}","status":"completed"}}"#,
        "\n\n",
        r#"data: {"type":"response.completed","response":{"id":"resp_2","status":"completed","output":[],"usage":{"input_tokens":5,"output_tokens":7}}}"#,
        "\n\n",
    ));

    assert_eq!(
        calls(&message),
        [("call_1", "get_weather", "{\"location\":\"Bogotá\"}"), ("call_2", "now", "{}")]
    );
    assert_eq!(message.stop, Some(StopReason::ToolCalls));
}

/// After OpenAI's reference "Streaming events", `response.reasoning_summary_*`, and the cookbook
/// "Better performance from reasoning models", "Encrypted reasoning items".
#[test]
fn openai_encrypted_reasoning_with_summaries() {
    let message = check(concat!(
        r#"data: {"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAAAAtoo_early","summary":[]}}"#,
        "\n\n",
        r#"data: {"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}"#,
        "\n\n",
        r#"data: {"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"**Größe**"}"#,
        "\n\n",
        r#"data: {"type":"response.reasoning_summary_text.done","item_id":"rs_1","output_index":0,"summary_index":0,"text":"**Größe**"}"#,
        "\n\n",
        r#"data: {"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":""}}"#,
        "\n\n",
        r#"data: {"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"then 速度"}"#,
        "\n\n",
        r#"data: {"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAAAA_é","summary":[{"type":"summary_text","text":"**Größe**"},{"type":"summary_text","text":"then 速度"}]}}"#,
        "\n\n",
        r#"data: {"type":"response.output_text.delta","output_index":1,"delta":"42"}"#,
        "\n\n",
        r#"data: {"type":"response.output_item.done","output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"42"}]}}"#,
        "\n\n",
        r#"data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":9,"output_tokens":80,"output_tokens_details":{"reasoning_tokens":64}}}}"#,
        "\n\n",
    ));

    let Part::Reasoning(thought) = &message.parts[0] else { panic!("{:?}", message.parts) };
    assert_eq!(thought.text, "**Größe**\n\nthen 速度");
    let opaque = thought.opaque.as_ref().unwrap().value.to_string();
    assert!(opaque.contains("gAAAA_é") && !opaque.contains("too_early"), "{opaque}");
    assert_eq!(message.text(), "42");
    assert_eq!(message.usage.unwrap().reasoning, 64);
}

/// After OpenAI's reference "Streaming events", `response.refusal.*`.
#[test]
fn openai_refusal() {
    let message = check(concat!(
        r#"data: {"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}"#,
        "\n\n",
        r#"data: {"type":"response.content_part.added","output_index":0,"content_index":0,"part":{"type":"refusal","refusal":""}}"#,
        "\n\n",
        r#"data: {"type":"response.refusal.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"Désolé, "}"#,
        "\n\n",
        r#"data: {"type":"response.refusal.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"non."}"#,
        "\n\n",
        r#"data: {"type":"response.refusal.done","item_id":"msg_1","output_index":0,"content_index":0,"refusal":"Désolé, non."}"#,
        "\n\n",
        r#"data: {"type":"response.output_item.done","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"refusal","refusal":"Désolé, non."}]}}"#,
        "\n\n",
        r#"data: {"type":"response.completed","response":{"status":"completed"}}"#,
        "\n\n",
    ));

    assert_eq!(message.text(), "Désolé, non.");
    assert_eq!(message.stop, Some(StopReason::Refusal));
}

/// After OpenAI's guide "Reasoning models", "Handling incomplete responses".
#[test]
fn openai_cut_by_length() {
    let message = check(concat!(
        r#"data: {"type":"response.output_text.delta","output_index":0,"delta":"Ω is"}"#,
        "\n\n",
        r#"data: {"type":"response.incomplete","response":{"status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"},"output":[],"usage":{"input_tokens":8,"output_tokens":16}}}"#,
        "\n\n",
    ));

    assert_eq!(message.text(), "Ω is");
    assert_eq!(message.stop, Some(StopReason::Length));
    assert_eq!(message.usage.unwrap().total(), 24);
}

/// After OpenAI's reference "Streaming events", `response.web_search_call.*` and
/// `response.output_text.annotation.added`: items and events of other tools pass by.
#[test]
fn openai_search_with_annotations() {
    let message = check(concat!(
        r#"data: {"type":"response.output_item.added","output_index":0,"item":{"id":"ws_1","type":"web_search_call","status":"in_progress"}}"#,
        "\n\n",
        r#"data: {"type":"response.web_search_call.searching","item_id":"ws_1","output_index":0,"sequence_number":1}"#,
        "\n\n",
        r#"data: {"type":"response.output_item.done","output_index":0,"item":{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"ñandú"}}}"#,
        "\n\n",
        r#"data: {"type":"response.output_text.delta","output_index":1,"delta":"Un ñandú."}"#,
        "\n\n",
        r#"data: {"type":"response.output_text.annotation.added","output_index":1,"content_index":0,"annotation_index":0,"annotation":{"type":"url_citation","url":"https://h/"}}"#,
        "\n\n",
        r#"data: {"type":"response.completed","response":{"status":"completed"}}"#,
        "\n\n",
    ));

    assert_eq!(message.parts, [Part::Text("Un ñandú.".to_owned())]);
}

/// After vLLM's "OpenAI-compatible server", Responses API, with gpt-oss: reasoning as plain text, an
/// item in which nothing is encrypted, CRLF.
#[test]
fn vllm_reasoning_as_text() {
    let message = check(concat!(
        r#"data: {"type":"response.output_item.added","output_index":0,"item":{"id":"rs_9","type":"reasoning","summary":[],"content":null,"encrypted_content":null,"status":"in_progress"}}"#,
        "\r\n\r\n",
        r#"data: {"type":"response.reasoning_text.delta","item_id":"rs_9","output_index":0,"content_index":0,"delta":"Voilà"}"#,
        "\r\n\r\n",
        r#"data: {"type":"response.output_item.done","output_index":0,"item":{"id":"rs_9","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Voilà"}],"encrypted_content":null,"status":"completed"}}"#,
        "\r\n\r\n",
        r#"data: {"type":"response.output_text.delta","output_index":1,"delta":"déjà vu"}"#,
        "\r\n\r\n",
        r#"data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":1,"output_tokens":2}}}"#,
        "\r\n\r\ndata: [DONE]\r\n\r\n",
    ));

    let Part::Reasoning(thought) = &message.parts[0] else { panic!("{:?}", message.parts) };
    assert_eq!(thought.text, "Voilà");
    assert!(thought.opaque.is_some());
    assert_eq!(message.text(), "déjà vu");
}

/// After OpenRouter's "Responses API", "Streaming": comments that keep the connection, and an item
/// that is only told when it is done.
#[test]
fn openrouter_comments_and_items_told_late() {
    let message = check(concat!(
        ": OPENROUTER PROCESSING\n\n",
        r#"data: {"type":"response.created","response":{"id":"resp_3","status":"in_progress"}}"#,
        "\n\n: OPENROUTER PROCESSING\n\n",
        r#"data: {"type":"response.output_item.done","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"čas "},{"type":"output_text","text":"běží"}]}}"#,
        "\n\n",
        r#"data: {"type":"response.output_item.done","output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"call_9","name":"clock","arguments":"{\"tz\":\"Europe/Prague\"}"}}"#,
        "\n\n",
        r#"data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":1,"output_tokens":2}}}"#,
        "\n\ndata: [DONE]\n\n",
    ));

    assert_eq!(message.text(), "čas běží");
    assert_eq!(calls(&message), [("call_9", "clock", "{\"tz\":\"Europe/Prague\"}")]);
}

/// After OpenAI's guide "Reasoning models", "Keeping reasoning items in context": thoughts between
/// calls, and words for the user in between.
#[test]
fn openai_thoughts_between_calls() {
    let message = check(concat!(
        r#"data: {"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"one","summary":[]}}"#,
        "\n\n",
        r#"data: {"type":"response.output_item.done","output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"a","name":"ping","arguments":"{}"}}"#,
        "\n\n",
        r#"data: {"type":"response.output_item.done","output_index":2,"item":{"id":"rs_2","type":"reasoning","encrypted_content":"two","summary":[]}}"#,
        "\n\n",
        r#"data: {"type":"response.output_item.done","output_index":3,"item":{"id":"msg_1","type":"message","phase":"commentary","role":"assistant","content":[{"type":"output_text","text":"ещё раз"}]}}"#,
        "\n\n",
        r#"data: {"type":"response.output_item.done","output_index":4,"item":{"id":"fc_2","type":"function_call","call_id":"b","name":"ping","arguments":"{}"}}"#,
        "\n\n",
        r#"data: {"type":"response.completed","response":{"status":"completed"}}"#,
        "\n\n",
    ));

    assert_eq!(message.text(), "ещё раз");
    assert_eq!(calls(&message), [("a", "ping", "{}"), ("b", "ping", "{}")]);
}

//! The Anthropic side of the area `provider-wire`.

use std::collections::HashSet;

use hermes_core::{
    message::{CallId, CallResult, CallStatus, Message, Part, Role},
    provider::Request,
};
use hermes_providers::{Anthropic, openai};
use serde_json::{Value, json};

use crate::{check::Checks, read::Node};

fn provider() -> Anthropic {
    Anthropic::builder("http://127.0.0.1:1").build().unwrap()
}

/// Builds a request from messages in the shape of chat completions.
pub(crate) fn build_request(
    input: &Node<'_>,
    expect: &Node<'_>,
    checks: &mut Checks,
) -> Result<(), String> {
    let values: Vec<Value> =
        input.get("messages")?.items().iter().map(|it| it.whole().clone()).collect();
    let imported = openai::import(&values);
    let before = serde_json::to_string(&imported.messages).unwrap();
    let request = Request::new("scripted", imported.messages).with_system(imported.system);
    let body: Value = serde_json::from_slice(&provider().build_body(&request)).unwrap();
    if let Some(wire) = expect.opt("wire") {
        check_wire(&body, &wire, checks);
    }
    if let Some(unchanged) = expect.opt("input_messages_unchanged") {
        let holds = serde_json::to_string(&*request.messages).unwrap() == before;
        checks.that(holds == unchanged.bool(), "the messages given have changed");
    }
    Ok(())
}

/// Reads one assistant turn in, answers its calls, and sends it again.
pub(crate) fn replay(
    input: &Node<'_>,
    expect: &Node<'_>,
    checks: &mut Checks,
) -> Result<(), String> {
    let blocks: Vec<Value> =
        input.get("assistant_blocks")?.items().iter().map(|it| it.whole().clone()).collect();
    let provider = provider();
    let mut messages = vec![Message::user("go"), provider.import_turn(&blocks)];
    let results = input.opt("tool_results").map(|it| it.entries()).unwrap_or_default();
    let results: Vec<CallResult> = results
        .into_iter()
        .map(|(id, text)| CallResult::new(CallId::from(id), CallStatus::Done, text.str()))
        .collect();
    if results.is_empty() {
        messages.push(Message::user("go on"));
    } else {
        messages.push(Message::results(results));
    }
    let request = Request::new("scripted", messages);
    let body: Value = serde_json::from_slice(&provider.build_body(&request)).unwrap();
    let last = messages_of(&body).into_iter().rfind(|it| role(it) == "assistant");
    let sent = last.map(|it| blocks_of(&it)).unwrap_or_default();
    for place in [Some(expect.clone()), expect.opt("wire")].into_iter().flatten() {
        if let Some(equal) = place.opt("last_assistant_blocks_equal_input") {
            let holds = without_markers(&sent) == without_markers(&blocks);
            checks.that(holds == equal.bool(), format!("sent {sent:?}"));
        }
    }
    if let Some(wire) = expect.opt("wire") {
        check_wire(&body, &wire, checks);
    }
    Ok(())
}

/// Sends an assistant turn whose thinking was shortened after it had been signed, as a compressor may
/// do.
pub(crate) fn replay_after_compress(
    input: &Node<'_>,
    expect: &Node<'_>,
    checks: &mut Checks,
) -> Result<(), String> {
    let signature = input.get("thinking_signature")?.str();
    let thinking = json!({"type": "thinking", "thinking": "long thought", "signature": signature});
    let provider = provider();
    let turn = provider.import_turn(&[thinking, json!({"type": "text", "text": "a long answer"})]);
    let shortened = turn.parts.iter().cloned().map(|part| match part {
        Part::Reasoning(mut reasoning) => {
            reasoning.text.truncate("long".len());
            Part::Reasoning(reasoning)
        }
        Part::Text(_) => Part::Text("an answer".to_owned()),
        other => other,
    });
    let turn = Message::new(Role::Assistant, shortened.collect());
    let request = Request::new("scripted", vec![Message::user("go"), turn, Message::user("go on")]);
    let body: Value = serde_json::from_slice(&provider.build_body(&request)).unwrap();
    let wire = expect.get("wire")?;
    if let Some(expected) = wire.opt("no_signature_with_changed_text") {
        let holds = !body.to_string().contains(signature);
        checks.that(holds == expected.bool(), format!("{body}"));
    }
    check_wire(&body, &wire, checks);
    Ok(())
}

/// Returns blocks without the cache markers that a request may put on its latest messages.
fn without_markers(blocks: &[Value]) -> Vec<Value> {
    let mut blocks = blocks.to_vec();
    for block in blocks.iter_mut().filter_map(Value::as_object_mut) {
        block.remove("cache_control");
    }
    blocks
}

fn messages_of(body: &Value) -> Vec<Value> {
    body.get("messages").and_then(Value::as_array).cloned().unwrap_or_default()
}

fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the content blocks of a message; plain text is one text block.
fn blocks_of(message: &Value) -> Vec<Value> {
    match message.get("content") {
        Some(Value::Array(blocks)) => blocks.clone(),
        Some(text) => vec![json!({"type": "text", "text": text})],
        None => Vec::new(),
    }
}

fn kind(block: &Value) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the ids under `key` in the blocks of `wanted`.
fn ids(message: &Value, wanted: &str, key: &str) -> Vec<String> {
    let blocks = blocks_of(message);
    let blocks = blocks.iter().filter(|it| kind(it) == wanted);
    blocks.filter_map(|it| it.get(key)?.as_str().map(str::to_owned)).collect()
}

/// Checks a body of the messages wire.
pub(crate) fn check_wire(body: &Value, expect: &Node<'_>, checks: &mut Checks) {
    let text = body.to_string();
    for part in expect.opt("contains").iter().flat_map(Node::strings) {
        checks.that(text.contains(part), format!("the body lacks {part:?}: {text}"));
    }
    for part in expect.opt("not_contains").iter().flat_map(Node::strings) {
        checks.that(!text.contains(part), format!("the body has {part:?}: {text}"));
    }
    let messages = messages_of(body);
    let blocks: Vec<Value> = messages.iter().flat_map(blocks_of).collect();
    let is_blank = |it: &Value| it.as_str().is_some_and(|it| it.trim().is_empty());
    let has_empty_text =
        blocks.iter().any(|it| kind(it) == "text" && it.get("text").is_none_or(is_blank));
    let has_thinking = blocks.iter().any(|it| kind(it).contains("thinking"));
    let has_blank_name =
        blocks.iter().any(|it| kind(it) == "tool_use" && it.get("name").is_none_or(is_blank));
    let mut check = |key: &str, holds: bool| {
        if let Some(expected) = expect.opt(key) {
            checks.that(holds == expected.bool(), format!("{key}: {text}"));
        }
    };
    check("paired", is_paired(&messages));
    check("tool_result_in_next_message", is_paired(&messages));
    check("tool_results_first_in_message", messages.iter().all(has_results_first));
    check("starts_with_user", messages.first().map(role) == Some("user"));
    check("no_empty_text_blocks", !has_empty_text);
    check("no_empty_text", !has_empty_text);
    check("no_thinking_blocks", !has_thinking);
    check("no_empty_tool_names", !has_blank_name);
    if let Some(expected) = expect.opt("roles") {
        let roles: Vec<&str> = messages.iter().map(role).collect();
        checks.that(roles == expected.strings(), format!("roles are {roles:?}"));
    }
    for (index, types) in expect.opt("message_block_types").iter().flat_map(Node::entries) {
        let message = index.parse::<usize>().ok().and_then(|it| messages.get(it));
        let blocks = message.map(blocks_of).unwrap_or_default();
        let actual: Vec<&str> = blocks.iter().map(kind).collect();
        checks.that(actual == types.strings(), format!("message {index} has {actual:?}"));
    }
}

/// Returns whether every call is answered in the next message, and every result answers a call of the
/// message before.
fn is_paired(messages: &[Value]) -> bool {
    let nothing = Value::Null;
    let before = std::iter::once(&nothing).chain(messages);
    let pairs = before.zip(messages.iter().chain([&nothing]));
    pairs.into_iter().all(|(message, next)| {
        let calls: HashSet<String> = ids(message, "tool_use", "id").into_iter().collect();
        let results = ids(next, "tool_result", "tool_use_id");
        let answered: HashSet<String> = results.iter().cloned().collect();
        calls == answered && results.len() == answered.len()
    })
}

fn has_results_first(message: &Value) -> bool {
    let blocks = blocks_of(message);
    let is_result: Vec<bool> = blocks.iter().map(|it| kind(it) == "tool_result").collect();
    is_result.is_sorted_by(|left, right| left >= right)
}

//! Messages to items.
//!
//! Reasoning goes back in the bytes in which it came, and only with the items that came with it, under
//! their ids and in their order: the endpoint refuses reasoning without the item after it, and an item
//! under its own id without the reasoning before it. Where any of that is not there any more, all of
//! it stays here, and text and calls go out without ids.

use std::borrow::Cow;

use hermes_core::message::{Call, Image, Message, MessageBody, Part, Reasoning, Role};
use serde_json::{Value, json, value::RawValue};

use super::wire::{OutItem, OutPart};
use crate::wire::{
    NOTHING_SAID, body,
    names::short_id,
    object_text,
    order::{self, Ordered, PartKind},
    output_text,
    target::Target,
};

/// The key in the opaque part of reasoning for the item itself.
const ITEM: &str = "item";
/// The key in the record of an order for what the items are called.
const LABELS: &str = "labels";

/// Returns the items of `message` with commas between them, nothing if there are none.
pub(super) fn items(message: &Message, target: Target<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    match message.role {
        Role::Assistant => write_assistant(message, target, &mut out),
        Role::Tool => {
            for result in message.call_results() {
                let call_id = short_id(result.call.as_str());
                let output = output_text(result);
                body::push(&OutItem::FunctionCallOutput { call_id, output }, &mut out);
            }
        }
        _ => write_user(message, &mut out),
    }
    out
}

/// Returns reasoning that can go back: `text` to read, and the whole item.
pub(super) fn reasoning(provider: &str, text: String, item: &RawValue) -> Reasoning {
    Reasoning::new(text).with_opaque(provider, json!({"type": "reasoning", ITEM: item.get()}))
}

/// What an item of an answer was, and what it was called.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) kind: PartKind,
    pub(super) id: Option<String>,
    pub(super) phase: Option<String>,
}

/// Returns a record of the items of an answer.
pub(super) fn record(provider: &str, steps: &[Step]) -> Reasoning {
    let kinds: Vec<PartKind> = steps.iter().map(|step| step.kind).collect();
    let label = |step: &Step| match (&step.id, &step.phase) {
        (None, None) => Value::Null,
        (id, None) => json!({ "id": id }),
        (id, phase) => json!({"id": id, "phase": phase}),
    };
    let labels: Vec<Value> = steps.iter().map(label).collect();
    order::record(provider, &kinds, json!({"type": "order", LABELS: labels}))
}

fn write_assistant(message: &MessageBody, target: Target<'_>, out: &mut Vec<u8>) {
    let recorded = match order::in_order(&message.parts, target) {
        Ordered::Recorded(parts, record) => as_it_came(&parts, record, target),
        Ordered::Unrecorded | Ordered::Changed => None,
    };
    if let Some(items) = recorded {
        out.extend_from_slice(&items);
        return;
    }
    let text = message.text();
    if !text.trim().is_empty() {
        body::push(&said(Cow::Owned(text), &Value::Null), out);
    }
    for call in message.calls() {
        body::push(&called(call, &Value::Null, target), out);
    }
}

/// Returns the items of an answer as they came, or nothing if one of them has no wire form any more.
fn as_it_came(parts: &[&Part], record: &Value, target: Target<'_>) -> Option<Vec<u8>> {
    let labels = record.get(LABELS)?.as_array()?;
    let mut out = Vec::new();
    // Up to where an item follows on all reasoning.
    let mut settled = 0;
    for (part, label) in parts.iter().zip(labels) {
        match part {
            Part::Reasoning(reasoning) => {
                let item = target.opaque(reasoning)?.get(ITEM)?.as_str()?;
                body::push(&serde_json::from_str::<&RawValue>(item).ok()?, &mut out);
                continue;
            }
            Part::Text(text) if text.trim().is_empty() => continue,
            Part::Text(text) => body::push(&said(Cow::Borrowed(text), label), &mut out),
            Part::Call(call) => body::push(&called(call, label, target), &mut out),
            _ => {}
        }
        settled = out.len();
    }
    out.truncate(settled);
    Some(out)
}

fn said<'a>(text: Cow<'a, str>, label: &'a Value) -> OutItem<'a> {
    let id = label.get("id").and_then(Value::as_str);
    OutItem::Message {
        id,
        status: id.map(|_| "completed"),
        phase: label.get("phase").and_then(Value::as_str),
        role: "assistant",
        content: vec![OutPart::OutputText { text, annotations: [] }],
    }
}

fn called<'a>(call: &'a Call, label: &'a Value, target: Target<'a>) -> OutItem<'a> {
    OutItem::FunctionCall {
        id: label.get("id").and_then(Value::as_str),
        call_id: short_id(call.id.as_str()),
        name: target.names.wire(&call.name),
        arguments: object_text(call),
    }
}

fn write_user(message: &MessageBody, out: &mut Vec<u8>) {
    let mut content: Vec<OutPart<'_>> = message.parts.iter().filter_map(out_part).collect();
    if content.is_empty() {
        content.push(OutPart::InputText { text: NOTHING_SAID });
    }
    let item = OutItem::Message { id: None, status: None, phase: None, role: "user", content };
    body::push(&item, out);
}

fn out_part(part: &Part) -> Option<OutPart<'_>> {
    match part {
        Part::Text(text) | Part::Context(text) if text.trim().is_empty() => None,
        Part::Text(text) | Part::Context(text) => Some(OutPart::InputText { text }),
        Part::Image(Image { url, .. }) => {
            Some(OutPart::InputImage { image_url: url, detail: "auto" })
        }
        _ => None,
    }
}

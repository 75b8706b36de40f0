//! Messages to content blocks.

use hermes_core::message::{Call, CallStatus, Image, Message, MessageBody, Part, Role};
use serde_json::value::RawValue;

use super::{
    thinking,
    wire::{OutBlock, OutSource},
};
use crate::wire::{body, names::wire_id, object_text, output_text, target::Target};

/// Returns the blocks of `message` with commas between them, nothing if there are none.
pub(super) fn blocks(message: &Message, target: Target<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    match message.role {
        Role::Assistant => {
            for part in thinking::in_order(&message.parts, target) {
                write_assistant(part, target, &mut out);
            }
        }
        Role::Tool => write_results(message, &mut out),
        _ => write_user(message, &mut out),
    }
    out
}

/// Returns whether the last block of `message` may carry a cache marker, which thinking may not.
pub(super) fn can_be_marked(message: &Message) -> bool {
    !matches!(message.parts.last(), Some(Part::Reasoning(_)))
}

fn write_assistant(part: &Part, target: Target<'_>, out: &mut Vec<u8>) {
    match part {
        Part::Text(text) if !text.trim().is_empty() => body::push(&OutBlock::Text { text }, out),
        Part::Reasoning(reasoning) => {
            if let Some(block) = thinking::block(reasoning, target) {
                body::push(&block, out);
            }
        }
        Part::Call(call) => write_call(call, target, out),
        _ => {}
    }
}

fn write_call(call: &Call, target: Target<'_>, out: &mut Vec<u8>) {
    let text = object_text(call);
    // The text is that of an object, so that it can be taken as it is.
    let Ok(input) = serde_json::from_str::<&RawValue>(&text) else { return };
    let id = wire_id(call.id.as_str());
    body::push(&OutBlock::ToolUse { id, name: target.names.wire(&call.name), input }, out);
}

fn write_results(message: &MessageBody, out: &mut Vec<u8>) {
    for result in message.call_results() {
        let block = OutBlock::ToolResult {
            tool_use_id: wire_id(result.call.as_str()),
            content: output_text(result),
            is_error: result.status != CallStatus::Done,
        };
        body::push(&block, out);
    }
}

fn write_user(message: &MessageBody, out: &mut Vec<u8>) {
    for part in &message.parts {
        match part {
            Part::Text(text) | Part::Context(text) if !text.trim().is_empty() => {
                body::push(&OutBlock::Text { text }, out);
            }
            Part::Image(Image { url, .. }) => {
                body::push(&OutBlock::Image { source: source(url) }, out);
            }
            _ => {}
        }
    }
}

fn source(url: &str) -> OutSource<'_> {
    let inline = url.strip_prefix("data:").and_then(|it| it.split_once(";base64,"));
    match inline {
        Some((media_type, data)) => OutSource::Base64 { media_type, data },
        None => OutSource::Url { url },
    }
}

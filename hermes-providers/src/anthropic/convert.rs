//! Messages to content blocks.

use std::borrow::Cow;

use hermes_core::message::{Call, CallResult, CallStatus, Image, Message, MessageBody, Part, Role};
use serde_json::value::RawValue;

use super::{
    thinking,
    wire::{OutBlock, OutSource},
};
use crate::wire::{NO_OUTPUT, names::wire_name, object_text};

/// Returns the blocks of `message` with commas between them, nothing if there are none.
pub(super) fn blocks(message: &Message, provider: &str) -> Vec<u8> {
    let mut out = Vec::new();
    match message.role {
        Role::Assistant => {
            for part in thinking::in_order(&message.parts, provider) {
                write_assistant(part, provider, &mut out);
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

fn write_assistant(part: &Part, provider: &str, out: &mut Vec<u8>) {
    match part {
        Part::Text(text) if !text.trim().is_empty() => write(&OutBlock::Text { text }, out),
        Part::Reasoning(reasoning) => {
            if let Some(block) = thinking::block(reasoning, provider) {
                write(&block, out);
            }
        }
        Part::Call(call) => write_call(call, out),
        _ => {}
    }
}

fn write_call(call: &Call, out: &mut Vec<u8>) {
    let text = object_text(call);
    // The text is that of an object, so that it can be taken as it is.
    let Ok(input) = serde_json::from_str::<&RawValue>(&text) else { return };
    let id = wire_id(call.id.as_str());
    write(&OutBlock::ToolUse { id, name: wire_name(&call.name), input }, out);
}

fn write_results(message: &MessageBody, out: &mut Vec<u8>) {
    for CallResult { call, content, status, .. } in message.call_results() {
        let is_blank = content.trim().is_empty();
        write(
            &OutBlock::ToolResult {
                tool_use_id: wire_id(call.as_str()),
                content: if is_blank { NO_OUTPUT } else { content },
                is_error: *status != CallStatus::Done,
            },
            out,
        );
    }
}

fn write_user(message: &MessageBody, out: &mut Vec<u8>) {
    for part in &message.parts {
        match part {
            Part::Text(text) | Part::Context(text) if !text.trim().is_empty() => {
                write(&OutBlock::Text { text }, out);
            }
            Part::Image(Image { url, .. }) => write(&OutBlock::Image { source: source(url) }, out),
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

/// Returns an id with only letters, digits, `_` and `-`. It depends on the id alone, so that a call
/// and its result stay together.
fn wire_id(id: &str) -> Cow<'_, str> {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    if id.chars().all(is_plain) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(id.chars().map(|char| if is_plain(char) { char } else { '_' }).collect())
}

fn write(block: &OutBlock<'_>, out: &mut Vec<u8>) {
    if !out.is_empty() {
        out.push(b',');
    }
    // Writing text to memory has no way to fail.
    let _ = serde_json::to_writer(out, block);
}

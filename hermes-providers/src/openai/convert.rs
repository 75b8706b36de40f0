//! Messages to their wire form.

use std::borrow::Cow;

use hermes_core::message::{Call, CallResult, Image, Message, MessageBody, Part, Role};
use serde_json::Value;

use super::{
    Dialect, ReasoningEcho, Silence,
    stream::{DETAILS, EXTRAS},
    wire::{OutCall, OutContent, OutFunction, OutMessage, OutPart, OutUrl},
};
use crate::wire::{NOTHING_SAID, body, object_text, output_text, target::Target};

/// Writes messages for one endpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer<'a> {
    pub(super) dialect: Dialect,
    pub(super) target: Target<'a>,
}

impl Writer<'_> {
    /// Returns the wire form of `message`: one JSON object, or several with commas between them.
    pub(super) fn fragment(self, message: &Message) -> Vec<u8> {
        let mut out = Vec::new();
        match message.role {
            Role::Assistant => self.write_assistant(message, &mut out),
            Role::Tool => message.call_results().for_each(|it| write_result(it, &mut out)),
            _ => write_user(message, &mut out),
        }
        out
    }

    /// Returns the wire form of the system prompt.
    pub(super) fn system(self, text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let content = OutContent::Text(Cow::Borrowed(text));
        body::push(&OutMessage::new(self.dialect.system_role.as_str(), Some(content)), &mut out);
        out
    }

    fn write_assistant(self, message: &MessageBody, out: &mut Vec<u8>) {
        let text = message.text();
        let has_calls = message.calls().next().is_some();
        let is_silent = has_calls && text.trim().is_empty();
        let content = match (is_silent, self.dialect.silence) {
            (true, Silence::NoText) => None,
            (true, Silence::Empty) => Some(OutContent::Text(Cow::Borrowed(""))),
            (false, _) => Some(OutContent::Text(Cow::Owned(text))),
        };
        let extras = self.opaque(message, EXTRAS);
        let mut wire = OutMessage::new("assistant", content);
        wire.reasoning_content = self.reasoning_content(message, has_calls);
        wire.reasoning_details = self.opaque(message, DETAILS);
        wire.tool_calls = message
            .calls()
            .enumerate()
            .map(|(nth, call)| self.call(call, extras.and_then(|it| it.get(nth.to_string()))))
            .collect();
        body::push(&wire, out);
    }

    fn call<'b>(self, call: &'b Call, extra_content: Option<&'b Value>) -> OutCall<'b>
    where
        Self: 'b,
    {
        let name = self.target.names.wire(&call.name);
        let function = OutFunction { name, arguments: object_text(call) };
        OutCall { id: call.id.as_str(), kind: "function", function, extra_content }
    }

    /// Returns what the opaque reasoning of this provider and model has under `key`.
    fn opaque<'b>(self, message: &'b MessageBody, key: &str) -> Option<&'b Value> {
        message.parts.iter().find_map(|part| match part {
            Part::Reasoning(reasoning) => self.target.opaque(reasoning)?.get(key),
            _ => None,
        })
    }

    fn reasoning_content(self, message: &MessageBody, has_calls: bool) -> Option<Cow<'_, str>> {
        if self.dialect.reasoning_echo == ReasoningEcho::Never {
            return None;
        }
        let texts = message.parts.iter().filter_map(|part| match part {
            Part::Reasoning(reasoning) if self.target.is_home_of(reasoning) => {
                Some(reasoning.text.as_str())
            }
            _ => None,
        });
        let text: String = texts.collect();
        match (text.is_empty(), has_calls) {
            (false, _) => Some(Cow::Owned(text)),
            // These endpoints want some value wherever there are calls.
            (true, true) => Some(Cow::Borrowed(" ")),
            (true, false) => None,
        }
    }
}

fn write_result(result: &CallResult, out: &mut Vec<u8>) {
    let content = OutContent::Text(Cow::Borrowed(output_text(result)));
    let mut wire = OutMessage::new("tool", Some(content));
    wire.tool_call_id = Some(result.call.as_str());
    body::push(&wire, out);
}

fn write_user(message: &MessageBody, out: &mut Vec<u8>) {
    let parts: Vec<OutPart<'_>> = message.parts.iter().filter_map(out_part).collect();
    let is_text = |part: &OutPart<'_>| matches!(part, OutPart::Text { .. });
    let content = match parts.as_slice() {
        [] => OutContent::Text(Cow::Borrowed(NOTHING_SAID)),
        [OutPart::Text { text }] => OutContent::Text(Cow::Borrowed(*text)),
        several if several.iter().all(is_text) => OutContent::Text(Cow::Owned(paragraphs(several))),
        _ => OutContent::Parts(parts),
    };
    body::push(&OutMessage::new("user", Some(content)), out);
}

fn out_part(part: &Part) -> Option<OutPart<'_>> {
    match part {
        Part::Text(text) | Part::Context(text) if text.trim().is_empty() => None,
        Part::Text(text) | Part::Context(text) => Some(OutPart::Text { text }),
        Part::Image(Image { url, .. }) => Some(OutPart::ImageUrl { image_url: OutUrl { url } }),
        _ => None,
    }
}

fn paragraphs(parts: &[OutPart<'_>]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            OutPart::Text { text } => Some(*text),
            OutPart::ImageUrl { .. } => None,
        })
        .collect();
    texts.join("\n\n")
}

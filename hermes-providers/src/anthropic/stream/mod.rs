//! Events of the messages wire to events of ours. Pure.

use std::collections::BTreeMap;

use hermes_core::message::{StopReason, Usage};
use serde_json::json;

use super::{
    thinking,
    wire::{InBlock, InDelta, InEvent, InUsage},
};
use crate::{
    http::{WireError, loose::Loose},
    wire::{
        decoder::{Answer, Read, refused},
        order::{self, PartKind},
    },
};

/// Reads the events of one answer.
#[derive(Debug, Default)]
pub(super) struct MessageReader {
    /// The blocks that have begun, by their index.
    open: BTreeMap<u64, Open>,
    order: Vec<PartKind>,
    counts: Counts,
}

/// A block that has begun.
#[derive(Debug)]
enum Open {
    Text,
    Thinking { text: String, signature: String },
    Call,
    Other,
}

/// The counts of tokens, each as it was last told.
#[derive(Debug, Default)]
struct Counts {
    input: u64,
    output: u64,
    read: u64,
    written: u64,
}

impl Read for MessageReader {
    type Event<'a> = InEvent<'a>;

    const EVENT: &'static str = "an event";
    const NO_ANSWER: &'static str = "it is no message";

    fn take(
        &mut self,
        event: &mut InEvent<'_>,
        data: &str,
        answer: &mut Answer<'_>,
    ) -> Result<(), WireError> {
        let index = event.index.as_u64().unwrap_or(0);
        match event.kind.as_str().unwrap_or_default() {
            "message_start" => {
                answer.begin();
                self.count(event.message.0.as_ref().and_then(|it| it.usage.0.as_ref()), answer);
            }
            "content_block_start" => {
                if let Some(block) = &event.content_block.0 {
                    self.start(index, block, answer);
                }
            }
            "content_block_delta" => {
                if let Some(delta) = &mut event.delta.0 {
                    self.add(index, delta, answer);
                }
            }
            "content_block_stop" => self.end(index, answer),
            "message_delta" => {
                self.count(event.usage.0.as_deref(), answer);
                if let Some(delta) = &event.delta.0 {
                    stop(&delta.stop_reason, answer);
                }
            }
            "message_stop" => answer.end(),
            "message" => self.take_whole(event, answer),
            "error" => return Err(refused(data)),
            _ if !event.error.is_nothing() => return Err(refused(data)),
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, answer: &mut Answer<'_>) {
        let first_call = self.order.iter().position(|kind| *kind == PartKind::Call);
        let after_calls = first_call.and_then(|at| self.order.get(at..)).unwrap_or_default();
        if after_calls.iter().any(|kind| *kind != PartKind::Call) {
            let provider = answer.provider();
            let record = order::record(&provider, &self.order, json!({"type": "order"}));
            answer.reasoning_done(record);
        }
    }
}

impl MessageReader {
    fn take_whole(&mut self, event: &InEvent<'_>, answer: &mut Answer<'_>) {
        self.count(event.usage.0.as_deref(), answer);
        for (index, block) in (0_u64..).zip(&event.content.0) {
            self.start(index, block, answer);
            self.end(index, answer);
        }
        stop(&event.stop_reason, answer);
        answer.end();
    }

    fn start(&mut self, index: u64, block: &InBlock<'_>, answer: &mut Answer<'_>) {
        answer.begin();
        let text_of = |field: &Loose<'_>| field.as_str().unwrap_or_default().to_owned();
        let open = match block.kind.as_str().unwrap_or_default() {
            "text" => {
                answer.text(block.text.as_str().unwrap_or_default());
                Open::Text
            }
            "thinking" => {
                answer.reasoning(block.thinking.as_str().unwrap_or_default());
                Open::Thinking {
                    text: text_of(&block.thinking),
                    signature: text_of(&block.signature),
                }
            }
            "redacted_thinking" => {
                let reasoning = thinking::redacted(&answer.provider(), &text_of(&block.data));
                answer.reasoning_done(reasoning);
                self.order.push(PartKind::Reasoning);
                Open::Other
            }
            "tool_use" => {
                answer.call(index, block.id.to_word(), block.name.text(), &block.input);
                Open::Call
            }
            _ => Open::Other,
        };
        self.note_order(&open);
        self.open.insert(index, open);
    }

    fn note_order(&mut self, open: &Open) {
        match open {
            // Texts in a row are one text once they are put together.
            Open::Text if self.order.last() == Some(&PartKind::Text) => {}
            Open::Text => self.order.push(PartKind::Text),
            Open::Thinking { .. } => self.order.push(PartKind::Reasoning),
            Open::Call => self.order.push(PartKind::Call),
            Open::Other => {}
        }
    }

    fn add(&mut self, index: u64, delta: &mut InDelta<'_>, answer: &mut Answer<'_>) {
        answer.text(delta.text.take_text());
        answer.reasoning(delta.thinking.as_str().unwrap_or_default());
        match self.open.get_mut(&index) {
            Some(Open::Thinking { text, signature }) => {
                text.push_str(delta.thinking.as_str().unwrap_or_default());
                signature.push_str(delta.signature.as_str().unwrap_or_default());
            }
            Some(Open::Call) => {
                answer.call(index, None, None, &delta.partial_json);
            }
            _ => {}
        }
    }

    fn end(&mut self, index: u64, answer: &mut Answer<'_>) {
        if let Some(Open::Thinking { text, signature }) = self.open.remove(&index)
            && !signature.is_empty()
        {
            let reasoning = thinking::signed(&answer.provider(), &text, &signature);
            answer.reasoning_done(reasoning);
        }
    }

    fn count(&mut self, usage: Option<&InUsage<'_>>, answer: &mut Answer<'_>) {
        let Some(usage) = usage else { return };
        let counts = &mut self.counts;
        for (count, told) in [
            (&mut counts.input, &usage.input_tokens),
            (&mut counts.output, &usage.output_tokens),
            (&mut counts.read, &usage.cache_read_input_tokens),
            (&mut counts.written, &usage.cache_creation_input_tokens),
        ] {
            *count = told.as_u64().unwrap_or(*count);
        }
        answer.usage(counts.usage());
    }
}

impl Counts {
    /// Returns the counts with what the cache gave and took as parts of the input.
    fn usage(&self) -> Usage {
        let input = self.input.saturating_add(self.read).saturating_add(self.written);
        let mut usage = Usage::new(input, self.output);
        usage.cache_read = self.read;
        usage.cache_write = self.written;
        usage
    }
}

fn stop(reason: &Loose<'_>, answer: &mut Answer<'_>) {
    if let Some(reason) = reason.text() {
        answer.stop(stop_of(reason));
    }
}

fn stop_of(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" | "stop" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests;

//! Events of the messages wire to events of ours. Pure.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use hermes_core::{
    message::{Reasoning, StopReason, Usage},
    provider::ModelEvent,
};
use serde_json::Value;

use super::{
    thinking::{self, BlockKind},
    wire::{InBlock, InDelta, InEvent, InUsage},
};
use crate::{
    http::{Decode, WireError, loose::Loose, status::Detail},
    wire::{
        arguments_text,
        calls::{Calls, Fragment},
        names::Names,
    },
};

/// Decodes one answer.
#[derive(Debug)]
pub(super) struct MessageDecoder {
    /// Whose thinking it is.
    provider: Arc<str>,
    names: Names,
    calls: Calls,
    /// The blocks that have begun, by their index.
    open: BTreeMap<u64, Open>,
    order: Vec<BlockKind>,
    counts: Counts,
    stop: Option<StopReason>,
    has_begun: bool,
    is_done: bool,
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

impl MessageDecoder {
    pub(super) fn new(provider: Arc<str>, names: Names) -> Self {
        Self {
            provider,
            names,
            calls: Calls::default(),
            open: BTreeMap::new(),
            order: Vec::new(),
            counts: Counts::default(),
            stop: None,
            has_begun: false,
            is_done: false,
        }
    }

    fn take(
        &mut self,
        event: InEvent<'_>,
        data: &str,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), WireError> {
        let index = event.index.as_u64().unwrap_or(0);
        match event.kind.as_str().unwrap_or_default() {
            "message_start" => {
                self.has_begun = true;
                self.count(event.message.0.and_then(|it| it.usage.0));
            }
            "content_block_start" => {
                if let Some(block) = event.content_block.0 {
                    self.start(index, &block, out);
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.delta.0 {
                    self.add(index, &delta, out);
                }
            }
            "content_block_stop" => self.end(index, out),
            "message_delta" => {
                self.count(event.usage.0);
                let delta = event.delta.0.unwrap_or_default();
                self.stop = delta.stop_reason.text().map(stop_of).or(self.stop.take());
            }
            "message_stop" => self.complete(out),
            "message" => self.take_whole(event, out),
            "error" => return Err(refused(data)),
            _ if !event.error.is_nothing() => return Err(refused(data)),
            _ => {}
        }
        Ok(())
    }

    fn take_whole(&mut self, event: InEvent<'_>, out: &mut VecDeque<ModelEvent>) {
        self.has_begun = true;
        self.count(event.usage.0);
        for (index, block) in (0_u64..).zip(&event.content.0) {
            self.start(index, block, out);
            self.end(index, out);
        }
        self.stop = event.stop_reason.text().map(stop_of);
        self.complete(out);
    }

    fn start(&mut self, index: u64, block: &InBlock<'_>, out: &mut VecDeque<ModelEvent>) {
        self.has_begun = true;
        let text_of = |field: &Loose<'_>| field.as_str().unwrap_or_default().to_owned();
        let open = match block.kind.as_str().unwrap_or_default() {
            "text" => {
                push_text(block.text.as_str(), out);
                Open::Text
            }
            "thinking" => {
                push_reasoning(block.thinking.as_str(), out);
                Open::Thinking {
                    text: text_of(&block.thinking),
                    signature: text_of(&block.signature),
                }
            }
            "redacted_thinking" => {
                let reasoning = thinking::redacted(&self.provider, &text_of(&block.data));
                out.push_back(ModelEvent::ReasoningDone(reasoning));
                self.order.push(BlockKind::Thinking);
                Open::Other
            }
            "tool_use" => {
                let fragment = Fragment {
                    index,
                    id: block.id.to_word(),
                    name: block.name.text().map(|name| self.names.original(name)),
                    arguments: arguments_text(&block.input),
                };
                self.calls.push(&fragment, out);
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
            Open::Text if self.order.last() == Some(&BlockKind::Text) => {}
            Open::Text => self.order.push(BlockKind::Text),
            Open::Thinking { .. } => self.order.push(BlockKind::Thinking),
            Open::Call => self.order.push(BlockKind::Call),
            Open::Other => {}
        }
    }

    fn add(&mut self, index: u64, delta: &InDelta<'_>, out: &mut VecDeque<ModelEvent>) {
        push_text(delta.text.as_str(), out);
        push_reasoning(delta.thinking.as_str(), out);
        match self.open.get_mut(&index) {
            Some(Open::Thinking { text, signature }) => {
                text.push_str(delta.thinking.as_str().unwrap_or_default());
                signature.push_str(delta.signature.as_str().unwrap_or_default());
            }
            Some(Open::Call) => {
                let arguments = arguments_text(&delta.partial_json);
                self.calls.push(&Fragment { index, id: None, name: None, arguments }, out);
            }
            _ => {}
        }
    }

    fn end(&mut self, index: u64, out: &mut VecDeque<ModelEvent>) {
        if let Some(Open::Thinking { text, signature }) = self.open.remove(&index)
            && !signature.is_empty()
        {
            let reasoning = thinking::signed(&self.provider, &text, &signature);
            out.push_back(ModelEvent::ReasoningDone(reasoning));
        }
    }

    fn count(&mut self, usage: Option<InUsage<'_>>) {
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
    }

    fn complete(&mut self, out: &mut VecDeque<ModelEvent>) {
        let first_call = self.order.iter().position(|kind| *kind == BlockKind::Call);
        let after_calls = first_call.and_then(|at| self.order.get(at..)).unwrap_or_default();
        if after_calls.iter().any(|kind| *kind != BlockKind::Call) {
            let record: Reasoning = thinking::order(&self.provider, &self.order);
            out.push_back(ModelEvent::ReasoningDone(record));
        }
        let stop = match (self.stop.take(), self.calls.is_empty()) {
            (None | Some(StopReason::EndTurn), false) => StopReason::ToolCalls,
            (None | Some(StopReason::ToolCalls), true) => StopReason::EndTurn,
            (Some(stop), _) => stop,
        };
        out.push_back(ModelEvent::Done { stop, usage: self.counts.usage() });
        self.is_done = true;
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

impl Decode for MessageDecoder {
    fn event(&mut self, data: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), WireError> {
        let data = data.trim();
        if data.is_empty() || self.is_done {
            return Ok(());
        }
        if data == "[DONE]" {
            return self.finish(out);
        }
        match serde_json::from_str::<InEvent<'_>>(data) {
            Ok(event) => self.take(event, data, out),
            Err(err) => Err(WireError::Malformed(format!("an event is not JSON: {err}"))),
        }
    }

    fn whole(&mut self, body: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), WireError> {
        let event: InEvent<'_> = serde_json::from_str(body)
            .map_err(|err| WireError::Malformed(format!("it is not JSON: {err}")))?;
        self.take(event, body, out)?;
        if self.is_done {
            return Ok(());
        }
        let value: Value = serde_json::from_str(body).unwrap_or_default();
        if ["message", "detail", "error_message", "msg"].iter().any(|key| value.get(*key).is_some())
        {
            return Err(WireError::Refused(Detail::of_json(&value)));
        }
        Err(WireError::Malformed("it is no message".to_owned()))
    }

    fn finish(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), WireError> {
        if self.stop.is_some() {
            self.complete(out);
            return Ok(());
        }
        let what = match (self.has_begun, self.calls.is_empty()) {
            (false, _) => "it held no answer",
            (true, false) => "a tool call is not whole",
            (true, true) => "the model had not stopped",
        };
        Err(WireError::Cut(what.to_owned()))
    }

    fn has_stopped(&self) -> bool {
        self.stop.is_some()
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

fn push_text(text: Option<&str>, out: &mut VecDeque<ModelEvent>) {
    if let Some(text) = text.filter(|it| !it.is_empty()) {
        out.push_back(ModelEvent::Text(text.to_owned()));
    }
}

fn push_reasoning(text: Option<&str>, out: &mut VecDeque<ModelEvent>) {
    if let Some(text) = text.filter(|it| !it.is_empty()) {
        out.push_back(ModelEvent::Reasoning(text.to_owned()));
    }
}

fn refused(data: &str) -> WireError {
    let value: Value = serde_json::from_str(data).unwrap_or_default();
    WireError::Refused(Detail::of_json(&value))
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

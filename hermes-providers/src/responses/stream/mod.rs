//! Events of the responses wire to events of ours. Pure.

use std::{borrow::Cow, collections::BTreeMap};

use hermes_core::message::StopReason;
use serde_json::{json, value::RawValue};

use super::{
    items::{self, Step},
    wire::{InEvent, InItem, InPart, InResponse},
};
use crate::{
    http::{
        WireError,
        loose::{self, Loose, Record},
        status::Detail,
    },
    wire::{
        decoder::{Answer, Read, refused},
        order::PartKind,
    },
};

/// What stands between two texts that came as items of their own.
const BETWEEN: &str = "\n\n";

/// Reads the events of one answer.
#[derive(Debug, Default)]
pub(super) struct ResponseReader {
    /// The items that have begun, by their index.
    open: BTreeMap<u64, Open>,
    /// What can go back, in the order in which it came.
    steps: Vec<Step>,
    /// Whether something came that cannot go back, so that what came with it must not either.
    has_gap: bool,
    /// The item that spoke last.
    speaker: Option<u64>,
}

/// An item that has begun.
#[derive(Debug)]
struct Open {
    kind: ItemKind,
    /// What goes into the record once the item has said something.
    step: Option<Step>,
    /// What was thought in it.
    thought: String,
    /// Whether text or arguments of it have come.
    has_content: bool,
    /// Whether the name of its tool has come.
    is_named: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemKind {
    Message,
    Reasoning,
    Call,
    Other,
}

/// A text, and whether it refuses.
#[derive(Debug)]
enum Words<'a> {
    Said(Cow<'a, str>),
    Refused(Cow<'a, str>),
}

impl Read for ResponseReader {
    type Event<'a> = InEvent<'a>;

    const EVENT: &'static str = "an event";
    const NO_ANSWER: &'static str = "it is no response";

    fn take(
        &mut self,
        event: &mut InEvent<'_>,
        data: &str,
        answer: &mut Answer<'_>,
    ) -> Result<(), WireError> {
        let index = event.output_index.as_u64().unwrap_or(0);
        match event.kind.as_str().unwrap_or_default() {
            "response.output_text.delta" => {
                self.say(index, Words::Said(event.delta.take_text()), answer);
            }
            "response.refusal.delta" => {
                self.say(index, Words::Refused(event.delta.take_text()), answer);
            }
            "response.function_call_arguments.delta" => self.pass(index, &event.delta, answer),
            "response.function_call_arguments.done" => {
                self.pass_whole(index, &event.arguments, answer);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.think(index, &event.delta.take_text(), answer);
            }
            "response.reasoning_summary_part.added" => self.think_on(index, answer),
            "response.output_item.added" => {
                if let Some(item) = event.item.and_then(read) {
                    self.start(index, &item, answer);
                }
            }
            "response.output_item.done" => {
                event.item.into_iter().for_each(|item| self.end(index, item, answer));
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = event.response.map_or("{}", RawValue::get);
                return self.close_with(event.kind.as_str(), response, answer);
            }
            "error" => return Err(refused(data)),
            _ if !event.error.is_nothing() => return Err(refused(data)),
            "" if event.object.as_str() == Some("response") => {
                return self.close_with(None, data, answer);
            }
            "response.created" | "response.in_progress" | "response.queued" => answer.begin(),
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, answer: &mut Answer<'_>) {
        let is_thinking = self.open.values().any(|open| open.kind == ItemKind::Reasoning);
        let has_thought = self.steps.iter().any(|step| step.kind == PartKind::Reasoning);
        if has_thought && !is_thinking && !self.has_gap {
            answer.reasoning_done(items::record(&answer.provider(), &self.steps));
        }
    }
}

impl ResponseReader {
    fn start(&mut self, index: u64, item: &InItem<'_>, answer: &mut Answer<'_>) {
        answer.begin();
        let kind = item.kind();
        let mut step = None;
        match kind {
            ItemKind::Message => step = Some(item.step(PartKind::Text)),
            ItemKind::Call => {
                self.steps.push(item.step(PartKind::Call));
                answer.call(index, item.wire_id(), item.name.text(), &Loose::Null);
            }
            ItemKind::Reasoning => {}
            ItemKind::Other => self.has_gap = true,
        }
        let is_named = item.name.text().is_some();
        let open = Open { kind, step, thought: String::new(), has_content: false, is_named };
        self.open.insert(index, open);
    }

    /// Returns the item at `index`, which begins here if it has not been announced.
    fn open_as(
        &mut self,
        index: u64,
        kind: ItemKind,
        answer: &mut Answer<'_>,
    ) -> Option<&mut Open> {
        if self.is_other(index, kind) {
            self.start(index, &InItem::of(kind), answer);
        }
        self.open.get_mut(&index)
    }

    /// Returns whether no item of that kind is open at `index`.
    fn is_other(&self, index: u64, kind: ItemKind) -> bool {
        self.open.get(&index).is_none_or(|open| open.kind != kind)
    }

    fn say(&mut self, index: u64, words: Words<'_>, answer: &mut Answer<'_>) {
        let (Words::Said(text) | Words::Refused(text)) = &words;
        if text.is_empty() {
            return;
        }
        if let Some(open) = self.open_as(index, ItemKind::Message, answer) {
            open.has_content = true;
            let step = open.step.take();
            // Texts in a row are one text once they are put together.
            let is_last = self.steps.last().is_some_and(|step| step.kind == PartKind::Text);
            self.steps.extend(step.filter(|_| !is_last));
        }
        if self.speaker.replace(index).is_some_and(|last| last != index) {
            answer.text(BETWEEN);
        }
        match words {
            Words::Said(text) => answer.text(text),
            Words::Refused(text) => answer.refusal(text),
        }
    }

    fn think(&mut self, index: u64, text: &str, answer: &mut Answer<'_>) {
        if let Some(open) = self.open_as(index, ItemKind::Reasoning, answer) {
            open.thought.push_str(text);
        }
        answer.reasoning(text);
    }

    /// Begins another part of what is thought.
    fn think_on(&mut self, index: u64, answer: &mut Answer<'_>) {
        if self.open.get(&index).is_some_and(|open| !open.thought.is_empty()) {
            self.think(index, BETWEEN, answer);
        }
    }

    /// Takes more of the arguments of a call.
    fn pass(&mut self, index: u64, arguments: &Loose<'_>, answer: &mut Answer<'_>) {
        if let Some(open) = self.open_as(index, ItemKind::Call, answer) {
            open.has_content |= !arguments.is_nothing() && arguments.as_str() != Some("");
            answer.call(index, None, None, arguments);
        }
    }

    /// Takes all arguments of a call, which say something new only where none have come in pieces.
    fn pass_whole(&mut self, index: u64, arguments: &Loose<'_>, answer: &mut Answer<'_>) {
        let open = self.open_as(index, ItemKind::Call, answer);
        if open.is_some_and(|it| !it.has_content) {
            self.pass(index, arguments, answer);
        }
    }

    fn end(&mut self, index: u64, raw: &RawValue, answer: &mut Answer<'_>) {
        let Some(item) = read::<InItem<'_>>(raw) else { return };
        if self.is_other(index, item.kind()) {
            self.start(index, &item, answer);
        }
        let is_silent = self.open.get(&index).is_some_and(|open| !open.has_content);
        if item.kind() == ItemKind::Message && is_silent {
            for part in &item.content.0 {
                let text = part.text.as_str().unwrap_or_default();
                self.say(index, Words::Said(text.into()), answer);
                let refusal = part.refusal.as_str().unwrap_or_default();
                self.say(index, Words::Refused(refusal.into()), answer);
            }
        }
        let Some(open) = self.open.remove(&index) else { return };
        match open.kind {
            ItemKind::Reasoning => self.end_reasoning(&item, raw, open.thought, answer),
            ItemKind::Call if is_silent || !open.is_named => {
                let arguments = if is_silent { &item.arguments } else { &Loose::Null };
                answer.call(index, item.wire_id(), item.name.text(), arguments);
            }
            _ => {}
        }
    }

    fn end_reasoning(
        &mut self,
        item: &InItem<'_>,
        raw: &RawValue,
        thought: String,
        answer: &mut Answer<'_>,
    ) {
        let text = Some(item.thought()).filter(|it| !it.is_empty());
        // Without its content an item is only a name for what the endpoint has not kept.
        if item.encrypted_content.text().is_some() || !item.content.0.is_empty() {
            self.steps.push(item.step(PartKind::Reasoning));
            let text = text.unwrap_or(thought);
            answer.reasoning_done(items::reasoning(&answer.provider(), text, raw));
            return;
        }
        self.has_gap = true;
        if thought.is_empty() {
            answer.reasoning(&text.unwrap_or_default());
        }
    }

    /// Takes the whole answer, whose text is `data`, which ends it. `event` is what brought it.
    fn close_with(
        &mut self,
        event: Option<&str>,
        data: &str,
        answer: &mut Answer<'_>,
    ) -> Result<(), WireError> {
        let parsed = loose::object::<InResponse<'_>>(data);
        let response = parsed.ok().and_then(|it| it.0).unwrap_or_default();
        if !response.error.is_nothing() {
            return Err(refused(data));
        }
        let of_event = event.and_then(|it| it.strip_prefix("response."));
        let status = response.status.text().or(of_event).unwrap_or_default();
        if status == "failed" {
            let message = "the response failed, and the endpoint does not say why";
            return Err(WireError::Refused(Detail::of_json(&json!({ "message": message }))));
        }
        let is_all = self.steps.is_empty() && self.open.is_empty() && !self.has_gap;
        let output = response.output.map_or("[]", RawValue::get);
        let output: Vec<&RawValue> = serde_json::from_str(output).unwrap_or_default();
        for (index, item) in (0..).zip(output) {
            if is_all || self.open.contains_key(&index) {
                self.end(index, item, answer);
            }
        }
        answer.stop(response.stop(status));
        if let Some(usage) = response.usage.0 {
            answer.usage(usage.read());
        }
        answer.end();
        Ok(())
    }
}

impl InItem<'_> {
    /// Returns an item of which no more is known.
    fn of(kind: ItemKind) -> Self {
        let kind = match kind {
            ItemKind::Message => "message",
            ItemKind::Reasoning => "reasoning",
            ItemKind::Call => "function_call",
            ItemKind::Other => "",
        };
        Self { kind: Loose::Text(kind.into()), ..Self::default() }
    }

    fn kind(&self) -> ItemKind {
        match self.kind.as_str().unwrap_or_default() {
            "message" => ItemKind::Message,
            "reasoning" => ItemKind::Reasoning,
            "function_call" => ItemKind::Call,
            _ => ItemKind::Other,
        }
    }

    fn step(&self, kind: PartKind) -> Step {
        let owned = |field: &Loose<'_>| field.text().map(str::to_owned);
        Step { kind, id: owned(&self.id), phase: owned(&self.phase) }
    }

    /// Returns the id that ties a result to this call.
    fn wire_id(&self) -> Option<Cow<'_, str>> {
        self.call_id.to_word().or_else(|| self.id.to_word())
    }

    /// Returns what a person may read of reasoning: the summary, or all of it where that is told.
    fn thought(&self) -> String {
        let parts = if self.summary.0.is_empty() { &self.content.0 } else { &self.summary.0 };
        let texts: Vec<&str> =
            parts.iter().filter_map(|part: &InPart<'_>| part.text.text()).collect();
        texts.join(BETWEEN)
    }
}

fn read<'a, T: Record<'a>>(raw: &'a RawValue) -> Option<T> {
    loose::object::<T>(raw.get()).ok().and_then(|it| it.0)
}

impl InResponse<'_> {
    fn stop(&self, status: &str) -> StopReason {
        let details = self.incomplete_details.0.as_ref();
        let reason = details.and_then(|it| it.reason.text()).unwrap_or_default();
        match (status, reason) {
            ("completed" | "", _) => StopReason::EndTurn,
            ("incomplete", "max_output_tokens" | "max_tokens") => StopReason::Length,
            ("incomplete", "content_filter") => StopReason::Refusal,
            (status, "") => StopReason::Other(status.to_owned()),
            (_, reason) => StopReason::Other(reason.to_owned()),
        }
    }
}

#[cfg(test)]
mod splits;
#[cfg(test)]
mod tests;

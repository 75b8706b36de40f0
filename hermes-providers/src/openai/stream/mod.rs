//! Chunks in, events out: what a chat completions endpoint says, whatever its habits. Pure.

use std::borrow::Cow;

use hermes_core::message::{Reasoning, StopReason};
use serde_json::{Map, Value};

use super::{
    ReasoningEcho,
    wire::{Choice, Chunk, Delta, InCall, InFunction},
};
use crate::{
    http::{WireError, loose::Loose, status::Detail},
    wire::decoder::{Answer, Read, refused},
};

/// The key in the opaque part of reasoning for what a wire calls `reasoning_details`.
pub(super) const DETAILS: &str = "reasoning_details";
/// The key in the opaque part of reasoning for what came with calls, by their place in the message.
pub(super) const EXTRAS: &str = "extra_content";

/// Reads the chunks of one answer.
#[derive(Debug, Default)]
pub(super) struct ChatReader {
    echo: ReasoningEcho,
    /// The reasoning that came since the last text.
    open_reasoning: String,
    details: Vec<Value>,
    extras: Map<String, Value>,
}

impl Read for ChatReader {
    type Event<'a> = Chunk<'a>;

    const EVENT: &'static str = "a chunk";
    const NO_ANSWER: &'static str = "it has no choices";
    const NEEDS_STOP: bool = false;

    fn take(
        &mut self,
        chunk: &mut Chunk<'_>,
        data: &str,
        answer: &mut Answer<'_>,
    ) -> Result<(), WireError> {
        let reports_error = !chunk.error.is_nothing() || chunk.object.as_str() == Some("error");
        let of_groq = || chunk.x_groq.0.as_ref().and_then(|it| it.usage.0.as_ref());
        if let Some(usage) = chunk.usage.0.as_ref().or_else(of_groq) {
            answer.usage(usage.read());
        }
        for choice in &mut chunk.choices.0 {
            if choice.index.as_u64().unwrap_or(0) == 0 {
                self.take_choice(choice, data, answer)?;
            }
        }
        if reports_error { Err(refused(data)) } else { Ok(()) }
    }

    fn close(&mut self, answer: &mut Answer<'_>) {
        let mut opaque = Map::new();
        if !self.details.is_empty() {
            opaque.insert(DETAILS.to_owned(), Value::Array(std::mem::take(&mut self.details)));
        }
        if !self.extras.is_empty() {
            opaque.insert(EXTRAS.to_owned(), Value::Object(std::mem::take(&mut self.extras)));
        }
        if !opaque.is_empty() || self.has_thought() {
            let reasoning = Reasoning::new(std::mem::take(&mut self.open_reasoning))
                .with_opaque(&*answer.provider(), Value::Object(opaque));
            answer.reasoning_done(reasoning);
        }
    }
}

impl ChatReader {
    /// How many pieces of opaque reasoning may be unfinished at once.
    const OPEN_DETAILS: usize = 64;

    /// Returns a reader of an endpoint that wants to hear its reasoning so.
    pub(super) fn new(echo: ReasoningEcho) -> Self {
        Self { echo, ..Self::default() }
    }

    /// Returns whether reasoning has come that must be known again as this provider's.
    fn has_thought(&self) -> bool {
        self.echo.needs_origin() && !self.open_reasoning.is_empty()
    }

    fn take_choice(
        &mut self,
        choice: &mut Choice<'_>,
        data: &str,
        answer: &mut Answer<'_>,
    ) -> Result<(), WireError> {
        answer.begin();
        if let Some(delta) = &mut choice.delta.0 {
            self.take_delta(delta, answer);
        }
        if let Some(message) = &mut choice.message.0 {
            self.take_delta(message, answer);
        }
        if let Some(reason) = choice.finish_reason.text() {
            if reason == "error" {
                return Err(refused_in_choice(data));
            }
            answer.stop(stop_of(reason));
        }
        if choice.error.is_nothing() { Ok(()) } else { Err(refused_in_choice(data)) }
    }

    fn take_delta(&mut self, delta: &mut Delta<'_>, answer: &mut Answer<'_>) {
        let reasoning = delta.reasoning_content.text().or(delta.reasoning.text());
        self.push_reasoning(reasoning.unwrap_or_default(), answer);
        self.push_details(std::mem::take(&mut delta.reasoning_details));
        self.push_content(&mut delta.content, answer);
        answer.refusal(delta.refusal.take_text());
        // Some servers say every call in the older form as well.
        let is_said_twice = !delta.tool_calls.0.is_empty();
        for (nth, call) in delta.tool_calls.0.iter_mut().enumerate() {
            self.push_call(nth, call, answer);
        }
        if let Some(function) = delta.function_call.0.take()
            && !is_said_twice
        {
            let mut call = InCall { function: Some(*function).into(), ..InCall::default() };
            self.push_call(0, &mut call, answer);
        }
    }

    fn push_content(&mut self, content: &mut Loose<'_>, answer: &mut Answer<'_>) {
        self.push_text(content.take_text(), answer);
        let parts = content.tree().and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            match part.get("type").and_then(Value::as_str) {
                Some("thinking" | "reasoning") => {
                    self.push_reasoning(&text_of(part.get("thinking").unwrap_or(part)), answer);
                }
                _ => self.push_text(text_of(part), answer),
            }
        }
    }

    fn push_text<'t>(&mut self, text: impl Into<Cow<'t, str>>, answer: &mut Answer<'_>) {
        let text = text.into();
        if !text.is_empty() {
            if self.has_thought() {
                let reasoning = Reasoning::new(self.open_reasoning.as_str())
                    .with_opaque(&*answer.provider(), Value::Object(Map::new()));
                answer.reasoning_done(reasoning);
            }
            self.open_reasoning.clear();
            answer.text(text);
        }
    }

    fn push_reasoning(&mut self, text: &str, answer: &mut Answer<'_>) {
        self.open_reasoning.push_str(text);
        answer.reasoning(text);
    }

    /// Joins the pieces of opaque reasoning that belong together. A piece belongs to one of the last few,
    /// so that many do not take ever more time.
    fn push_details(&mut self, details: Loose<'_>) {
        let Value::Array(details) = details.into_value() else { return };
        for detail in details {
            let same = |other: &&mut Value| {
                ["type", "index", "id"].iter().all(|key| match (other.get(key), detail.get(key)) {
                    (Some(one), Some(two)) => one == two,
                    _ => true,
                }) && detail.get("index").is_some()
            };
            match (self.details.iter_mut().rev().take(Self::OPEN_DETAILS).find(same), detail) {
                (Some(Value::Object(known)), Value::Object(more)) => merge_detail(known, more),
                (_, detail) => self.details.push(detail),
            }
        }
    }

    fn push_call(&mut self, nth: usize, call: &mut InCall<'_>, answer: &mut Answer<'_>) {
        let InFunction { name, arguments } = call.function.0.take().unwrap_or_default();
        let index = call.index.as_u64().or(u64::try_from(nth).ok()).unwrap_or(0);
        let number = answer.call(index, call.id.to_word(), name.text(), &arguments);
        if !call.extra_content.is_nothing() {
            let extra = std::mem::take(&mut call.extra_content);
            self.extras.insert(number.to_string(), extra.into_value());
        }
    }
}

/// Makes the error of a chunk that has it in its choice, or beside.
fn refused_in_choice(data: &str) -> WireError {
    let value: Value = serde_json::from_str(data).unwrap_or_default();
    let of_choice = value.pointer("/choices/0").filter(|it| it.get("error").is_some());
    WireError::Refused(Detail::of_json(of_choice.unwrap_or(&value)))
}

fn stop_of(reason: &str) -> StopReason {
    match reason {
        "stop" | "end_turn" | "eos" | "eos_token" | "stop_sequence" => StopReason::EndTurn,
        "tool_calls" | "function_call" | "tool_use" => StopReason::ToolCalls,
        "length" | "max_tokens" | "model_length" => StopReason::Length,
        "content_filter" | "refusal" | "safety" | "SAFETY" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}

/// Returns the text of a content part, or of a list of them.
fn text_of(part: &Value) -> String {
    match part {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect(),
        part => part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
    }
}

/// Adds the texts of one piece to those before it; of all else the later piece wins.
fn merge_detail(known: &mut Map<String, Value>, more: Map<String, Value>) {
    for (key, value) in more {
        match (known.get_mut(&key), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more))
                if matches!(key.as_str(), "text" | "summary" | "data") =>
            {
                text.push_str(&more);
            }
            (_, value) => {
                known.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod splits;
#[cfg(test)]
mod tests;

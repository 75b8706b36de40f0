//! Chunks in, events out: what a chat completions endpoint says, whatever its habits. Pure.

use std::{collections::VecDeque, sync::Arc};

use hermes_core::{
    message::{Reasoning, StopReason, Usage},
    provider::ModelEvent,
};
use serde_json::{Map, Value};

use super::wire::{Choice, Chunk, Delta, InCall, InFunction, InUsage};
use crate::{
    http::{Decode, WireError, loose::Loose, status::Detail},
    wire::{
        arguments_text,
        calls::{Calls, Fragment},
        names::Names,
    },
};

/// The key in the opaque part of reasoning for what a wire calls `reasoning_details`.
pub(super) const DETAILS: &str = "reasoning_details";
/// The key in the opaque part of reasoning for what came with calls, by their place in the message.
pub(super) const EXTRAS: &str = "extra_content";

/// Decodes one answer.
#[derive(Debug)]
pub(super) struct ChatDecoder {
    /// Whose reasoning it is.
    provider: Arc<str>,
    names: Names,
    calls: Calls,
    stop: Option<StopReason>,
    usage: Usage,
    /// The reasoning that came since the last text.
    open_reasoning: String,
    details: Vec<Value>,
    extras: Map<String, Value>,
    has_choice: bool,
    is_done: bool,
}

impl ChatDecoder {
    pub(super) fn new(provider: Arc<str>, names: Names) -> Self {
        Self {
            provider,
            names,
            calls: Calls::default(),
            stop: None,
            usage: Usage::default(),
            open_reasoning: String::new(),
            details: Vec::new(),
            extras: Map::new(),
            has_choice: false,
            is_done: false,
        }
    }

    fn take(
        &mut self,
        chunk: Chunk<'_>,
        data: &str,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), WireError> {
        let reports_error = !chunk.error.is_nothing() || chunk.object.as_str() == Some("error");
        if let Some(usage) = chunk.usage.0.or(chunk.x_groq.0.and_then(|it| it.usage.0)) {
            self.usage = usage.read();
        }
        for choice in chunk.choices.0 {
            if choice.index.as_u64().unwrap_or(0) == 0 {
                self.take_choice(choice, data, out)?;
            }
        }
        if reports_error { Err(refused(data)) } else { Ok(()) }
    }

    fn take_choice(
        &mut self,
        choice: Choice<'_>,
        data: &str,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), WireError> {
        self.has_choice = true;
        for delta in [choice.delta.0, choice.message.0].into_iter().flatten() {
            self.take_delta(*delta, out);
        }
        if let Some(reason) = choice.finish_reason.text() {
            if reason == "error" {
                return Err(refused(data));
            }
            // A refusal said in its own field keeps its meaning when the stop is an ordinary one.
            let is_refused = self.stop == Some(StopReason::Refusal);
            let stop = stop_of(reason);
            self.stop = Some(if is_refused { StopReason::Refusal } else { stop });
        }
        if choice.error.is_nothing() { Ok(()) } else { Err(refused(data)) }
    }

    fn take_delta(&mut self, delta: Delta<'_>, out: &mut VecDeque<ModelEvent>) {
        let reasoning = delta.reasoning_content.text().or(delta.reasoning.text());
        self.push_reasoning(reasoning.unwrap_or_default(), out);
        self.push_details(delta.reasoning_details);
        self.push_content(&delta.content, out);
        if let Some(refusal) = delta.refusal.text() {
            self.push_text(refusal, out);
            self.stop = Some(StopReason::Refusal);
        }
        // Some servers say every call in the older form as well.
        let is_said_twice = !delta.tool_calls.0.is_empty();
        for (nth, call) in delta.tool_calls.0.into_iter().enumerate() {
            self.push_call(nth, call, out);
        }
        if let Some(function) = delta.function_call.0
            && !is_said_twice
        {
            self.push_call(
                0,
                InCall { function: Some(*function).into(), ..InCall::default() },
                out,
            );
        }
    }

    fn push_content(&mut self, content: &Loose<'_>, out: &mut VecDeque<ModelEvent>) {
        self.push_text(content.as_str().unwrap_or_default(), out);
        let parts = content.tree().and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            match part.get("type").and_then(Value::as_str) {
                Some("thinking" | "reasoning") => {
                    self.push_reasoning(&text_of(part.get("thinking").unwrap_or(part)), out);
                }
                _ => self.push_text(&text_of(part), out),
            }
        }
    }

    fn push_text(&mut self, text: &str, out: &mut VecDeque<ModelEvent>) {
        if !text.is_empty() {
            self.open_reasoning.clear();
            out.push_back(ModelEvent::Text(text.to_owned()));
        }
    }

    fn push_reasoning(&mut self, text: &str, out: &mut VecDeque<ModelEvent>) {
        if !text.is_empty() {
            self.open_reasoning.push_str(text);
            out.push_back(ModelEvent::Reasoning(text.to_owned()));
        }
    }

    /// Joins the pieces of opaque reasoning that belong together.
    fn push_details(&mut self, details: Loose<'_>) {
        let Loose::Tree(Value::Array(details)) = details else { return };
        for detail in details {
            let same = |other: &&mut Value| {
                ["type", "index", "id"].iter().all(|key| match (other.get(key), detail.get(key)) {
                    (Some(one), Some(two)) => one == two,
                    _ => true,
                }) && detail.get("index").is_some()
            };
            match (self.details.iter_mut().rev().find(same), detail) {
                (Some(Value::Object(known)), Value::Object(more)) => merge_detail(known, more),
                (_, detail) => self.details.push(detail),
            }
        }
    }

    fn push_call(&mut self, nth: usize, call: InCall<'_>, out: &mut VecDeque<ModelEvent>) {
        let InFunction { name, arguments } = call.function.0.unwrap_or_default();
        let wire_name = name.text().map(|name| self.names.original(name));
        let fragment = Fragment {
            index: call.index.as_u64().or(u64::try_from(nth).ok()).unwrap_or(0),
            id: call.id.to_word(),
            name: wire_name,
            arguments: arguments_text(&arguments),
        };
        let number = self.calls.push(&fragment, out);
        if !call.extra_content.is_nothing() {
            self.extras.insert(number.to_string(), call.extra_content.into_value());
        }
    }

    fn push_opaque(&mut self, out: &mut VecDeque<ModelEvent>) {
        let mut opaque = Map::new();
        if !self.details.is_empty() {
            opaque.insert(DETAILS.to_owned(), Value::Array(std::mem::take(&mut self.details)));
        }
        if !self.extras.is_empty() {
            opaque.insert(EXTRAS.to_owned(), Value::Object(std::mem::take(&mut self.extras)));
        }
        if !opaque.is_empty() {
            let reasoning = Reasoning::new(std::mem::take(&mut self.open_reasoning))
                .with_opaque(&*self.provider, Value::Object(opaque));
            out.push_back(ModelEvent::ReasoningDone(reasoning));
        }
    }

    /// Ends the answer; what stands for the stop if none was named.
    fn complete(&mut self, out: &mut VecDeque<ModelEvent>) {
        self.push_opaque(out);
        let stop = match (self.stop.take(), self.calls.is_empty()) {
            (None | Some(StopReason::EndTurn), false) => StopReason::ToolCalls,
            (None | Some(StopReason::ToolCalls), true) => StopReason::EndTurn,
            (Some(stop), _) => stop,
        };
        out.push_back(ModelEvent::Done { stop, usage: self.usage });
        self.is_done = true;
    }
}

impl Decode for ChatDecoder {
    fn event(&mut self, data: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), WireError> {
        let data = data.trim();
        if data.is_empty() || self.is_done {
            return Ok(());
        }
        if data == "[DONE]" {
            if !self.has_choice {
                return Err(WireError::Cut("it held no answer".to_owned()));
            }
            self.complete(out);
            return Ok(());
        }
        match serde_json::from_str::<Chunk<'_>>(data) {
            Ok(chunk) => self.take(chunk, data, out),
            // Some servers leave out the empty line between events.
            Err(_) if data.contains('\n') => {
                data.split('\n').try_for_each(|line| self.event(line, out))
            }
            Err(err) => Err(WireError::Malformed(format!("a chunk is not JSON: {err}"))),
        }
    }

    fn whole(&mut self, body: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), WireError> {
        let chunk: Chunk<'_> = serde_json::from_str(body)
            .map_err(|err| WireError::Malformed(format!("it is not JSON: {err}")))?;
        self.take(chunk, body, out)?;
        if self.has_choice {
            self.complete(out);
            return Ok(());
        }
        let value: Value = serde_json::from_str(body).unwrap_or_default();
        if ["message", "detail", "error_message", "msg"].iter().any(|key| value.get(*key).is_some())
        {
            return Err(WireError::Refused(Detail::of_json(&value)));
        }
        Err(WireError::Malformed("it has no choices".to_owned()))
    }

    fn finish(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), WireError> {
        if self.stop.is_some() {
            self.complete(out);
            return Ok(());
        }
        let what = match (self.has_choice, self.calls.is_empty()) {
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

impl InUsage<'_> {
    fn read(&self) -> Usage {
        let prompt = self.prompt_tokens_details.0.as_ref();
        let completion = self.completion_tokens_details.0.as_ref();
        let cached = prompt.map(|it| count(&it.cached_tokens)).unwrap_or_default();
        let written = prompt.map(|it| count(&it.cache_write_tokens)).unwrap_or_default();
        let reasoned = completion.map(|it| count(&it.reasoning_tokens)).unwrap_or_default();
        let mut usage = Usage::new(count(&self.prompt_tokens), count(&self.completion_tokens));
        usage.cache_read = cached.max(count(&self.prompt_cache_hit_tokens));
        usage.cache_write = written.max(count(&self.cache_creation_input_tokens));
        usage.reasoning = reasoned.max(count(&self.reasoning_tokens));
        usage
    }
}

fn count(tokens: &Loose<'_>) -> u64 {
    tokens.as_u64().unwrap_or(0)
}

fn refused(data: &str) -> WireError {
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

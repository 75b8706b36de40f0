//! What a provider streams, and the one fold that makes a message of it.

use std::{collections::BTreeMap, sync::Arc};

use super::ModelId;
use crate::message::{Arguments, Call, CallId, Message, Part, Reasoning, Role, StopReason, Usage};

/// One event of an assistant message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelEvent {
    /// More text.
    Text(String),
    /// More reasoning to read.
    Reasoning(String),
    /// A finished piece of reasoning with what its provider wants back. Its text replaces the
    /// reasoning streamed since the last one.
    ReasoningDone(Reasoning),
    /// More of a tool call.
    CallDelta {
        /// Which call of the message, from 0. Every call of a message has its own.
        index: u32,
        /// The provider's id, where this fragment brings it.
        id: Option<CallId>,
        /// The tool's whole name, where this fragment brings it.
        name: Option<Arc<str>>,
        /// More argument text; may be empty.
        arguments: String,
    },
    /// Another model than that of the request answers, as where a provider falls back on one. What the
    /// message takes is priced as that model's.
    Model(ModelId),
    /// The end of the message.
    Done {
        /// Why the model stopped.
        stop: StopReason,
        /// What the call used.
        usage: Usage,
    },
}

/// Folds [`ModelEvent`]s into an assistant message.
///
/// It is what [`ProviderExt::complete`](super::ProviderExt::complete) and the agent's loop use, so
/// that a streamed and a whole message cannot differ.
///
/// # Examples
///
/// ```
/// use hermes_core::{message::{StopReason, Usage}, provider::{Assembly, ModelEvent}};
///
/// let mut assembly = Assembly::default();
/// assembly.push(ModelEvent::Text("hel".to_owned()));
/// assembly.push(ModelEvent::Text("lo".to_owned()));
/// assembly.push(ModelEvent::Done { stop: StopReason::EndTurn, usage: Usage::new(3, 1) });
///
/// assert_eq!(assembly.into_message().text(), "hello");
/// ```
#[derive(Debug, Default)]
pub struct Assembly {
    parts: Vec<Part>,
    calls: BTreeMap<u32, PartialCall>,
    done: Option<(StopReason, Usage)>,
    model: Option<ModelId>,
}

#[derive(Debug, Default)]
struct PartialCall {
    id: Option<CallId>,
    name: Option<Arc<str>>,
    arguments: String,
}

impl Assembly {
    /// Adds one event. Empty texts, ids and names say nothing and change nothing.
    pub fn push(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Text(delta) => self.push_text(delta),
            ModelEvent::Reasoning(delta) => self.push_reasoning(delta),
            ModelEvent::ReasoningDone(reasoning) => self.finish_reasoning(reasoning),
            ModelEvent::CallDelta { index, id, name, arguments } => {
                let call = self.calls.entry(index).or_default();
                // Some endpoints repeat both in every fragment, as empty texts.
                call.id = id.filter(|it| !it.as_str().is_empty()).or(call.id.take());
                call.name = name.filter(|it| !it.is_empty()).or(call.name.take());
                if call.arguments.is_empty() {
                    call.arguments = arguments;
                } else {
                    call.arguments.push_str(&arguments);
                }
            }
            ModelEvent::Model(model) => self.model = Some(model),
            ModelEvent::Done { stop, usage } => self.done = Some((stop, usage)),
        }
    }

    /// Returns the model that answers, if it is not that of the request.
    pub fn model(&self) -> Option<&ModelId> {
        self.model.as_ref()
    }

    /// Returns whether the last event has come.
    pub fn is_done(&self) -> bool {
        self.done.is_some()
    }

    /// Returns whether nothing has come that a person or a tool would see.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.calls.is_empty()
    }

    /// Returns the message, its calls after its text, with stop reason and usage.
    ///
    /// A call without an id, or with an empty one, gets `call_<index>`. Without a last event the stop reason is
    /// [`StopReason::Interrupted`].
    pub fn into_message(self) -> Message {
        let (stop, usage) = self.done.unwrap_or((StopReason::Interrupted, Usage::default()));
        let mut parts = self.parts;
        parts.extend(self.calls.into_iter().map(|(index, call)| Part::Call(call.finish(index))));
        Message::new(Role::Assistant, parts).with_stop(stop).with_usage(usage)
    }

    /// Returns what a cancelled or broken stream leaves worth keeping: its text and reasoning, no
    /// calls, marked with `stop`. `None` if there is no text but white space.
    pub fn into_partial(self, stop: StopReason) -> Option<Message> {
        let has_text =
            self.parts.iter().any(|part| part.as_text().is_some_and(|it| !it.trim().is_empty()));
        has_text.then(|| Message::new(Role::Assistant, self.parts).with_stop(stop))
    }

    fn push_text(&mut self, delta: String) {
        match self.parts.last_mut() {
            _ if delta.is_empty() => {}
            Some(Part::Text(text)) => text.push_str(&delta),
            _ => self.parts.push(Part::Text(delta)),
        }
    }

    fn push_reasoning(&mut self, delta: String) {
        match self.parts.last_mut() {
            _ if delta.is_empty() => {}
            Some(Part::Reasoning(reasoning)) if reasoning.opaque.is_none() => {
                reasoning.text.push_str(&delta);
            }
            _ => self.parts.push(Part::Reasoning(Reasoning::new(delta))),
        }
    }

    fn finish_reasoning(&mut self, reasoning: Reasoning) {
        if let Some(Part::Reasoning(open)) = self.parts.last_mut()
            && open.opaque.is_none()
        {
            *open = reasoning;
            return;
        }
        self.parts.push(Part::Reasoning(reasoning));
    }
}

impl PartialCall {
    fn finish(self, index: u32) -> Call {
        let id = self.id.unwrap_or_else(|| CallId::new(format!("call_{index}")));
        let name = self.name.unwrap_or_else(|| Arc::from(""));
        Call::new(id, name, Arguments::from(self.arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(index: u32, id: Option<&str>, name: Option<&str>, arguments: &str) -> ModelEvent {
        ModelEvent::CallDelta {
            index,
            id: id.map(CallId::from),
            name: name.map(Arc::from),
            arguments: arguments.to_owned(),
        }
    }

    #[test]
    fn interleaved_fragments_become_whole_calls() {
        let mut assembly = Assembly::default();
        assembly.push(delta(0, Some("a"), Some("ping"), "{\"n\""));
        assembly.push(delta(1, None, Some("pong"), "{}"));
        assembly.push(delta(0, None, None, ":1}"));

        let message = assembly.into_message();

        let calls: Vec<_> =
            message.calls().map(|it| (it.id.as_str(), &*it.name, it.arguments.as_str())).collect();
        assert_eq!(calls, [("a", "ping", "{\"n\":1}"), ("call_1", "pong", "{}")]);
        assert_eq!(message.stop, Some(StopReason::Interrupted));
    }

    #[test]
    fn empty_fragments_change_nothing() {
        let mut assembly = Assembly::default();
        assembly.push(ModelEvent::Text(String::new()));
        assembly.push(ModelEvent::Reasoning(String::new()));
        assert!(assembly.is_empty());
        assembly.push(delta(0, Some("a"), Some("ping"), "{"));
        assembly.push(delta(0, Some(""), Some(""), "}"));
        assembly.push(delta(1, Some(""), Some("pong"), ""));

        let message = assembly.into_message();

        let expected = [Call::new("a", "ping", "{}"), Call::new("call_1", "pong", "")];
        assert_eq!(message.parts, expected.map(Part::Call));
    }

    #[test]
    fn a_partial_answer_keeps_text_and_drops_calls() {
        let mut assembly = Assembly::default();
        assembly.push(ModelEvent::Text("half".to_owned()));
        assembly.push(delta(0, Some("a"), Some("ping"), "{"));

        let message = assembly.into_partial(StopReason::Cancelled).unwrap();

        assert_eq!(message.text(), "half");
        assert_eq!(message.calls().count(), 0);
    }
}

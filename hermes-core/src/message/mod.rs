//! Messages: what a conversation is made of, without any wire format.
//!
//! A [`Message`] is shared by reference counting, so history, requests, stores and reviews hold the
//! same bytes. Providers translate it to their wire and back; nothing here knows how.

mod content;
mod usage;

use std::{ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::{
    content::{Arguments, Call, CallId, CallResult, CallStatus, Image, Opaque, Part, Reasoning},
    usage::Usage,
};

/// One message of a conversation. Cloning it copies a pointer.
///
/// It dereferences to its [`MessageBody`].
///
/// # Examples
///
/// ```
/// use hermes_core::message::{Message, Role};
///
/// let message = Message::user("deploy the shop");
///
/// assert_eq!(message.role, Role::User);
/// assert_eq!(message.text(), "deploy the shop");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Message(Arc<MessageBody>);

/// What a [`Message`] says, who says it, and where it stands in its session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MessageBody {
    /// The place in the session: grows by one per message, from 1. Zero until it is appended.
    #[serde(default)]
    pub id: MessageId,
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
    /// Why the model stopped, on assistant messages. `Cancelled` marks a partial answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
    /// What the model call behind an assistant message used, as the provider reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Whether it stands for messages that were compressed away; the summary is a context part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_summary: bool,
    /// Fields this version does not know, kept as they were read.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The place of a message in its session.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct MessageId(pub u64);

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The person, or the program that speaks for one. Also what else is told to the model, as
    /// [context](Part::Context).
    User,
    /// The model.
    Assistant,
    /// The tools, answering the calls of the assistant message before.
    Tool,
}

/// Why a model stopped speaking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model had said all it wanted.
    EndTurn,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The limit of output tokens was reached; what is there is cut short.
    Length,
    /// The model or its provider declined to answer.
    Refusal,
    /// The request was cancelled; what is there is what had arrived.
    Cancelled,
    /// The stream broke off; what is there is what had arrived.
    Interrupted,
    /// A reason this version does not know, as the provider spells it.
    Other(String),
}

impl Message {
    /// Creates a message of `role` with `parts`, and no id yet.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self(Arc::new(MessageBody {
            id: MessageId::default(),
            role,
            parts,
            stop: None,
            usage: None,
            is_summary: false,
            extra: Map::new(),
        }))
    }

    /// Creates a user message that says `text`.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![Part::Text(text.into())])
    }

    /// Creates a message of the user's role that the loop itself writes, such as a request to go on.
    pub(crate) fn scaffold(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![Part::Context(text.into())])
    }

    /// Creates an assistant message that says `text`.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, vec![Part::Text(text.into())])
    }

    /// Creates the message that answers calls with `results`.
    pub fn results(results: impl IntoIterator<Item = CallResult>) -> Self {
        Self::new(Role::Tool, results.into_iter().map(Part::Result).collect())
    }

    /// Returns the same message under `id`.
    #[must_use]
    pub fn with_id(mut self, id: MessageId) -> Self {
        Arc::make_mut(&mut self.0).id = id;
        self
    }

    /// Returns the same message with the reason why the model stopped.
    #[must_use]
    pub fn with_stop(mut self, stop: StopReason) -> Self {
        Arc::make_mut(&mut self.0).stop = Some(stop);
        self
    }

    /// Returns the same message with what the model call used.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        Arc::make_mut(&mut self.0).usage = Some(usage);
        self
    }

    /// Returns the same message with other parts.
    #[must_use]
    pub(crate) fn with_parts(mut self, parts: Vec<Part>) -> Self {
        Arc::make_mut(&mut self.0).parts = parts;
        self
    }

    /// Returns the same message, marked as a summary of others.
    #[must_use]
    pub(crate) fn marked_as_summary(mut self) -> Self {
        Arc::make_mut(&mut self.0).is_summary = true;
        self
    }
}

impl Deref for Message {
    type Target = MessageBody;

    fn deref(&self) -> &MessageBody {
        &self.0
    }
}

impl MessageBody {
    /// Returns all text parts joined, without reasoning, context, calls and results.
    pub fn text(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect()
    }

    /// Returns whether a person, or the program that speaks for one, wrote something of it: it has the
    /// user's role and not only [context](Part::Context).
    pub fn has_words_of_user(&self) -> bool {
        let is_said = |part: &Part| !matches!(part, Part::Context(_));
        self.role == Role::User && self.parts.iter().any(is_said)
    }

    /// Returns the calls of the message, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Returns the results of the message, in order.
    pub fn call_results(&self) -> impl Iterator<Item = &CallResult> {
        self.parts.iter().filter_map(|part| match part {
            Part::Result(result) => Some(result),
            _ => None,
        })
    }

    /// Returns whether the message has neither a call, a result nor any text but white space.
    pub fn is_blank(&self) -> bool {
        self.parts.iter().all(|part| match part {
            Part::Text(text) => text.trim().is_empty(),
            Part::Reasoning(_) => true,
            _ => false,
        })
    }
}

/// The messages of a conversation, shared between the session, its requests and its reviews.
pub type History = Arc<Vec<Message>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_survive_a_round_trip() {
        let json = r#"{"id":3,"role":"user","parts":[{"text":"hi"}],"mood":"good"}"#;

        let message: Message = serde_json::from_str(json).unwrap();

        assert_eq!(message.extra["mood"], "good");
        assert_eq!(serde_json::to_string(&message).unwrap(), json);
    }

    #[test]
    fn a_clone_shares_its_parts() {
        let message = Message::user("hi");

        let clone = message.clone();

        assert!(std::ptr::eq(&raw const *message, &raw const *clone));
    }
}

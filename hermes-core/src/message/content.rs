//! The parts of a message.

use std::{fmt, sync::Arc, sync::OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Text, as it is shown to a person.
    Text(String),
    /// A picture.
    Image(Image),
    /// A tool call by the model.
    Call(Call),
    /// The result of a call.
    Result(CallResult),
    /// What the model thought on the way.
    Reasoning(Reasoning),
    /// What stands in a message of the user's role and is none of the user's words: what recall added,
    /// the summary of what was compressed, and what the loop asks by itself, such as to go on after
    /// an answer was cut. Sent and stored byte for byte; not part of the message's text.
    Context(String),
}

impl Part {
    /// Returns the text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A picture in a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Image {
    /// An `https:` address or a `data:` URL.
    pub url: String,
}

impl Image {
    /// Creates an image from an address or a `data:` URL.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into() }
    }
}

/// The id that ties a result to its call. Unique within a session once the loop has seen it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(Arc<str>);

impl CallId {
    /// Creates an id from the provider's text.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for CallId {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

/// A tool call by the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Call {
    /// The id its result must carry.
    pub id: CallId,
    /// The tool's name, as the model wrote it.
    pub name: Arc<str>,
    /// What the model passes.
    pub arguments: Arguments,
}

impl Call {
    /// Creates a call of `name` with `arguments` as JSON text.
    pub fn new(
        id: impl Into<CallId>,
        name: impl Into<Arc<str>>,
        arguments: impl Into<Arguments>,
    ) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into() }
    }
}

/// The arguments of a call: the text the model wrote, parsed at most once and never repaired.
#[derive(Clone)]
pub struct Arguments {
    raw: Arc<str>,
    parsed: OnceLock<Result<Value, String>>,
}

impl Arguments {
    /// Creates arguments from the model's text.
    pub fn new(raw: impl Into<Arc<str>>) -> Self {
        Self { raw: raw.into(), parsed: OnceLock::new() }
    }

    /// Returns the text as the model wrote it.
    pub fn as_str(&self) -> &str {
        &self.raw
    }

    /// Returns the text as JSON. Blank text counts as an empty object.
    ///
    /// # Errors
    ///
    /// A message that says where the text stops being JSON.
    pub fn parse(&self) -> Result<&Value, &str> {
        let parsed = self.parsed.get_or_init(|| {
            let raw = if self.raw.trim().is_empty() { "{}" } else { &self.raw };
            serde_json::from_str(raw).map_err(|err| err.to_string())
        });
        parsed.as_ref().map_err(String::as_str)
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.raw, f)
    }
}

impl PartialEq for Arguments {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Serialize for Arguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.raw)
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

impl From<&str> for Arguments {
    fn from(raw: &str) -> Self {
        Self::new(raw)
    }
}

impl From<String> for Arguments {
    fn from(raw: String) -> Self {
        Self::new(raw)
    }
}

impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        let arguments = Self::new(value.to_string());
        // The cell is new, so this can only succeed.
        let _ = arguments.parsed.set(Ok(value));
        arguments
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallResult {
    /// The call it answers.
    pub call: CallId,
    /// What the model reads.
    pub content: String,
    /// How the call ended.
    pub status: CallStatus,
}

impl CallResult {
    /// Creates the result of `call`.
    pub fn new(call: CallId, status: CallStatus, content: impl Into<String>) -> Self {
        Self { call, content: content.into(), status }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallStatus {
    /// The tool did what it was asked.
    Done,
    /// The tool refused, and the content says what the model can put right.
    Rejected,
    /// The tool broke, timed out or panicked; it may have had an effect.
    Failed,
    /// The turn was cancelled before or while the tool ran.
    Cancelled,
}

/// What a model thought on the way to its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reasoning {
    /// The readable part; may be empty.
    pub text: String,
    /// Signatures or encrypted items that only the provider of that name understands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Opaque>,
}

/// A value that only one provider understands and that goes back to it unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Opaque {
    /// The provider it belongs to.
    pub provider: String,
    /// What to send back.
    pub value: Value,
}

impl Reasoning {
    /// Creates readable reasoning.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), opaque: None }
    }

    /// Returns the same reasoning with a value that belongs to `provider`.
    #[must_use]
    pub fn with_opaque(mut self, provider: impl Into<String>, value: Value) -> Self {
        self.opaque = Some(Opaque { provider: provider.into(), value });
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blank_arguments_are_an_empty_object() {
        assert_eq!(Arguments::new(" ").parse(), Ok(&json!({})));
    }

    #[test]
    fn broken_arguments_are_kept_and_reported() {
        let arguments = Arguments::new("{\"a\":");

        assert!(arguments.parse().unwrap_err().contains("EOF"));
        assert_eq!(arguments.as_str(), "{\"a\":");
    }
}

//! A held write: what is kept of it, and what the model is told.

use std::{fmt, str::FromStr, time::SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{origin::Origin, version::Expected};

/// What a held write would change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Subsystem {
    /// The memory lists.
    Memory,
    /// The skills.
    Skills,
}

impl Subsystem {
    /// Returns the name of its folder: `memory` or `skills`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Skills => "skills",
        }
    }
}

/// The id of a held write: eight of `0-9` and `a-f`, and so safe as the name of a file.
///
/// # Examples
///
/// ```
/// use hermes_core::pending::PendingId;
///
/// let id: PendingId = "0a1b2c3d".parse()?;
///
/// assert_eq!(id.as_str(), "0a1b2c3d");
/// assert!("../../etc".parse::<PendingId>().is_err());
/// # Ok::<(), hermes_core::pending::InvalidPendingId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PendingId(String);

/// A text that is not a [`PendingId`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the id of a held write: eight of 0-9 and a-f are")]
pub struct InvalidPendingId(String);

impl PendingId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PendingId {
    type Err = InvalidPendingId;

    fn from_str(text: &str) -> Result<Self, InvalidPendingId> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() == 8 && text.bytes().all(is_digit) {
            return Ok(Self(text.to_owned()));
        }
        Err(InvalidPendingId(text.to_owned()))
    }
}

impl fmt::Display for PendingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for PendingId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for PendingId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A write that is to wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Draft {
    /// What it would change.
    pub subsystem: Subsystem,
    /// The action of its tool, such as `add` or `patch`.
    pub action: String,
    /// What it would do, in one line for a person.
    pub summary: String,
    /// Who asks. It is made with the same origin, whoever approves it.
    pub origin: Origin,
    /// What the write goes by: it is made as long as this is there. [`Expected::Any`] if that is not
    /// known, as with writes that hermes-agent held.
    pub base: Expected,
    /// The arguments of its tool.
    pub payload: Map<String, Value>,
}

impl Draft {
    /// Creates the draft of a call of a tool of `subsystem` by `origin`, with `payload` as its
    /// arguments. Its action is the payload's `action`.
    pub fn new(subsystem: Subsystem, origin: Origin, payload: Map<String, Value>) -> Self {
        let action = payload.get("action").and_then(Value::as_str).unwrap_or_default().to_owned();
        let base = Expected::Any;
        Self { subsystem, action, summary: String::new(), origin, base, payload }
    }

    /// Returns the same draft, to be made as long as `base` is there.
    #[must_use]
    pub fn on(mut self, base: Expected) -> Self {
        self.base = base;
        self
    }

    /// Returns the same draft with a line for a person.
    #[must_use]
    pub fn summarised(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }

    /// Returns whether `held` is the same wish, by the same kind of origin.
    pub fn repeats(&self, held: &HeldWrite) -> bool {
        let held = &held.draft;
        self.subsystem == held.subsystem
            && self.origin.kind == held.origin.kind
            && self.payload == held.payload
    }
}

/// A write that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HeldWrite {
    /// Its id, unique within its subsystem.
    pub id: PendingId,
    /// When it was asked for.
    pub created_at: SystemTime,
    /// The write.
    #[serde(flatten)]
    pub draft: Draft,
}

impl HeldWrite {
    /// Creates the record of `draft`, held since `created_at`.
    pub fn new(id: PendingId, created_at: SystemTime, draft: Draft) -> Self {
        Self { id, created_at, draft }
    }
}

/// Returns what the model is told of a write that waits, with hermes-agent's keys and `kind`.
pub fn staged(held: &HeldWrite) -> Map<String, Value> {
    let message = "It is not saved yet: it waits for the user's approval. Do not repeat the call; go \
                   on as if it might be turned down.";
    let mut keys = Map::new();
    keys.insert("success".to_owned(), true.into());
    keys.insert("staged".to_owned(), true.into());
    keys.insert("kind".to_owned(), "held".into());
    keys.insert("pending_id".to_owned(), held.id.as_str().into());
    keys.insert("message".to_owned(), message.into());
    keys
}

/// Returns why a write that was to be held is rejected where there is nowhere to hold it.
/// `setting` is what the host must call.
pub fn no_place(setting: &str) -> String {
    format!(
        "Nothing was saved: changes are to wait for the user's approval here, but the application \
         keeps no place for them ({setting} sets one). Do not try again; tell the user."
    )
}

/// Returns what the host is told of that, by [`ToolContext::warn`](crate::tool::ToolContext::warn).
/// `what` is what was to wait.
pub fn no_place_warning(what: &str, setting: &str) -> String {
    format!(
        "{what} was to wait for approval and was rejected instead, as the agent keeps no place for \
         it; set one with {setting}."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_file_name() {
        for bad in ["", "1234567", "123456789", "ABCDEF01", "../../..", "0a1b2c3g", "0a1b2c3\u{e9}"]
        {
            assert!(bad.parse::<PendingId>().is_err(), "{bad}");
        }
        assert_eq!("deadbeef".parse::<PendingId>().unwrap().to_string(), "deadbeef");
    }
}

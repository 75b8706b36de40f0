//! Who asks for a write: a value that travels with every call.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Where a write comes from.
///
/// It is part of the [`ToolContext`](crate::tool::ToolContext) and of every change, never of a
/// thread or a task, so that it survives every hop between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Origin {
    /// What kind of run asks.
    pub kind: OriginKind,
    /// The person or system on whose behalf, as the host names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Arc<str>>,
    /// The review that asks, for [`OriginKind::Review`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Arc<str>>,
    /// The sub-agent that asks, for [`OriginKind::Delegate`]: the call that started it and its number
    /// among the tasks of that call, such as `call_7/2`; of a nested one, all of them from the outside
    /// in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Arc<str>>,
}

/// What kind of run asks for a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OriginKind {
    /// The user's own conversation.
    User,
    /// The background review of a conversation.
    Review,
    /// The curator's upkeep.
    Curator,
    /// A sub-agent.
    Delegate,
    /// A scheduled run.
    Schedule,
    /// An import from another system.
    Import,
}

impl OriginKind {
    /// Returns its name, as it is stored: `user`, `review`, `curator`, `delegate`, `schedule` or
    /// `import`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Review => "review",
            Self::Curator => "curator",
            Self::Delegate => "delegate",
            Self::Schedule => "schedule",
            Self::Import => "import",
        }
    }
}

impl Origin {
    /// Creates an origin of `kind`, on nobody's behalf.
    pub fn new(kind: OriginKind) -> Self {
        Self { kind, by: None, review: None, task: None }
    }

    /// Creates the origin of the user's own conversation.
    pub fn user() -> Self {
        Self::new(OriginKind::User)
    }

    /// Creates the origin of the review called `review`.
    pub fn review(review: impl Into<Arc<str>>) -> Self {
        Self { review: Some(review.into()), ..Self::new(OriginKind::Review) }
    }

    /// Returns the same origin on behalf of `by`.
    #[must_use]
    pub fn on_behalf_of(mut self, by: impl Into<Arc<str>>) -> Self {
        self.by = Some(by.into());
        self
    }

    /// Returns whether nobody asked for the write: everything but the user's conversation and an
    /// import. Such writes may touch only what the agent made, in the version they have read.
    pub fn is_automatic(&self) -> bool {
        !matches!(self.kind, OriginKind::User | OriginKind::Import)
    }
}

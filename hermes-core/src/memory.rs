//! Bounded memory: what goes into every prompt.

use std::{fmt, sync::Arc, time::SystemTime};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    origin::Origin,
    threat::Finding,
    version::{Expected, Version, Versioned},
};

/// Where an agent keeps what it has learnt about its surroundings and its user.
///
/// A backend holds one ordered list of entries per [`Target`]. The list goes into the system prompt
/// whole, so it is bounded in characters, and a full list refuses new entries instead of forgetting
/// old ones: making room is the model's decision. Recall from an unbounded outside store is another
/// thing and not this trait.
///
/// # Contract
///
/// [`conformance::memory_backend`](crate::testing::conformance::memory_backend) checks these; run it
/// against every implementation.
///
/// - **Bounded.** No commit leaves a list longer than its limit, unless it was longer before and the
///   commit shortens it.
/// - **All or nothing.** A commit that fails leaves the list as it was, also across a crash.
/// - **Whole edits.** `read` never returns half of a commit made by another task or process.
/// - **No lost update.** A commit whose [`expected`](MemoryChange::expected) version is not the
///   current one fails with [`MemoryError::Conflict`]. An empty list is both its version and
///   [`Expected::Absent`].
/// - **Idempotent.** Adding an entry that is there already succeeds and changes nothing.
/// - **Scanned.** Content that would be an attack if it stood in a prompt is refused with
///   [`MemoryError::Blocked`], whoever asks.
/// - **Undoable.** Every commit that changed something is in the history and can be undone while its
///   result is current: the latest, then the one before it, and so on.
/// - **Foretold.** A preview, where there is one, is what the commit then brings, and changes nothing.
///
/// `hermes_memory::planned` has the rules for one list, so that an implementation has only to keep what
/// comes of it.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "testing")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hermes_core::{
///     memory::{MemoryBackend, MemoryChange, MemoryEdit, Target},
///     origin::Origin,
///     testing::InMemory,
/// };
///
/// let memory = InMemory::default();
/// let edits = vec![MemoryEdit::Add { content: "Prefers short answers.".to_owned() }];
///
/// memory.commit(MemoryChange::new(Target::User, edits, Origin::user())).await?;
/// assert_eq!(memory.read(Target::User).await?.value.entries, ["Prefers short answers."]);
///
/// let latest = memory.history(Target::User, 1).await?.remove(0);
/// memory.undo(Target::User, &latest.id, Origin::user()).await?;
/// assert!(memory.read(Target::User).await?.value.entries.is_empty());
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "testing"))]
/// # fn main() {}
/// ```
#[async_trait]
pub trait MemoryBackend: fmt::Debug + Send + Sync {
    /// Returns the entries of `target`, oldest first. A store that does not exist yet is empty.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Unreadable`] if there is something that cannot be read.
    async fn read(&self, target: Target) -> Result<Versioned<Entries>, MemoryError>;

    /// Applies the edits of `change` in order, each seeing the ones before, and judges the limit on
    /// the final list.
    ///
    /// # Errors
    ///
    /// The first edit that does not apply, by number from 0; nothing is changed then.
    async fn commit(&self, change: MemoryChange) -> Result<MemoryCommit, MemoryError>;

    /// Returns what [`commit`](Self::commit) would make of `change` now, without making it: the same
    /// result but for the revision, or the same error. `None` if the backend cannot tell, which is
    /// the default.
    ///
    /// It is asked before a change is kept for a person's approval, and for the diff the person sees.
    ///
    /// # Errors
    ///
    /// Any [`MemoryError`] that the commit would give.
    async fn preview(&self, change: &MemoryChange) -> Result<Option<MemoryCommit>, MemoryError> {
        let _ = change;
        Ok(None)
    }

    /// Returns the latest `limit` commits to `target`, newest first.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Unreadable`] if the record cannot be read.
    async fn history(&self, target: Target, limit: usize) -> Result<Vec<Revision>, MemoryError>;

    /// Puts `target` back to what it was before `revision`, and records that as a commit of `origin`.
    ///
    /// # Errors
    ///
    /// - [`MemoryError::NoRevision`] if the history does not have it.
    /// - [`MemoryError::Conflict`] if the list is no longer as the revision left it.
    async fn undo(
        &self,
        target: Target,
        revision: &RevisionId,
        origin: Origin,
    ) -> Result<MemoryCommit, MemoryError>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<M: MemoryBackend + ?Sized> MemoryBackend for Arc<M> {
    async fn read(&self, target: Target) -> Result<Versioned<Entries>, MemoryError> {
        (**self).read(target).await
    }

    async fn commit(&self, change: MemoryChange) -> Result<MemoryCommit, MemoryError> {
        (**self).commit(change).await
    }

    async fn preview(&self, change: &MemoryChange) -> Result<Option<MemoryCommit>, MemoryError> {
        (**self).preview(change).await
    }

    async fn history(&self, target: Target, limit: usize) -> Result<Vec<Revision>, MemoryError> {
        (**self).history(target, limit).await
    }

    async fn undo(
        &self,
        target: Target,
        revision: &RevisionId,
        origin: Origin,
    ) -> Result<MemoryCommit, MemoryError> {
        (**self).undo(target, revision, origin).await
    }
}

/// Which of the two lists.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// What the agent knows of its surroundings. The default.
    #[default]
    Memory,
    /// Who the user is.
    User,
}

impl Target {
    /// Both lists, in the order of the prompt.
    pub const ALL: [Self; 2] = [Self::Memory, Self::User];

    /// Returns the limit in characters that hermes-agent sets: 2,200 for memory, 1,375 for the user.
    pub fn default_limit(self) -> usize {
        match self {
            Self::Memory => 2_200,
            Self::User => 1_375,
        }
    }

    /// Returns the name the tool uses: `memory` or `user`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::User => "user",
        }
    }

    /// Returns the name for a person.
    pub fn label(self) -> &'static str {
        match self {
            Self::Memory => "Memory",
            Self::User => "User profile",
        }
    }
}

/// The entries of a list and how full it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Entries {
    /// The entries, oldest first.
    pub entries: Vec<String>,
    /// How full the list is.
    pub fill: Fill,
    /// What is wrong with the stored text, for the host; the entries are what could be read.
    pub warnings: Vec<String>,
}

impl Entries {
    /// Joins entries and fill, without warnings.
    pub fn new(entries: Vec<String>, fill: Fill) -> Self {
        Self { entries, fill, warnings: Vec::new() }
    }
}

/// How full a list is, in characters (Unicode scalars), delimiters included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fill {
    /// Characters in use.
    pub used: usize,
    /// Characters there may be.
    pub limit: usize,
}

impl Fill {
    /// Joins what is used and what may be.
    pub fn new(used: usize, limit: usize) -> Self {
        Self { used, limit }
    }

    /// Returns the share in use in whole percent, rounded down, at most 100; 0 without a limit.
    pub fn percent(self) -> usize {
        if self.limit == 0 {
            return 0;
        }
        (self.used.saturating_mul(100) / self.limit).min(100)
    }
}

/// Edits to one list, all or none of which happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MemoryChange {
    /// The list.
    pub target: Target,
    /// What to do, in order.
    pub edits: Vec<MemoryEdit>,
    /// The version the writer has seen. An empty list is as expected for [`Expected::Absent`] and for the
    /// version that it was read at.
    pub expected: Expected,
    /// Who asks.
    pub origin: Origin,
}

impl MemoryChange {
    /// Creates a change by `origin` that takes the list as it finds it.
    pub fn new(target: Target, edits: Vec<MemoryEdit>, origin: Origin) -> Self {
        Self { target, edits, expected: Expected::Any, origin }
    }

    /// Returns the same change, to be refused unless the list is as `expected`.
    #[must_use]
    pub fn expecting(mut self, expected: Expected) -> Self {
        self.expected = expected;
        self
    }
}

/// One edit of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
#[non_exhaustive]
pub enum MemoryEdit {
    /// Appends an entry.
    Add {
        /// The entry; white space around it is dropped.
        content: String,
    },
    /// Replaces the one entry that contains a passage.
    Replace {
        /// A passage of the entry, letter for letter.
        old_text: String,
        /// The new entry.
        content: String,
    },
    /// Removes the one entry that contains a passage.
    Remove {
        /// A passage of the entry, letter for letter.
        old_text: String,
    },
}

/// A commit that went through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MemoryCommit {
    /// The list before.
    pub before: Versioned<Vec<String>>,
    /// The list after. Equal to `before` if there was nothing to do.
    pub after: Versioned<Vec<String>>,
    /// How full the list is now.
    pub fill: Fill,
    /// The entry of the history, `None` if nothing changed.
    pub revision: Option<RevisionId>,
}

impl MemoryCommit {
    /// Joins the two states of a list.
    pub fn new(
        before: Versioned<Vec<String>>,
        after: Versioned<Vec<String>>,
        fill: Fill,
        revision: Option<RevisionId>,
    ) -> Self {
        Self { before, after, fill, revision }
    }
}

/// The id of a commit in a history.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RevisionId(String);

impl RevisionId {
    /// Creates an id from the store's text.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RevisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One commit in the history of a list or a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Revision {
    /// Its id.
    pub id: RevisionId,
    /// When it was made.
    pub at: SystemTime,
    /// Who asked.
    pub origin: Origin,
    /// What was done, in one line.
    pub summary: String,
    /// The version before, `None` if there was nothing.
    pub before: Option<Version>,
    /// The version after, `None` if there is nothing any more.
    pub after: Option<Version>,
}

impl Revision {
    /// Creates the record of a commit.
    pub fn new(
        id: RevisionId,
        at: SystemTime,
        origin: Origin,
        summary: impl Into<String>,
        versions: (Option<Version>, Option<Version>),
    ) -> Self {
        Self { id, at, origin, summary: summary.into(), before: versions.0, after: versions.1 }
    }
}

/// Why memory could not be read or changed. `edit` numbers count from 0.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The list would be longer than its limit.
    #[error("the list would have {needed} characters, the limit is {}", fill.limit)]
    Full {
        /// Characters the list would have.
        needed: usize,
        /// How full it is now.
        fill: Fill,
        /// What is in it now.
        entries: Vec<String>,
    },
    /// An edit names a passage that is in no entry.
    #[error("no entry contains {old_text:?}")]
    NoMatch {
        /// Which edit.
        edit: usize,
        /// The passage.
        old_text: String,
        /// What is in the list now.
        entries: Vec<String>,
    },
    /// An edit names a passage that is in several entries.
    #[error("{} entries contain {old_text:?}", matches.len())]
    Ambiguous {
        /// Which edit.
        edit: usize,
        /// The passage.
        old_text: String,
        /// The entries that contain it.
        matches: Vec<String>,
    },
    /// An edit has no content or names no passage, or its content cannot be stored.
    #[error("{reason}")]
    Invalid {
        /// Which edit.
        edit: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The content of an edit would be an attack if it stood in a prompt.
    #[error("the content was refused: {}", ids(findings))]
    Blocked {
        /// Which edit.
        edit: usize,
        /// What was found.
        findings: Vec<Finding>,
    },
    /// The list is not in the version the writer has seen.
    #[error("the list has changed in the meantime")]
    Conflict {
        /// Its current version.
        current: Version,
        /// What is in it now.
        entries: Vec<String>,
    },
    /// The stored text is not what this store would write, and rewriting it would lose some of it.
    #[error("{place} was changed by hand and would lose text; a copy is at {backup}")]
    Drift {
        /// The file or record.
        place: String,
        /// Where the copy is.
        backup: String,
    },
    /// The history does not have the revision.
    #[error("there is no revision {0}")]
    NoRevision(RevisionId),
    /// What is stored cannot be read; nothing is written then.
    #[error("{place} cannot be read")]
    Unreadable {
        /// The file or record.
        place: String,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The store failed.
    #[error("the memory store failed")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Joins the ids of `findings` for a message.
fn ids(findings: &[Finding]) -> String {
    let ids: Vec<&str> = findings.iter().map(|finding| &*finding.id).collect();
    ids.join(", ")
}

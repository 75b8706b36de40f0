//! Where conversations are kept between two turns.

use std::{fmt, sync::Arc, time::SystemTime};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    agent::Turn,
    approval::Grant,
    compress::CompressState,
    cost::Spending,
    message::{Message, MessageId, Role},
    tool::ToolSpec,
    version::Version,
};

/// Keeps conversations: their messages, and the state that a resumed session must have.
///
/// # Contract
///
/// [`conformance::session_store`](crate::testing::conformance::session_store) checks these.
///
/// - **Append-only.** `append` adds at the end, whole or not at all, and only if the session has as
///   many messages as the writer believes; otherwise it fails with [`StoreError::Conflict`].
/// - **Faithful.** `load` returns every message and the last state, value for value.
/// - **Nothing is forgotten.** `compact` replaces what is loaded, and the replaced messages stay
///   searchable.
/// - **One writer.** While a [`SessionLock`] lives, `lock` on the same session fails with
///   [`StoreError::Locked`].
/// - **Gone is gone.** What `delete` removed is neither loaded, listed nor found. (A store may leave out
///   `list` and `delete`.)
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "testing")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hermes_core::{
///     Agent,
///     store::{ListOptions, SessionId, SessionStore},
///     testing::{InMemorySessions, ScriptedProvider},
/// };
///
/// let sessions = InMemorySessions::default();
/// let model = ScriptedProvider::new().say("Hello!");
/// let agent = Agent::builder(model).model("scripted").sessions(sessions.clone()).build()?;
/// let session = agent.open(&SessionId::new("user-7/monday")).await?;
/// session.send("Hi.").await?;
/// session.close().await;
///
/// for info in sessions.list(&ListOptions::default().prefix("user-7/")).await? {
///     assert_eq!(info.messages, 2);
///     assert!(sessions.delete(&info.id).await?);
/// }
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "testing"))]
/// # fn main() {}
/// ```
#[async_trait]
pub trait SessionStore: fmt::Debug + Send + Sync {
    /// Returns the session called `id`, `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError::Backend`] if it cannot be read.
    async fn load(&self, id: &SessionId) -> Result<Option<StoredSession>, StoreError>;

    /// Adds `messages` to a session that now has `expected` of them, creating it at zero, and
    /// replaces its state.
    ///
    /// # Errors
    ///
    /// - [`StoreError::Conflict`] if it has another number of messages.
    /// - [`StoreError::Backend`] if it cannot be written.
    async fn append(
        &self,
        id: &SessionId,
        expected: usize,
        messages: &[Message],
        state: &SessionState,
    ) -> Result<(), StoreError>;

    /// Replaces the `expected` messages of a session by `messages`, keeping the old ones searchable.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    async fn compact(
        &self,
        id: &SessionId,
        expected: usize,
        messages: &[Message],
        state: &SessionState,
    ) -> Result<(), StoreError>;

    /// Returns up to `limit` places where words of `query` occur in user and assistant messages, the
    /// best first.
    ///
    /// # Errors
    ///
    /// [`StoreError::Backend`] if the store cannot be read. No query is an error.
    async fn search(&self, query: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError>;

    /// Makes the caller the one writer of a session until the lock is dropped.
    ///
    /// # Errors
    ///
    /// - [`StoreError::Locked`] if somebody else is.
    /// - [`StoreError::Backend`] if the store cannot tell.
    async fn lock(&self, id: &SessionId) -> Result<SessionLock, StoreError>;

    /// Returns the sessions that `options` asks for, the one last written to first as far as the
    /// store can tell.
    ///
    /// # Errors
    ///
    /// - [`StoreError::Unsupported`] if the store cannot, which is the default.
    /// - [`StoreError::Backend`] if it cannot be read.
    async fn list(&self, options: &ListOptions) -> Result<Vec<SessionInfo>, StoreError> {
        let _ = options;
        Err(StoreError::Unsupported("list sessions"))
    }

    /// Removes a session with all its messages, also those that were compacted, and returns whether there
    /// was one. It is not found any more, and another may begin under its id.
    ///
    /// # Errors
    ///
    /// - [`StoreError::Unsupported`] if the store cannot, which is the default.
    /// - [`StoreError::Locked`] if somebody writes it: [close](crate::Session::close) it first.
    /// - [`StoreError::Backend`] if it cannot be removed; it is whole then.
    async fn delete(&self, id: &SessionId) -> Result<bool, StoreError> {
        let _ = id;
        Err(StoreError::Unsupported("delete sessions"))
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    async fn load(&self, id: &SessionId) -> Result<Option<StoredSession>, StoreError> {
        (**self).load(id).await
    }

    async fn append(
        &self,
        id: &SessionId,
        expected: usize,
        messages: &[Message],
        state: &SessionState,
    ) -> Result<(), StoreError> {
        (**self).append(id, expected, messages, state).await
    }

    async fn compact(
        &self,
        id: &SessionId,
        expected: usize,
        messages: &[Message],
        state: &SessionState,
    ) -> Result<(), StoreError> {
        (**self).compact(id, expected, messages, state).await
    }

    async fn search(&self, query: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        (**self).search(query, limit).await
    }

    async fn lock(&self, id: &SessionId) -> Result<SessionLock, StoreError> {
        (**self).lock(id).await
    }

    async fn list(&self, options: &ListOptions) -> Result<Vec<SessionInfo>, StoreError> {
        (**self).list(options).await
    }

    async fn delete(&self, id: &SessionId) -> Result<bool, StoreError> {
        (**self).delete(id).await
    }
}

/// Which sessions to [list](SessionStore::list).
///
/// # Examples
///
/// ```
/// use hermes_core::store::ListOptions;
///
/// // The second page of one user's conversations.
/// let options = ListOptions::default().prefix("user-7/").limit(20).skip(20);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListOptions {
    /// What their ids begin with. Empty by default, which all do.
    pub prefix: String,
    /// How many there are at most. 100 by default.
    pub limit: usize,
    /// How many of the first to leave out. 0 by default.
    pub skip: usize,
}

impl Default for ListOptions {
    fn default() -> Self {
        Self { prefix: String::new(), limit: 100, skip: 0 }
    }
}

impl ListOptions {
    /// Sets what the ids begin with.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets how many there are at most.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Sets how many of the first to leave out.
    #[must_use]
    pub fn skip(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }
}

/// A session in a [list](SessionStore::list).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// How many messages a resumed session has; those that were compacted are not among them.
    pub messages: usize,
    /// When it began, where the store knows.
    pub created: Option<SystemTime>,
    /// When it was last written to, where the store knows.
    pub updated: Option<SystemTime>,
}

impl SessionInfo {
    /// Creates the entry of a session of which no times are known.
    pub fn new(id: SessionId, messages: usize) -> Self {
        Self { id, messages, created: None, updated: None }
    }
}

/// The name of a conversation, chosen by the host: 1 to 128 visible ASCII characters.
///
/// # Examples
///
/// ```
/// use hermes_core::store::SessionId;
///
/// assert_eq!(SessionId::new("user-7/monday").as_str(), "user-7/monday");
/// assert_ne!(SessionId::new("日本"), SessionId::new("中国"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String")]
pub struct SessionId(Arc<str>);

impl SessionId {
    const MAX_LEN: usize = 128;
    /// The digits of the hash in ids that could not stay as they were.
    const DIGITS: usize = 16;

    /// Creates an id.
    ///
    /// A text that is one already stays as it is. In any other, characters that are not visible ASCII
    /// become `_`, the end of what is too long is cut, and 16 digits of a hash are appended, so that
    /// two texts which differ stay two conversations.
    pub fn new(id: impl AsRef<str>) -> Self {
        let id = id.as_ref();
        let is_plain = |it: char| it.is_ascii_graphic();
        if (1..=Self::MAX_LEN).contains(&id.len()) && id.chars().all(is_plain) {
            return Self(Arc::from(id));
        }
        let hash: String = Version::of(id).to_string().chars().take(Self::DIGITS).collect();
        let kept = id.chars().take(Self::MAX_LEN - Self::DIGITS - 1);
        let text: String = kept.map(|it| if is_plain(it) { it } else { '_' }).collect();
        Self(format!("{text}-{hash}").into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for SessionId {
    fn from(id: String) -> Self {
        Self::new(id)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A session as it was stored; by default one that has not begun.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StoredSession {
    /// Its messages, oldest first.
    pub messages: Vec<Message>,
    /// Its state.
    pub state: SessionState,
}

impl StoredSession {
    /// Joins messages and state.
    pub fn new(messages: Vec<Message>, state: SessionState) -> Self {
        Self { messages, state }
    }
}

/// What a session is besides its messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SessionState {
    /// The system prompt, frozen when the conversation began.
    pub system: Option<Arc<str>>,
    /// The tools on offer, frozen likewise.
    pub tools: Option<Arc<[ToolSpec]>>,
    /// How many turns there have been.
    pub turns: u64,
    /// The last message before the latest turn.
    pub turn_start: MessageId,
    /// The id of the last message.
    pub last_message: MessageId,
    /// What reviews go by.
    pub counts: Counts,
    /// The versions of stored text that the conversation has been shown.
    pub seen: Vec<(String, Version)>,
    /// What was allowed for the rest of the conversation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Grant>,
    /// Those of them that the system prompt shows.
    pub shown: Vec<(String, Version)>,
    /// The turn under way, if one is.
    pub turn: Option<Turn>,
    /// What is remembered of compressions.
    pub compress: CompressState,
    /// What its requests took so far, those of forks not counted.
    pub spending: Spending,
    /// What its reviews took.
    pub reviews: Spending,
    /// What its sub-agents took.
    pub delegated: Spending,
}

/// What reviews go by: how much has happened since memory and skills were last touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Counts {
    /// User turns since memory was last written or reviewed.
    pub turns_since_memory: u32,
    /// Rounds of tool calls since a skill was last written or reviewed.
    pub rounds_since_skills: u32,
}

/// A place where a query was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchHit {
    /// The conversation.
    pub session: SessionId,
    /// The message.
    pub message: MessageId,
    /// Who spoke.
    pub role: Role,
    /// The passage around what was found.
    pub snippet: String,
    /// When the message was stored, where the store knows.
    pub at: Option<SystemTime>,
}

impl SearchHit {
    /// Creates a hit without a time.
    pub fn new(
        session: SessionId,
        message: MessageId,
        role: Role,
        snippet: impl Into<String>,
    ) -> Self {
        Self { session, message, role, snippet: snippet.into(), at: None }
    }
}

/// Makes its holder the one writer of a session; dropping it lets the next one in.
#[must_use = "the lock is released when it is dropped"]
pub struct SessionLock(#[expect(dead_code, reason = "held for its drop")] Box<dyn Send + Sync>);

impl SessionLock {
    /// Wraps the store's own guard, whose drop releases the lock.
    pub fn new(guard: impl Send + Sync + 'static) -> Self {
        Self(Box::new(guard))
    }
}

impl fmt::Debug for SessionLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionLock")
    }
}

/// Why a conversation could not be read or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The session has another number of messages than the writer believes: somebody else wrote it, or
    /// begins one of a name that is taken.
    #[error("session {id} has {actual} messages, not {expected}; open it again to go on with it")]
    Conflict {
        /// The session.
        id: SessionId,
        /// How many the writer believes.
        expected: usize,
        /// How many there are.
        actual: usize,
    },
    /// The store has no way to do that.
    #[error("the session store cannot {0}")]
    Unsupported(&'static str),
    /// Somebody else writes the session, in this process or another:
    /// [close](crate::Session::close) it there first.
    #[error(
        "session {0} is in use elsewhere; close it there, or wait until that process has ended"
    )]
    Locked(SessionId),
    /// The store failed.
    #[error("the session store failed")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Counts of a session that are kept elsewhere, so that several sessions share them.
///
/// Users who begin a new conversation every other turn never reach a threshold within one. A store
/// shared by their sessions lets the counts go on.
///
/// # Contract
///
/// - **Atomic.** `update` runs its closure on the current counts and stores the result as one step.
///
/// [`SharedCounts`] is the ready-made one.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "testing")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hermes_core::{Agent, store::SharedCounts, testing::ScriptedProvider};
///
/// let agent = Agent::builder(ScriptedProvider::new())
///     .model("scripted")
///     .counters(SharedCounts::default())
///     .build()?;
///
/// for turns in 1..=3 {
///     let turn = agent.session().send("Hi.").await?;
///     assert_eq!(turn.counts.turns_since_memory, turns);
/// }
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "testing"))]
/// # fn main() {}
/// ```
pub trait CounterStore: fmt::Debug + Send + Sync {
    /// Changes the counts by `change` and returns the result.
    fn update(&self, change: &mut dyn FnMut(&mut Counts)) -> Counts;
}

#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<C: CounterStore + ?Sized> CounterStore for Arc<C> {
    fn update(&self, change: &mut dyn FnMut(&mut Counts)) -> Counts {
        (**self).update(change)
    }
}

/// Counts shared by all sessions of the agents that have it, as long as the process lives. Pass it in an
/// `Arc` to several agents.
#[derive(Debug, Default)]
pub struct SharedCounts(std::sync::Mutex<Counts>);

impl CounterStore for SharedCounts {
    fn update(&self, change: &mut dyn FnMut(&mut Counts)) -> Counts {
        let mut counts = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        change(&mut counts);
        *counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_id_stays_as_it_is() {
        let longest = "x".repeat(128);

        for id in ["s1", "user-7/monday", &longest] {
            assert_eq!(SessionId::new(id).as_str(), id);
        }
    }

    #[test]
    fn ids_that_differ_stay_apart() {
        let long = |end: &str| format!("{}{end}", "x".repeat(128));
        let odd = ["", " ", "é", "è", "日本", "中国", "a b", "a\nb", &long("1"), &long("2")];

        let ids: std::collections::BTreeSet<_> = odd.iter().map(SessionId::new).collect();

        assert_eq!(ids.len(), odd.len());
        let is_plain = |id: &SessionId| {
            id.as_str().len() <= 128 && id.as_str().bytes().all(|it| it.is_ascii_graphic())
        };
        assert!(ids.iter().all(is_plain), "{ids:?}");
    }

    #[test]
    fn a_stored_id_is_checked_and_stays() {
        let id: SessionId = serde_json::from_str("\"a\\nb\"").unwrap();
        let stored = serde_json::to_string(&id).unwrap();

        assert_eq!(id, SessionId::new("a\nb"));
        assert_eq!(serde_json::from_str::<SessionId>(&stored).unwrap(), id);
    }
}

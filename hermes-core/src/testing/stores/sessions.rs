//! Conversations that end with their process.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use async_trait::async_trait;

use crate::{
    clock::{Clock, SystemClock},
    message::{Message, Role},
    store::{
        ListOptions, SearchHit, SessionId, SessionInfo, SessionLock, SessionState, SessionStore,
        StoreError, StoredSession,
    },
};

/// A [`SessionStore`] that keeps conversations in memory. A clone shares them.
///
/// Searching is by whole words, without regard to case; the messages with the most of them come
/// first, and of those the latest.
///
/// # Examples
///
/// ```
/// use hermes_core::{
///     message::Message,
///     store::{SessionId, SessionState, SessionStore},
///     testing::InMemorySessions,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), hermes_core::store::StoreError> {
/// let store = InMemorySessions::default();
/// let id = SessionId::new("monday");
/// store.append(&id, 0, &[Message::user("deploy the shop")], &SessionState::default()).await?;
///
/// assert_eq!(store.search("Shop", 5).await?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct InMemorySessions {
    sessions: Arc<Mutex<BTreeMap<SessionId, Kept>>>,
    locked: Arc<Mutex<HashSet<SessionId>>>,
    clock: Arc<dyn Clock>,
}

#[derive(Debug, Default)]
struct Kept {
    current: Vec<Dated>,
    /// Messages that a compaction replaced.
    replaced: Vec<Dated>,
    state: SessionState,
    created: Option<SystemTime>,
    updated: Option<SystemTime>,
    /// The number of its last write among all of the store.
    write: u64,
}

#[derive(Clone, Debug)]
struct Dated {
    message: Message,
    at: SystemTime,
}

impl Default for InMemorySessions {
    fn default() -> Self {
        let clock = Arc::new(SystemClock);
        Self { sessions: Arc::default(), locked: Arc::default(), clock }
    }
}

impl InMemorySessions {
    /// Returns the same store with `clock`, which dates the messages.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Returns the ids of all conversations, sorted.
    pub fn ids(&self) -> Vec<SessionId> {
        self.sessions().keys().cloned().collect()
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<SessionId, Kept>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn dated(&self, messages: &[Message]) -> Vec<Dated> {
        let at = self.clock.now();
        messages.iter().map(|message| Dated { message: message.clone(), at }).collect()
    }

    /// Changes a session that has `expected` messages, creating it if that is none.
    fn change(
        &self,
        id: &SessionId,
        expected: usize,
        change: impl FnOnce(&mut Kept),
    ) -> Result<(), StoreError> {
        let mut sessions = self.sessions();
        let actual = sessions.get(id).map_or(0, |kept| kept.current.len());
        if actual != expected {
            return Err(StoreError::Conflict { id: id.clone(), expected, actual });
        }
        let latest = sessions.values().map(|kept| kept.write).max().unwrap_or_default();
        let kept = sessions.entry(id.clone()).or_default();
        change(kept);
        let now = Some(self.clock.now());
        (kept.created, kept.updated) = (kept.created.or(now), now);
        kept.write = latest.saturating_add(1);
        Ok(())
    }
}

#[async_trait]
impl SessionStore for InMemorySessions {
    async fn load(&self, id: &SessionId) -> Result<Option<StoredSession>, StoreError> {
        Ok(self.sessions().get(id).map(|kept| {
            let messages = kept.current.iter().map(|it| it.message.clone()).collect();
            StoredSession::new(messages, kept.state.clone())
        }))
    }

    async fn append(
        &self,
        id: &SessionId,
        expected: usize,
        messages: &[Message],
        state: &SessionState,
    ) -> Result<(), StoreError> {
        let messages = self.dated(messages);
        self.change(id, expected, |kept| {
            kept.current.extend(messages);
            kept.state = state.clone();
        })
    }

    async fn compact(
        &self,
        id: &SessionId,
        expected: usize,
        messages: &[Message],
        state: &SessionState,
    ) -> Result<(), StoreError> {
        let messages = self.dated(messages);
        self.change(id, expected, |kept| {
            let old = std::mem::replace(&mut kept.current, messages);
            let is_gone = |it: &Dated| !kept.current.iter().any(|new| new.message == it.message);
            kept.replaced.extend(old.into_iter().filter(is_gone));
            kept.state = state.clone();
        })
    }

    async fn search(&self, query: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        let wanted: HashSet<String> = words(query).collect();
        let sessions = self.sessions();
        let mut found: Vec<(usize, SearchHit)> = sessions
            .iter()
            .flat_map(|(id, kept)| {
                kept.replaced.iter().chain(&kept.current).map(move |it| (id, it))
            })
            .filter_map(|(id, dated)| find(id, dated, &wanted))
            .collect();
        found.sort_by(|(left_score, left), (right_score, right)| {
            let best = right_score.cmp(left_score);
            best.then(right.at.cmp(&left.at)).then(right.message.cmp(&left.message))
        });
        Ok(found.into_iter().take(limit).map(|(_, hit)| hit).collect())
    }

    async fn lock(&self, id: &SessionId) -> Result<SessionLock, StoreError> {
        let mut locked = self.locked.lock().unwrap_or_else(PoisonError::into_inner);
        if !locked.insert(id.clone()) {
            return Err(StoreError::Locked(id.clone()));
        }
        Ok(SessionLock::new(Unlock { id: id.clone(), locked: Arc::clone(&self.locked) }))
    }

    async fn list(&self, options: &ListOptions) -> Result<Vec<SessionInfo>, StoreError> {
        let sessions = self.sessions();
        let mut infos: Vec<(u64, SessionInfo)> = sessions
            .iter()
            .filter(|(id, _)| id.as_str().starts_with(&options.prefix))
            .map(|(id, kept)| {
                let info = SessionInfo::new(id.clone(), kept.current.len());
                (kept.write, SessionInfo { created: kept.created, updated: kept.updated, ..info })
            })
            .collect();
        infos.sort_by_key(|(last, _)| std::cmp::Reverse(*last));
        let infos = infos.into_iter().map(|(_, info)| info);
        Ok(infos.skip(options.skip).take(options.limit).collect())
    }

    async fn delete(&self, id: &SessionId) -> Result<bool, StoreError> {
        let _lock = self.lock(id).await?;
        Ok(self.sessions().remove(id).is_some())
    }
}

/// Lets the next writer in when it is dropped.
struct Unlock {
    id: SessionId,
    locked: Arc<Mutex<HashSet<SessionId>>>,
}

impl Drop for Unlock {
    fn drop(&mut self) {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

/// Returns how many of the `wanted` words a message has, and the hit, if it has one.
fn find(id: &SessionId, dated: &Dated, wanted: &HashSet<String>) -> Option<(usize, SearchHit)> {
    let message = &dated.message;
    if !matches!(message.role, Role::User | Role::Assistant) {
        return None;
    }
    let text = message.text();
    let present: HashSet<String> = words(&text).collect();
    let score = wanted.intersection(&present).count();
    let mut hit = SearchHit::new(id.clone(), message.id, message.role, snippet(&text, wanted));
    hit.at = Some(dated.at);
    (0 < score).then_some((score, hit))
}

/// Returns the words around the first of the `wanted` ones, on one line.
fn snippet(text: &str, wanted: &HashSet<String>) -> String {
    const BEFORE: usize = 8;
    const WORDS: usize = 24;
    let pieces: Vec<&str> = text.split_whitespace().collect();
    let is_wanted = |piece: &&str| words(piece).any(|word| wanted.contains(&word));
    let place = pieces.iter().position(is_wanted).unwrap_or(0);
    let start = place.saturating_sub(BEFORE);
    let shown: Vec<&str> = pieces.into_iter().skip(start).take(WORDS).collect();
    shown.join(" ")
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{message::MessageId, testing::ManualClock};

    #[tokio::test]
    async fn hits_with_more_words_come_first_and_then_the_latest() {
        let clock = ManualClock::default();
        let store = InMemorySessions::default().with_clock(clock.clone());
        for (session, text) in [("a", "red apple"), ("b", "green apple"), ("c", "red apple pie")] {
            let message = Message::user(text).with_id(MessageId(1));
            let state = SessionState::default();
            store.append(&SessionId::new(session), 0, &[message], &state).await.unwrap();
            clock.advance(Duration::from_secs(1));
        }

        let hits = store.search("Red, apple!", 9).await.unwrap();

        let order: Vec<_> = hits.iter().map(|hit| hit.session.as_str()).collect();
        assert_eq!(order, ["c", "a", "b"]);
    }

    #[tokio::test]
    async fn a_snippet_shows_what_was_found() {
        let store = InMemorySessions::default();
        let text = format!("{} needle {}", "hay ".repeat(90), "hay ".repeat(90));
        let state = SessionState::default();
        store.append(&SessionId::new("a"), 0, &[Message::user(text)], &state).await.unwrap();

        let hits = store.search("needle", 1).await.unwrap();

        let snippets: Vec<_> = hits.iter().map(|hit| hit.snippet.as_str()).collect();
        assert!(matches!(snippets[..], [it] if it.contains("needle") && it.len() < 200));
    }
}

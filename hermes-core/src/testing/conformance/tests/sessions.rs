use async_trait::async_trait;

use super::breaks;
use crate::{
    message::Message,
    store::{
        ListOptions, SearchHit, SessionId, SessionInfo, SessionLock, SessionState, SessionStore,
        StoreError, StoredSession,
    },
    testing::{InMemorySessions, conformance},
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    OverwritesConflicts,
    DropsUsage,
    KeepsTheOldState,
    ForgetsWhatItCompacts,
    LetsEverybodyIn,
    NeverUnlocks,
    IgnoresLimits,
    ChokesOnQuotes,
    FindsResults,
    ListsOthers,
    KeepsWhatItDeletes,
    FindsWhatItDeleted,
    OffersNoMore,
}

#[derive(Debug)]
struct Faulty {
    inner: InMemorySessions,
    fault: Fault,
}

impl Faulty {
    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    async fn len(&self, id: &SessionId) -> usize {
        self.inner.load(id).await.unwrap().map_or(0, |it| it.messages.len())
    }
}

#[async_trait]
impl SessionStore for Faulty {
    async fn load(&self, id: &SessionId) -> Result<Option<StoredSession>, StoreError> {
        let mut loaded = self.inner.load(id).await?;
        if let Some(session) = &mut loaded
            && self.has(Fault::DropsUsage)
        {
            let bare = |it: &Message| Message::new(it.role, it.parts.clone()).with_id(it.id);
            session.messages = session.messages.iter().map(bare).collect();
        }
        Ok(loaded)
    }

    async fn append(
        &self,
        id: &SessionId,
        expected: usize,
        messages: &[Message],
        state: &SessionState,
    ) -> Result<(), StoreError> {
        let expected =
            if self.has(Fault::OverwritesConflicts) { self.len(id).await } else { expected };
        if self.has(Fault::KeepsTheOldState)
            && let Some(old) = self.inner.load(id).await?
        {
            return self.inner.append(id, expected, messages, &old.state).await;
        }
        self.inner.append(id, expected, messages, state).await
    }

    async fn compact(
        &self,
        id: &SessionId,
        expected: usize,
        messages: &[Message],
        state: &SessionState,
    ) -> Result<(), StoreError> {
        self.inner.compact(id, expected, messages, state).await
    }

    async fn search(&self, query: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        if self.has(Fault::ChokesOnQuotes) && query.contains('"') {
            return Err(StoreError::Backend("unterminated string".into()));
        }
        let limit = if self.has(Fault::IgnoresLimits) { usize::MAX } else { limit };
        let mut hits = self.inner.search(query, limit).await?;
        if self.has(Fault::ForgetsWhatItCompacts) {
            let mut current = Vec::new();
            for hit in hits {
                let loaded = self.inner.load(&hit.session).await?;
                let messages = loaded.map(|it| it.messages).unwrap_or_default();
                if messages.iter().any(|it| it.id == hit.message) {
                    current.push(hit);
                }
            }
            hits = current;
        }
        if self.has(Fault::FindsResults) && query == "axolotl" {
            hits.extend(hits.last().cloned());
        }
        Ok(hits)
    }

    async fn lock(&self, id: &SessionId) -> Result<SessionLock, StoreError> {
        match self.fault {
            Fault::LetsEverybodyIn => Ok(SessionLock::new(())),
            Fault::NeverUnlocks => {
                let lock = self.inner.lock(id).await?;
                std::mem::forget(lock);
                Ok(SessionLock::new(()))
            }
            _ => self.inner.lock(id).await,
        }
    }

    async fn list(&self, options: &ListOptions) -> Result<Vec<SessionInfo>, StoreError> {
        match self.fault {
            Fault::OffersNoMore => Err(StoreError::Unsupported("list sessions")),
            Fault::ListsOthers => self.inner.list(&options.clone().prefix("")).await,
            _ => self.inner.list(options).await,
        }
    }

    async fn delete(&self, id: &SessionId) -> Result<bool, StoreError> {
        match self.fault {
            Fault::OffersNoMore => Err(StoreError::Unsupported("delete sessions")),
            Fault::KeepsWhatItDeletes => {
                let _lock = self.inner.lock(id).await?;
                Ok(self.inner.load(id).await?.is_some())
            }
            Fault::FindsWhatItDeleted => {
                let stored = self.inner.load(id).await?;
                let was_there = self.inner.delete(id).await?;
                let copy = SessionId::new("suite-copy");
                for message in stored.map(|it| it.messages).unwrap_or_default() {
                    let state = SessionState::default();
                    let message = Message::user(format!("bilby {}", message.text()));
                    self.inner.append(&copy, 0, &[message], &state).await?;
                }
                Ok(was_there)
            }
            _ => self.inner.delete(id).await,
        }
    }
}

async fn check(fault: Fault, promise: &str) {
    let inner = InMemorySessions::default();
    breaks(promise, conformance::session_store(&Faulty { inner, fault })).await;
}

#[tokio::test]
async fn a_conflict_that_is_overwritten_is_found() {
    check(Fault::OverwritesConflicts, "append-only").await;
}

#[tokio::test]
async fn lost_fields_are_found() {
    check(Fault::DropsUsage, "faithful").await;
}

#[tokio::test]
async fn an_old_state_is_found() {
    check(Fault::KeepsTheOldState, "faithful").await;
}

#[tokio::test]
async fn forgotten_messages_are_found() {
    check(Fault::ForgetsWhatItCompacts, "nothing is forgotten").await;
}

#[tokio::test]
async fn a_lock_for_everybody_is_found() {
    check(Fault::LetsEverybodyIn, "one writer").await;
}

#[tokio::test]
async fn a_lock_for_ever_is_found() {
    check(Fault::NeverUnlocks, "a dropped lock lets in").await;
}

#[tokio::test]
async fn an_ignored_limit_is_found() {
    check(Fault::IgnoresLimits, "limit is not kept").await;
}

#[tokio::test]
async fn a_query_that_breaks_the_search_is_found() {
    check(Fault::ChokesOnQuotes, "no query is an error").await;
}

#[tokio::test]
async fn a_hit_too_many_is_found() {
    check(Fault::FindsResults, "search").await;
}

#[tokio::test]
async fn a_list_of_all_is_found() {
    check(Fault::ListsOthers, "list").await;
}

#[tokio::test]
async fn what_is_kept_although_deleted_is_found() {
    check(Fault::KeepsWhatItDeletes, "gone is gone: still loaded").await;
}

#[tokio::test]
async fn what_is_found_although_deleted_is_found() {
    check(Fault::FindsWhatItDeleted, "gone is gone: what others said").await;
}

#[tokio::test]
async fn a_store_may_leave_out_lists_and_deletion() {
    let inner = InMemorySessions::default();

    conformance::session_store(&Faulty { inner, fault: Fault::OffersNoMore }).await;
}

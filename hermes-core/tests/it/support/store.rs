//! A store that gives trouble.

use std::{
    fmt,
    ops::Range,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use hermes_core::{
    async_trait,
    message::Message,
    store::{
        SearchHit, SessionId, SessionLock, SessionState, SessionStore, StoreError, StoredSession,
    },
    testing::InMemorySessions,
};

/// What is asked before messages are appended: it lets them through, fails or panics.
type Trouble = dyn Fn(&[Message], &SessionState) -> Result<(), StoreError> + Send + Sync;

/// Conversations in memory, to which something may not let new messages through.
#[derive(Clone)]
pub(crate) struct Troubled {
    inner: InMemorySessions,
    trouble: Arc<Trouble>,
}

impl Troubled {
    /// Creates a store that asks `trouble` first, and returns it with what it keeps.
    pub(crate) fn new(
        trouble: impl Fn(&[Message], &SessionState) -> Result<(), StoreError> + Send + Sync + 'static,
    ) -> (Self, InMemorySessions) {
        let inner = InMemorySessions::default();
        (Self { inner: inner.clone(), trouble: Arc::new(trouble) }, inner)
    }

    /// Creates a store that fails the writes which `plan` says.
    pub(crate) fn failing(plan: &Plan) -> (Self, InMemorySessions) {
        Self::failing_or_panicking(plan, &Plan::default())
    }

    /// Creates a store that panics at the writes which `plan` says.
    pub(crate) fn panicking(plan: &Plan) -> (Self, InMemorySessions) {
        Self::failing_or_panicking(&Plan::default(), plan)
    }

    /// Creates a store that fails the writes which `fails` says and panics at those which `panics` says.
    pub(crate) fn failing_or_panicking(fails: &Plan, panics: &Plan) -> (Self, InMemorySessions) {
        let (fails, panics) = (fails.clone(), panics.clone());
        Self::new(move |_, _| {
            let is_failed = fails.is_hit();
            assert!(!panics.is_hit(), "as asked");
            if is_failed { Err(full()) } else { Ok(()) }
        })
    }
}

impl fmt::Debug for Troubled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Troubled")
    }
}

/// At which writes there is trouble, counted from 0. A clone shares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan(Arc<(AtomicUsize, Mutex<Range<usize>>)>);

impl Plan {
    /// Plans trouble at the writes of `range`.
    pub(crate) fn at(range: Range<usize>) -> Self {
        Self(Arc::new((AtomicUsize::new(0), Mutex::new(range))))
    }

    /// Plans trouble at the next `count` writes after another `after`, and at no other.
    pub(crate) fn next(&self, after: usize, count: usize) {
        let start = self.0.0.load(Ordering::SeqCst) + after;
        *self.0.1.lock().unwrap() = start..start + count;
    }

    fn is_hit(&self) -> bool {
        let number = self.0.0.fetch_add(1, Ordering::SeqCst);
        self.0.1.lock().unwrap().contains(&number)
    }
}

/// What a store says that has no room.
pub(crate) fn full() -> StoreError {
    StoreError::Backend("disk full".into())
}

#[async_trait]
impl SessionStore for Troubled {
    async fn load(&self, id: &SessionId) -> Result<Option<StoredSession>, StoreError> {
        self.inner.load(id).await
    }

    async fn append(
        &self,
        id: &SessionId,
        expected: usize,
        messages: &[Message],
        state: &SessionState,
    ) -> Result<(), StoreError> {
        (self.trouble)(messages, state)?;
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
        self.inner.search(query, limit).await
    }

    async fn lock(&self, id: &SessionId) -> Result<SessionLock, StoreError> {
        self.inner.lock(id).await
    }
}

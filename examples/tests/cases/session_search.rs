//! The area `session-search`: full-text search over past conversations.

use std::{path::Path, sync::Arc};

use hermes_core::{
    message::Message,
    store::{SessionId, SessionState, SessionStore},
    testing::InMemorySessions,
};

use crate::{check::Checks, read::Node};

/// Runs one case.
#[expect(clippy::unused_async, reason = "an area like the others")]
pub(crate) async fn run(_: &Node<'_>, _: &mut Checks) -> Result<(), String> {
    Err("the session store with full-text search is not built yet".to_owned())
}

/// The store of a home, and what stands in it.
#[derive(Clone)]
pub(crate) struct Database(Arc<InMemorySessions>);

impl Database {
    pub(crate) fn open(_: &Path) -> Self {
        Self(Arc::default())
    }

    pub(crate) fn store(&self) -> Arc<dyn SessionStore> {
        self.0.clone()
    }

    pub(crate) async fn append(&self, id: &SessionId, messages: &[Message]) -> Result<(), String> {
        let state = SessionState::default();
        self.0.append(id, 0, messages, &state).await.map_err(|err| err.to_string())
    }

    /// Returns how many sessions and how many messages there are.
    pub(crate) async fn rows(&self) -> [usize; 2] {
        let ids = self.0.ids();
        let mut messages = 0;
        for id in &ids {
            messages += self.messages_of(id).await.unwrap_or_default();
        }
        [ids.len(), messages]
    }

    pub(crate) async fn messages_of(&self, id: &SessionId) -> Option<usize> {
        Some(self.0.load(id).await.ok()??.messages.len())
    }
}

//! Where a run keeps its conversation: with its session, or nowhere.

use std::sync::Arc;

use super::{Turn, conversation::Conversation};
use crate::{message::Usage, session::Shared, store::StoreError};

/// Where a run keeps its conversation.
#[derive(Debug)]
pub(crate) enum Keep {
    /// With the session, and in its store if it has one.
    Session(Arc<Shared>),
    /// Nowhere: a fork leaves no trace but its outcome.
    Nowhere,
}

impl Keep {
    /// Stores what is new in `conversation`, and the state of `turn`.
    pub(crate) async fn save(
        &self,
        conversation: &Conversation,
        turn: &Turn,
        usage: Usage,
    ) -> Result<(), StoreError> {
        match self {
            Self::Session(shared) => shared.save(conversation, Some(turn), usage).await,
            Self::Nowhere => Ok(()),
        }
    }

    /// Returns what was sent to the session since the last call.
    pub(crate) fn take_steered(&self) -> Vec<String> {
        match self {
            Self::Session(shared) => shared.take_steered(),
            Self::Nowhere => Vec::new(),
        }
    }
}

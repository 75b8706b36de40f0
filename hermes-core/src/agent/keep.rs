//! Where a run keeps its conversation: with its session, or nowhere.

use std::sync::Arc;

use super::{Turn, conversation::Conversation};
use crate::{
    compress::CompressState, cost::Spending, message::Message, session::Shared, store::StoreError,
    tool::Seen,
};

/// Where a run keeps its conversation.
#[derive(Debug)]
pub(crate) enum Keep {
    /// With the session, and in its store if it has one.
    Session(Arc<Shared>),
    /// Nowhere: a fork leaves no trace but its outcome.
    Nowhere,
}

impl Keep {
    /// Returns whether the conversation outlives the process.
    pub(crate) fn is_stored(&self) -> bool {
        matches!(self, Self::Session(shared) if shared.recipe.sessions.is_some())
    }

    /// Stores what is new in `conversation`, and the state of `turn`.
    pub(crate) async fn save(
        &self,
        conversation: &Conversation,
        turn: &Turn,
        spending: Spending,
    ) -> Result<(), StoreError> {
        match self {
            Self::Session(shared) => shared.save(conversation, Some(turn), spending).await,
            Self::Nowhere => Ok(()),
        }
    }

    /// Puts `messages` in the place of the conversation, here and in the store.
    pub(crate) async fn compact(
        &self,
        conversation: &Conversation,
        messages: Vec<Message>,
        turn: &Turn,
        spending: Spending,
    ) -> Result<(), StoreError> {
        if let Self::Session(shared) = self {
            shared.compact(conversation, &messages, turn, spending).await?;
        }
        conversation.replace(messages);
        Ok(())
    }

    /// Notes what the turn took so far.
    pub(crate) fn note_taken(&self, spending: Spending) {
        if let Self::Session(shared) = self {
            shared.note_taken(spending);
        }
    }

    /// Notes what the session remembers of its compressions.
    pub(crate) fn set_compress_state(&self, state: &CompressState) {
        if let Self::Session(shared) = self {
            shared.set_compress_state(state.clone());
        }
    }

    /// Forgets what was shown in messages; what the frozen prompt shows stays.
    pub(crate) fn forget_seen(&self, seen: &Seen) {
        seen.clear();
        if let Self::Session(shared) = self {
            shared.see_prompt();
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

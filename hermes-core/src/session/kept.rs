//! A conversation in its store.

use super::Shared;
use crate::{
    agent::{Conversation, Turn},
    cost::Spending,
    message::Message,
    store::{SessionState, StoreError},
};

impl Shared {
    /// Locks the session in the store, once.
    pub(crate) async fn lock(&self) -> Result<(), StoreError> {
        let Some(store) = &self.recipe.sessions else { return Ok(()) };
        if self.live().lock.is_none() {
            let lock = store.lock(&self.id).await?;
            self.live().lock = Some(lock);
        }
        Ok(())
    }

    /// Stores what is new in the conversation, and the session's state with `turn` in it.
    pub(crate) async fn save(
        &self,
        conversation: &Conversation,
        turn: Option<&Turn>,
        spending: Spending,
    ) -> Result<(), StoreError> {
        let Some(store) = &self.recipe.sessions else { return Ok(()) };
        let (saved, new) = conversation.unsaved();
        let state = self.state(conversation, turn, spending);
        store.append(&self.id, saved, &new, &state).await?;
        conversation.mark_saved(saved.saturating_add(new.len()));
        Ok(())
    }

    /// Stores `messages` in the place of the conversation, whose own messages stay searchable.
    pub(crate) async fn compact(
        &self,
        conversation: &Conversation,
        messages: &[Message],
        turn: &Turn,
        spending: Spending,
    ) -> Result<(), StoreError> {
        let Some(store) = &self.recipe.sessions else { return Ok(()) };
        let (saved, new) = conversation.unsaved();
        let state = self.state(conversation, Some(turn), spending);
        if !new.is_empty() {
            store.append(&self.id, saved, &new, &state).await?;
        }
        let count = saved.saturating_add(new.len());
        store.compact(&self.id, count, messages, &state).await
    }

    pub(super) fn state(
        &self,
        conversation: &Conversation,
        turn: Option<&Turn>,
        spending: Spending,
    ) -> SessionState {
        let mut state = self.live().state.clone();
        state.seen = self.seen.snapshot();
        state.grants = self.grants.snapshot();
        state.last_message = conversation.last_id();
        state.turn = turn.cloned();
        state.spending += spending;
        let forks = self.tally.read();
        (state.reviews, state.delegated) = (forks.reviews, forks.delegated);
        state
    }
}

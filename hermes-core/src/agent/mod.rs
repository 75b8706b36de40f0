//! The agent: a recipe from which conversations are started, and the loop that runs their turns.

mod budget;
mod builder;
mod recipe;
mod reply;

mod turn;

pub mod hook;

mod approve;
mod conversation;
mod dispatch;
mod fit;
mod keep;
mod meter;
mod repeat;
mod room;
mod round;
mod run;

mod child;
mod finish;
mod held;

mod event;
mod tasks;
mod trace;
mod unheard;

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::Arc,
};

pub use self::{
    budget::SessionLimits,
    builder::{AgentBuilder, BuildError, Extension},
    event::{AgentError, AgentEvent, Finish, FinishedTurn},
    reply::{Reply, TurnInput},
    tasks::ReviewHandle,
    turn::{Limits, Outcome, Step, Turn},
};
pub(crate) use self::{
    budget::{Purse, Tally},
    conversation::Conversation,
    dispatch::Events,
    event::describe,
    finish::{Start, run_turn, start_review},
    held::decide_held,
    recipe::Recipe,
    round::{has_result, interrupted, settled},
    unheard::{Unheard, Waiting},
};
use crate::{
    prompt::{self, Section},
    provider::Provider,
    review::ReviewReport,
    session::Session,
    store::{SessionId, StoreError, StoredSession},
    tool::ToolRegistry,
};

/// An agent: what conversations with it are made of. Cloning it copies a pointer.
#[derive(Clone, Debug)]
pub struct Agent(Arc<Recipe>);

impl Agent {
    /// Starts building an agent that talks to `provider`.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "testing")]
    /// # fn main() -> Result<(), hermes_core::agent::BuildError> {
    /// use hermes_core::{Agent, testing::ScriptedProvider};
    ///
    /// let agent = Agent::builder(ScriptedProvider::new().say("hello"))
    ///     .model("scripted")
    ///     .identity("You keep a small shop's books.")
    ///     .max_requests(30)
    ///     .build()?;
    /// # let _ = agent;
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "testing"))]
    /// # fn main() {}
    /// ```
    pub fn builder(provider: impl Provider + 'static) -> AgentBuilder {
        AgentBuilder::new(Arc::new(provider))
    }

    fn new(recipe: Recipe) -> Self {
        Self(Arc::new(recipe))
    }

    /// Starts a conversation under an id of its own.
    pub fn session(&self) -> Session {
        self.session_as(SessionId::new(format!("session-{:016x}", random())))
    }

    /// Starts a conversation called `id`. If the store already has one of that name, its first turn
    /// fails; use [`resume`](Self::resume) to go on with it, or [`open`](Self::open) for either.
    pub fn session_as(&self, id: SessionId) -> Session {
        Session::start(Arc::clone(&self.0), id)
    }

    /// Goes on with the conversation called `id`, `None` if the store has none or there is no store.
    ///
    /// Warnings that came up in it where nobody listened, such as in a review after its last turn, are
    /// told with its next turn that is listened to. The agent keeps them in memory, 64 of each of the
    /// last 256 conversations that have some.
    ///
    /// A turn that was under way when its process ended can be brought to its end by
    /// [`Session::continue_turn`]. With the next message, or without a stored turn, it is settled
    /// instead: calls that had no result get one that says so.
    ///
    /// # Errors
    ///
    /// - [`StoreError::Locked`] if somebody else writes it.
    /// - [`StoreError::Backend`] if it cannot be read.
    pub async fn resume(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        let Some(store) = &self.0.sessions else { return Ok(None) };
        let lock = store.lock(id).await?;
        let Some(stored) = store.load(id).await? else { return Ok(None) };
        Ok(Some(Session::restore(Arc::clone(&self.0), id.clone(), stored, Some(lock))))
    }

    /// Goes on with the conversation called `id` if the store has it, and starts it otherwise, as
    /// without a store. Nobody else can begin one of that name meanwhile.
    ///
    /// # Errors
    ///
    /// As [`resume`](Self::resume).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "testing")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hermes_core::{
    ///     Agent,
    ///     store::SessionId,
    ///     testing::{InMemorySessions, ScriptedProvider},
    /// };
    ///
    /// let model = ScriptedProvider::new().say("Hello!").say("Hello again!");
    /// let agent = Agent::builder(model).model("m").sessions(InMemorySessions::default()).build()?;
    /// let id = SessionId::new("user-7/monday");
    ///
    /// for messages in [2, 4] {
    ///     let session = agent.open(&id).await?;
    ///     session.send("Hi.").await?;
    ///     assert_eq!(session.history().len(), messages);
    ///     session.close().await;
    /// }
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "testing"))]
    /// # fn main() {}
    /// ```
    pub async fn open(&self, id: &SessionId) -> Result<Session, StoreError> {
        let Some(store) = &self.0.sessions else { return Ok(self.session_as(id.clone())) };
        let lock = store.lock(id).await?;
        let stored = store.load(id).await?;
        if stored.is_none() {
            self.0.waiting.forget(id);
        }
        let stored = stored.unwrap_or_default();
        Ok(Session::restore(Arc::clone(&self.0), id.clone(), stored, Some(lock)))
    }

    /// Goes on from a conversation that the host keeps itself. Conversations that are not one need ids that
    /// differ: what the next turn warns of goes by them.
    pub fn adopt(&self, id: SessionId, stored: StoredSession) -> Session {
        Session::restore(Arc::clone(&self.0), id, stored, None)
    }

    /// Returns the tools of the agent.
    pub fn tools(&self) -> &ToolRegistry {
        &self.0.registry
    }

    /// Reads the system prompt that a conversation started now would get, with what the host should
    /// know about it.
    pub async fn system_prompt(&self) -> Section {
        let names: Vec<&str> = self.0.registry.names().collect();
        prompt::assemble(&self.0.sections, &names).await
    }

    /// Returns the reports of the latest reviews, oldest first, at most 64.
    pub fn reports(&self) -> Vec<Arc<ReviewReport>> {
        self.0.reports.all()
    }

    /// Waits until no turn and no review is under way.
    pub async fn settled(&self) {
        self.0.tasks.settled().await;
    }

    /// Cancels all turns and reviews, waits for their end, and takes no more.
    pub async fn shutdown(&self) {
        self.0.tasks.shutdown().await;
    }
}

/// Returns a number that differs from call to call, for ids.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

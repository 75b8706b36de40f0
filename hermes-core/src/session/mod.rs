//! One conversation: its history, its frozen prompt, and the turns that are run in it.

mod frozen;
mod kept;
mod shared;
mod spent;
mod turns;

use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub(crate) use self::shared::Shared;
use self::shared::{HeldCalls, Live};
use crate::{
    agent::{
        AgentError, Conversation, Recipe, Reply, ReviewHandle, Start, Step, Tally, Turn, TurnInput,
        Unheard, decide_held, interrupted, run_turn, start_review,
    },
    approval::{Answer, ApprovalRequest, Grant, Grants},
    cost::Spending,
    message::{History, Usage},
    review::ReviewTask,
    store::{Counts, SessionId, SessionLock, SessionState, StoredSession},
    tool::{Extensions, Seen, ToolOutput},
};

/// One conversation with an agent. Cloning it copies a handle to the same conversation.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "testing")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hermes_core::{Agent, testing::ScriptedProvider};
///
/// let agent = Agent::builder(ScriptedProvider::new().say("Hello!")).model("scripted").build()?;
/// let session = agent.session();
///
/// let turn = session.send("Hi.").await?;
///
/// assert_eq!(turn.text, "Hello!");
/// assert_eq!(session.history().len(), 2);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "testing"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct Session(Arc<Shared>);

impl Session {
    pub(crate) fn start(recipe: Arc<Recipe>, id: SessionId) -> Self {
        let stored = StoredSession::new(Vec::new(), SessionState::default());
        // Without a store nothing keeps two conversations of one name apart.
        let unheard = recipe.sessions.as_ref().map(|_| recipe.waiting.of(id.clone()));
        Self::of(recipe, id, stored, (None, unheard.unwrap_or_default()))
    }

    /// Goes on with what was stored. Without a turn that can be continued open calls are settled.
    pub(crate) fn restore(
        recipe: Arc<Recipe>,
        id: SessionId,
        stored: StoredSession,
        lock: Option<SessionLock>,
    ) -> Self {
        let unheard = recipe.waiting.of(id.clone());
        Self::of(recipe, id, stored, (lock, unheard))
    }

    fn of(
        recipe: Arc<Recipe>,
        id: SessionId,
        stored: StoredSession,
        (lock, unheard): (Option<SessionLock>, Unheard),
    ) -> Self {
        let conversation = Conversation::of(Arc::new(stored.messages));
        let is_over = stored.state.turn.is_none();
        let seen = Seen::restore(stored.state.seen.iter().cloned());
        let grants = Grants::restore(stored.state.grants.clone());
        let tally = Tally::new(stored.state.reviews, stored.state.delegated);
        let mut live = Live { state: stored.state, lock, ..Live::default() };
        if is_over {
            live.settle(&conversation, interrupted);
            live.last.is_counted = 0 < live.state.turns;
        }
        let held = HeldCalls { token: recipe.tasks.child_token(), tracker: TaskTracker::default() };
        let (live, idle) = (Mutex::new(live), Notify::new());
        Self(Arc::new(Shared {
            recipe,
            id,
            conversation,
            seen,
            tally,
            grants,
            unheard,
            live,
            idle,
            held,
        }))
    }

    /// Returns the session's id, by which it can be resumed.
    pub fn id(&self) -> &SessionId {
        &self.0.id
    }

    /// Returns the messages so far. What comes later does not show in what was returned.
    pub fn history(&self) -> History {
        self.0.conversation.history()
    }

    /// Returns the frozen system prompt; `None` before the first turn has read it.
    pub fn system_prompt(&self) -> Option<Arc<str>> {
        self.0.live().state.system.clone()
    }

    /// Returns the counts that reviews go by.
    pub fn counts(&self) -> Counts {
        self.0.live().state.counts
    }

    /// Returns what was allowed for the rest of the conversation.
    pub fn grants(&self) -> Vec<Grant> {
        self.0.grants.snapshot()
    }

    /// Takes back what was allowed for the rest of the conversation; from now on it is asked for again.
    pub fn revoke_grants(&self) {
        self.0.grants.clear();
    }

    /// Returns the tokens used so far, those of reviews and sub-agents not counted.
    pub fn usage(&self) -> Usage {
        self.spending().usage
    }

    /// Returns what this conversation took so far, its reviews and sub-agents not counted.
    pub fn spending(&self) -> Spending {
        self.0.live().state.spending
    }

    /// Returns what the reviews of this conversation took. What one takes that ends after the last
    /// turn is not stored.
    pub fn review_spending(&self) -> Spending {
        self.0.tally.read().reviews
    }

    /// Returns what the sub-agents of this conversation took.
    pub fn delegated_spending(&self) -> Spending {
        self.0.tally.read().delegated
    }

    /// Starts a turn with `message` and returns the reply: a stream of events, and a future of the
    /// finished turn.
    ///
    /// The turn runs as a task of its own. Dropping the reply cancels it; the conversation is then
    /// settled and can go on.
    ///
    /// The reply fails with
    ///
    /// - [`AgentError::Busy`] if a turn is already under way,
    /// - [`AgentError::Closed`] if the session or the agent has been closed,
    /// - [`AgentError::NoRuntime`] outside of a tokio runtime,
    /// - [`AgentError::NotInput`] if a part of the message is a call, a result or reasoning,
    /// - [`AgentError::Provider`] and [`AgentError::Store`] if the turn itself fails.
    pub fn send(&self, message: impl Into<TurnInput>) -> Reply {
        let input = message.into();
        if !input.is_sayable() {
            return Reply::failed(AgentError::NotInput);
        }
        match self.0.begin() {
            Ok(token) => self.run(Start::Message(input), token),
            Err(err) => Reply::failed(err),
        }
    }

    /// Returns the step at which a turn of this conversation was broken off, `None` if none was.
    ///
    /// It is the end of a process that breaks a turn off; cancelled and failed turns are over.
    pub fn broken_off(&self) -> Option<Step> {
        let live = self.0.live();
        let is_idle = live.running.is_none();
        live.state.turn.as_ref().filter(|_| is_idle).map(Turn::next_step)
    }

    /// Brings the turn that was [broken off](Self::broken_off) to its end, from the step at which it
    /// was, with `extensions` for its tools.
    ///
    /// Calls that were under way when the process ended run again if their tool says that they
    /// [may](crate::tool::ToolSpec::may_run_again); of the others the model is told that they may have
    /// had an effect. Results that were stored are used. What the finished turn says of calls, changes
    /// and usage is that of this process; requests and rounds are those of the whole turn.
    ///
    /// The reply fails with [`AgentError::NoTurn`] if there is no such turn, and as that of
    /// [`send`](Self::send).
    pub fn continue_turn(&self, extensions: Extensions) -> Reply {
        let Some(turn) = self.0.live().state.turn.clone() else {
            return Reply::failed(AgentError::NoTurn);
        };
        match self.0.begin() {
            Ok(token) => self.run(Start::Continue(Box::new(turn), extensions), token),
            Err(err) => Reply::failed(err),
        }
    }

    /// Runs the last turn again if it brought no answer, because it failed or was cancelled, with
    /// `extensions` for its tools and without its message being sent again.
    ///
    /// It goes on from the history as the turn left it: results that are there are not asked for again,
    /// and of an answer that was broken off the model is asked to give it once more. If the answer is
    /// there and could not be stored, it is stored and returned. The turn keeps its
    /// number and whom it is on behalf of, and has new
    /// [`Limits`](crate::agent::Limits). What the finished turn says of calls,
    /// changes and usage is that of this attempt. A turn that was [broken off](Self::broken_off) by
    /// the end of its process is continued.
    ///
    /// The reply fails with [`AgentError::NothingToRetry`] if the last turn has its answer or there was
    /// none, and as that of [`send`](Self::send).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "testing")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hermes_core::{
    ///     Agent,
    ///     provider::{ProviderError, ProviderErrorKind},
    ///     testing::ScriptedProvider,
    ///     tool::Extensions,
    /// };
    ///
    /// let down = ProviderError::new(ProviderErrorKind::ServerError, "down for a moment");
    /// let model = ScriptedProvider::new().fail(down).say("Hello!");
    /// let session = Agent::builder(model).model("scripted").build()?.session();
    ///
    /// let mut turn = session.send("Hi.").await;
    /// if turn.is_err() {
    ///     turn = session.retry(Extensions::default()).await;
    /// }
    ///
    /// assert_eq!(turn?.text, "Hello!");
    /// assert_eq!(session.history().len(), 2);
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "testing"))]
    /// # fn main() {}
    /// ```
    pub fn retry(&self, extensions: Extensions) -> Reply {
        if self.broken_off().is_some() {
            return self.continue_turn(extensions);
        }
        match self.0.begin() {
            Ok(token) if self.0.may_retry() => self.run(Start::Retry(extensions), token),
            Ok(_) => {
                self.0.end();
                Reply::failed(AgentError::NothingToRetry)
            }
            Err(err) => Reply::failed(err),
        }
    }

    fn run(&self, start: Start, token: CancellationToken) -> Reply {
        let (events, receiver) = mpsc::unbounded_channel();
        let (result, receives_result) = oneshot::channel();
        let shared = Arc::clone(&self.0);
        let turn = run_turn(shared, start, events, token.clone(), result);
        if self.0.recipe.tasks.spawn(turn) {
            let unheard = self.0.unheard.clone();
            return Reply::new(receiver, unheard, receives_result, token);
        }
        self.0.end();
        Reply::failed(Shared::not_spawned())
    }

    /// Carries out what was decided about a call that was [held](crate::approval::Approval::Hold), and
    /// returns its result as the model would have got it; the model itself hears of it by what you
    /// [`send`](Self::send) or [`steer`](Self::steer) next.
    ///
    /// It goes the way of a call in a turn: the decision is recorded with who made it, allowed for the
    /// session it covers later calls, hooks are asked before and after, results over the limit are cut or
    /// kept elsewhere, and the call and its changes are recorded under the turn and origin it was held in.
    /// A denied call gets a rejected result and is recorded as denied. Only events are not told.
    ///
    /// That it is decided on once is up to the caller. What is allowed for the session is stored with its
    /// next turn. Dropping the future cancels the call, as [`close`](Self::close) and
    /// [`Agent::shutdown`](crate::Agent::shutdown) do, which wait for its end.
    ///
    /// # Errors
    ///
    /// - [`AgentError::OtherSession`] if it was held in another session.
    /// - [`AgentError::HeldWrite`] if it is not the call that was held but the
    ///   [change](ApprovalRequest::change) it would have made: that waits with the
    ///   [held writes](crate::pending), on which [`HeldWrites`](crate::pending::HeldWrites) decide.
    /// - [`AgentError::Closed`] if this one is closed, [`AgentError::NoRuntime`] outside of a tokio runtime.
    /// - [`AgentError::Lost`] if something that the host put in panicked where that is not caught.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(all(feature = "testing", feature = "schema"))]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hermes_core::{
    ///     Agent,
    ///     agent::AgentEvent,
    ///     approval::{self, Approval, ApprovalRequest, NeedsApproval},
    ///     testing::ScriptedProvider,
    ///     tool::{self, Extensions},
    /// };
    ///
    /// let deploy = tool::from_fn("deploy", "Puts the site online.", |(), _| async { Ok("online") })
    ///     .configure(|spec| spec.with_approval(NeedsApproval::Always));
    /// let later = approval::from_fn(|_: ApprovalRequest| async { Approval::Hold });
    /// let model = ScriptedProvider::new().call("deploy", serde_json::json!({})).say("It waits.");
    /// let agent = Agent::builder(model).model("scripted").tool(deploy).approver(later).build()?;
    /// let session = agent.session();
    ///
    /// let mut reply = session.send("Deploy it.");
    /// let mut held = None;
    /// while let Some(event) = reply.next_event().await {
    ///     if let AgentEvent::CallHeld(request) = event {
    ///         held = Some(request);
    ///     }
    /// }
    /// reply.await?;
    ///
    /// let held = held.ok_or("nothing was held")?;
    /// let answer = Approval::AllowOnce.by("sam");
    /// let output = session.decide_held(&held, answer, Extensions::default()).await?;
    /// assert_eq!(output.content, "online");
    /// # Ok(())
    /// # }
    /// # #[cfg(not(all(feature = "testing", feature = "schema")))]
    /// # fn main() {}
    /// ```
    pub async fn decide_held(
        &self,
        held: &ApprovalRequest,
        answer: impl Into<Answer>,
        extensions: Extensions,
    ) -> Result<ToolOutput, AgentError> {
        decide_held(&self.0, held, answer.into(), extensions).await
    }

    /// Starts a review of the conversation now, whatever the counts say. They are consumed as by a
    /// review that was due.
    ///
    /// # Errors
    ///
    /// - [`AgentError::Busy`] if a turn or a review is under way, or a turn was broken off.
    /// - [`AgentError::Closed`] if the agent has been shut down.
    /// - [`AgentError::NoRuntime`] outside of a tokio runtime.
    pub async fn review(&self, task: ReviewTask) -> Result<ReviewHandle, AgentError> {
        let is_busy = {
            let live = self.0.live();
            live.running.is_some() || live.state.turn.is_some()
        };
        if is_busy || self.0.is_in_review() {
            return Err(AgentError::Busy);
        }
        start_review(&self.0, task, Extensions::default()).await
    }

    /// Hands `text` to the turn under way; it reaches the model after the calls that are running, or
    /// after the answer, which the model then goes on from. Without a turn it goes before the next, and
    /// so does what comes while the last answer is given that the limits of the turn allow: the turn
    /// ends with that answer. What has reached the model was told as
    /// [`AgentEvent::Steered`](crate::agent::AgentEvent::Steered).
    pub fn steer(&self, text: impl Into<String>) {
        self.0.live().steered.push_back(text.into());
    }

    /// Cancels the turn under way, if one is. Its reply then ends, with what there was.
    pub fn cancel(&self) {
        if let Some(token) = &self.0.live().running {
            token.cancel();
        }
    }

    /// Waits until no turn is under way.
    pub async fn idle(&self) {
        loop {
            let notified = self.0.idle.notified();
            if self.0.live().running.is_none() {
                return;
            }
            notified.await;
        }
    }

    /// Cancels the turn under way and the held calls that run, waits for their end, and lets others
    /// write the session. Reviews go on; see [`Agent::settled`](crate::Agent::settled).
    pub async fn close(&self) {
        self.0.live().is_closed = true;
        self.cancel();
        self.0.held.token.cancel();
        self.idle().await;
        self.0.held.tracker.close();
        self.0.held.tracker.wait().await;
        self.0.live().lock = None;
    }
}

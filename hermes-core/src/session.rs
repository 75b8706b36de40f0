//! One conversation: its history, its frozen prompt, and the turns that are run in it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};

use crate::{
    agent::{
        AgentError, Conversation, Finish, Limits, Purse, Recipe, Reply, ReviewHandle, Start, Step,
        Tally, Turn, TurnInput, Unheard, decide_held, has_result, interrupted, run_turn, settled,
        start_review,
    },
    approval::{Answer, ApprovalRequest, Desk, Grant, Grants},
    compress::CompressState,
    cost::Spending,
    message::{Call, CallId, CallResult, History, Message, MessageId, Part, Role, Usage},
    prompt,
    provider::{Request, ToolChoice},
    review::ReviewTask,
    store::{Counts, SessionId, SessionLock, SessionState, StoreError, StoredSession},
    tool::{Extensions, Seen, ToolOutput, ToolSpec},
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

/// What the handles of a session and its runs share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) recipe: Arc<Recipe>,
    pub(crate) id: SessionId,
    pub(crate) conversation: Conversation,
    pub(crate) seen: Seen,
    pub(crate) tally: Tally,
    pub(crate) grants: Grants,
    /// What nobody has heard yet.
    pub(crate) unheard: Unheard,
    live: Mutex<Live>,
    idle: Notify,
    held: HeldCalls,
}

/// The held calls that run, apart from any turn.
#[derive(Debug)]
struct HeldCalls {
    /// Cancelled when the session is closed or the agent is shut down.
    token: CancellationToken,
    tracker: TaskTracker,
}

#[derive(Debug, Default)]
struct Live {
    /// What is stored beside the messages; `system` and `tools` are set by the first turn.
    state: SessionState,
    /// What the turn under way took so far, or the last one in all.
    taken: Spending,
    /// Whether that is part of what the session took.
    is_taken_counted: bool,
    /// The token of the turn under way.
    running: Option<CancellationToken>,
    steered: VecDeque<String>,
    review: Option<ReviewHandle>,
    lock: Option<SessionLock>,
    last: LastTurn,
    /// Calls that were interrupted, with their turn, and are to be recorded as such.
    interrupted: VecDeque<(u64, Call)>,
    is_closed: bool,
}

/// What this process knows of the last turn that had begun.
#[derive(Debug, Default)]
struct LastTurn {
    /// On whose behalf it was.
    by: Option<Arc<str>>,
    has_failed: bool,
    /// How it ended, also if it failed after that.
    finish: Option<Finish>,
    /// Whether it is part of the counts.
    is_counted: bool,
}

impl Live {
    /// Returns the system prompt and the tools, once they have been read.
    fn frozen(&self) -> Option<(Arc<str>, Arc<[ToolSpec]>)> {
        self.state.system.clone().zip(self.state.tools.clone())
    }

    /// Gives the calls that are open in `conversation` the results they have in the turn that was broken
    /// off, which is over then, and otherwise those that `lost` says.
    fn settle(&mut self, conversation: &Conversation, lost: fn(CallId) -> CallResult) {
        let broken = self.state.turn.take();
        let has_result = |call: &Call| broken.as_ref().is_some_and(|it| has_result(it, &call.id));
        let open = conversation.open().into_iter().filter(|call| !has_result(call));
        self.interrupted.extend(open.map(|call| (self.state.turns, call)));
        conversation.settle(|call| match &broken {
            Some(turn) => settled(turn, call),
            None => lost(call),
        });
    }
}

/// What the model is told of an answer that was broken off.
const AGAIN: &str = "Your answer was broken off. Give it once more, from its beginning.";

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
    /// number and whom it is on behalf of, and has new [`Limits`]. What the finished turn says of calls,
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

impl Shared {
    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a turn the one under way and returns its token.
    fn begin(&self) -> Result<CancellationToken, AgentError> {
        let mut live = self.live();
        if live.is_closed {
            return Err(AgentError::Closed);
        }
        if live.running.is_some() {
            return Err(AgentError::Busy);
        }
        let token = self.recipe.tasks.child_token();
        live.running = Some(token.clone());
        (live.taken, live.is_taken_counted) = (Spending::default(), false);
        Ok(token)
    }

    /// Notes that no turn is under way any more.
    pub(crate) fn end(&self) {
        self.live().running = None;
        self.idle.notify_waiters();
    }

    /// Returns what all requests of this conversation have in common, reading the prompt and the
    /// tools the first time, and the warnings that came up.
    pub(crate) async fn template(&self) -> (Request, Vec<String>) {
        let recipe = &self.recipe;
        let frozen = self.live().frozen();
        let (system, tools, warnings) = match frozen {
            Some((system, tools)) => (system, tools, Vec::new()),
            None => self.read_prompt().await,
        };
        let request = Request::new(recipe.model.clone(), Vec::new())
            .with_system(system)
            .with_tools(tools)
            .with_sampling(recipe.sampling.clone())
            .with_tool_choice(ToolChoice::Auto);
        (request, warnings)
    }

    /// Reads the prompt and the tools and freezes them, and returns them with the warnings that came
    /// up. If somebody else has read them meanwhile, that counts.
    async fn read_prompt(&self) -> (Arc<str>, Arc<[ToolSpec]>, Vec<String>) {
        let names: Vec<&str> = self.recipe.registry.names().collect();
        let prompt = prompt::assemble(&self.recipe.sections, &names).await;
        let (system, tools): (Arc<str>, _) = (prompt.text.into(), self.recipe.registry.specs());
        {
            let mut live = self.live();
            if let Some((system, tools)) = live.frozen() {
                return (system, tools, Vec::new());
            }
            live.state.system = Some(Arc::clone(&system));
            live.state.tools = Some(Arc::clone(&tools));
            live.state.shown = prompt.seen;
        }
        self.see_prompt();
        (system, tools, prompt.warnings)
    }

    /// Notes the versions that the frozen prompt shows as seen.
    pub(crate) fn see_prompt(&self) {
        for (name, version) in &self.live().state.shown {
            self.seen.note(name.as_str(), *version);
        }
    }

    /// Returns what the session remembers of its compressions.
    pub(crate) fn compress_state(&self) -> CompressState {
        self.live().state.compress.clone()
    }

    /// Notes what the session remembers of its compressions.
    pub(crate) fn set_compress_state(&self, state: CompressState) {
        self.live().state.compress = state;
    }

    /// Locks the session in the store, once.
    pub(crate) async fn lock(&self) -> Result<(), StoreError> {
        let Some(store) = &self.recipe.sessions else { return Ok(()) };
        if self.live().lock.is_none() {
            let lock = store.lock(&self.id).await?;
            self.live().lock = Some(lock);
        }
        Ok(())
    }

    /// Returns who is asked about calls of this conversation and its forks.
    pub(crate) fn desk(&self) -> Desk {
        Desk { approver: self.recipe.approver.clone(), grants: self.grants.clone() }
    }

    /// Lets a held call run and returns its token, and what it holds while it runs.
    pub(crate) fn begin_held(&self) -> Result<(CancellationToken, TaskTrackerToken), AgentError> {
        let live = self.live();
        if live.is_closed {
            return Err(AgentError::Closed);
        }
        Ok((self.held.token.child_token(), self.held.tracker.token()))
    }

    /// Returns why nothing can be started any more, or not from here.
    pub(crate) fn not_spawned() -> AgentError {
        let has_runtime = tokio::runtime::Handle::try_current().is_ok();
        if has_runtime { AgentError::Closed } else { AgentError::NoRuntime }
    }

    /// Notes that the turn under way, or the one that was continued, is over, and how it ended if it
    /// came to its end.
    pub(crate) fn end_turn(&self, finish: Option<&Finish>) {
        let mut live = self.live();
        live.state.turn = None;
        live.last.finish = finish.cloned();
    }

    /// Returns how the last turn ended, if it came to its end in this process.
    pub(crate) fn finish(&self) -> Option<Finish> {
        self.live().last.finish.clone()
    }

    /// Settles a turn that was lost; calls that nobody knows more of get the results that `lost` says.
    pub(crate) fn settle(&self, lost: fn(CallId) -> CallResult) {
        self.live().settle(&self.conversation, lost);
    }

    /// Returns the number of the latest turn, and the last message before it.
    pub(crate) fn turn(&self) -> (u64, MessageId) {
        let live = self.live();
        (live.state.turns, live.state.turn_start)
    }

    /// Starts the next turn with the message that `input` makes of what was sent before it. A turn
    /// that was broken off is settled.
    pub(crate) fn begin_turn(
        &self,
        by: Option<Arc<str>>,
        input: impl FnOnce(Vec<String>) -> Message,
    ) {
        let mut live = self.live();
        live.settle(&self.conversation, interrupted);
        live.last = LastTurn { by, ..LastTurn::default() };
        live.state.turns = live.state.turns.saturating_add(1);
        live.state.turn_start = self.conversation.last_id();
        let message = input(live.steered.drain(..).collect());
        self.conversation.push(message);
    }

    /// Returns whether the last turn brought no answer, or failed after its answer.
    fn may_retry(&self) -> bool {
        self.conversation.lacks_answer() || self.live().last.has_failed
    }

    /// Starts the last turn again and returns on whose behalf it is. An answer that was broken off
    /// stays where it is, and is asked for once more.
    pub(crate) fn begin_again(&self) -> Option<Arc<str>> {
        let by = {
            let mut live = self.live();
            // A conversation that was adopted may begin with a turn that this process did not.
            live.state.turns = live.state.turns.max(1);
            live.last.by.clone()
        };
        if !self.conversation.lacks_answer() {
            return by;
        }
        let again = self.conversation.has_part_of_answer();
        let again = again.then(|| Part::Context(AGAIN.to_owned()));
        let steered = self.take_steered();
        let steered = (!steered.is_empty()).then(|| Part::Text(steered.join("\n\n")));
        let parts: Vec<Part> = again.into_iter().chain(steered).collect();
        if !parts.is_empty() {
            self.conversation.push(Message::new(Role::User, parts));
        }
        by
    }

    /// Notes whether the turn that has begun has failed, which it counts as until it has come to its end.
    pub(crate) fn note_failed(&self, has_failed: bool) {
        let mut live = self.live();
        live.last.has_failed = has_failed;
        live.last.finish = None;
    }

    /// Notes what the turn under way took so far.
    pub(crate) fn note_taken(&self, spending: Spending) {
        self.live().taken = spending;
    }

    /// Returns what the turn under way took so far, or the last one in all.
    pub(crate) fn taken(&self) -> Spending {
        self.live().taken
    }

    /// Adds what the turn took to what the session took, once.
    pub(crate) fn count_taken(&self) {
        let mut live = self.live();
        if !live.is_taken_counted {
            let taken = live.taken;
            live.state.spending += taken;
            live.is_taken_counted = true;
        }
    }

    /// Returns how far the next turn may go, `None` if the session has nothing left.
    pub(crate) fn limits(&self) -> Option<Limits> {
        let mut spent = self.live().state.spending;
        spent += self.tally.read().delegated;
        self.recipe.session_limits.narrow(self.recipe.limits, &spent)
    }

    /// Returns what the next turn and its sub-agents may take together.
    pub(crate) fn purse(&self) -> Purse {
        let mut spent = self.live().state.spending;
        spent += self.tally.read().delegated;
        self.recipe.session_limits.purse(self.recipe.limits, &spent)
    }

    /// Changes the counts, here or in the host's store, and returns the result.
    pub(crate) fn update_counts(&self, mut change: impl FnMut(&mut Counts)) -> Counts {
        if let Some(counters) = &self.recipe.counters {
            let counts = counters.update(&mut change);
            self.live().state.counts = counts;
            return counts;
        }
        let mut live = self.live();
        change(&mut live.state.counts);
        live.state.counts
    }

    /// Counts the latest turn by `count`, which is told whether an earlier attempt was counted, and
    /// returns the result.
    pub(crate) fn count_turn(&self, count: impl Fn(&mut Counts, bool)) -> Counts {
        let is_counted = self.live().last.is_counted;
        let counts = self.update_counts(|counts| count(counts, is_counted));
        self.live().last.is_counted = true;
        counts
    }

    /// Returns whether a review of this session is under way.
    pub(crate) fn is_in_review(&self) -> bool {
        self.live().review.as_ref().is_some_and(|review| !review.is_over())
    }

    /// Notes the review that is under way.
    pub(crate) fn set_review(&self, review: ReviewHandle) {
        self.live().review = Some(review);
    }

    /// Returns the calls that were interrupted, with their turn, since the last call.
    pub(crate) fn take_interrupted(&self) -> VecDeque<(u64, Call)> {
        std::mem::take(&mut self.live().interrupted)
    }

    /// Notes calls that were interrupted, with their turn.
    pub(crate) fn note_interrupted(&self, calls: VecDeque<(u64, Call)>) {
        self.live().interrupted.extend(calls);
    }

    /// Returns what was sent since the last call.
    pub(crate) fn take_steered(&self) -> Vec<String> {
        self.live().steered.drain(..).collect()
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

    fn state(
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

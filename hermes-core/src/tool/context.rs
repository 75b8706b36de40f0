//! What a call knows of its surroundings.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::{
    agent::{AgentEvent, Events, Unheard},
    change::Change,
    clock::{Clock, SystemClock},
    fork::Fork,
    message::{Call, CallId},
    origin::Origin,
    review::{Gate, Proposal, ProposedWrite, Verdict},
    store::SessionId,
    version::Version,
};

/// What a call knows of its surroundings. Cloning it is cheap, and a clone may outlive the call.
///
/// # Examples
///
/// ```
/// use hermes_core::tool::{Extensions, ToolContext};
///
/// struct UserId(u32);
///
/// // In a test of a tool: everything at its default but what the host would attach.
/// let context =
///     ToolContext::detached().with_extensions(Extensions::default().with(UserId(7)));
///
/// assert!(!context.token().is_cancelled());
/// assert_eq!(context.extensions().get::<UserId>().map(|it| it.0), Some(7));
/// ```
#[derive(Clone, Debug)]
pub struct ToolContext {
    scope: Arc<TurnScope>,
    call: CallId,
    seen: Seen,
}

/// What all calls of one turn share.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TurnScope {
    /// The conversation.
    pub session: SessionId,
    /// The turn, counted from 1 within the session.
    pub turn: u64,
    /// On whose account the calls are made.
    pub origin: Origin,
    /// Cancelled when the turn is.
    pub token: CancellationToken,
    /// What the host attached to the turn.
    pub extensions: Extensions,
    /// Runs one more agent. `None` where the depth limit is reached.
    pub fork: Option<Arc<dyn Fork>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The versions of stored text that this conversation has been shown.
    pub seen: Seen,
    /// Decides what becomes of writes to memory and skills.
    pub gate: Gate,
    /// Where progress goes.
    pub progress: Progress,
    /// Where warnings go.
    pub(crate) warnings: Warnings,
    /// The changes that calls have noted, until they return.
    pub(crate) noted: Noted,
}

/// The changes that calls have noted. A clone shares them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noted(Arc<Mutex<Vec<(CallId, Change)>>>);

impl TurnScope {
    /// Creates a scope of the user's own conversation with everything else at its default.
    pub fn new(session: SessionId) -> Self {
        Self {
            session,
            turn: 1,
            origin: Origin::user(),
            token: CancellationToken::new(),
            extensions: Extensions::default(),
            fork: None,
            clock: Arc::new(SystemClock),
            seen: Seen::default(),
            gate: Gate::default(),
            progress: Progress::default(),
            warnings: Warnings::default(),
            noted: Noted::default(),
        }
    }
}

impl ToolContext {
    /// Creates the context of `call` within `scope`.
    pub fn new(scope: Arc<TurnScope>, call: CallId) -> Self {
        let seen = scope.seen.of_call(&call);
        Self { scope, call, seen }
    }

    /// Creates a context outside any conversation, for calling a tool directly.
    pub fn detached() -> Self {
        let scope = TurnScope::new(SessionId::new("detached"));
        Self::new(Arc::new(scope), CallId::new("call"))
    }

    /// Returns a context like this one, but for writes that come from `origin`.
    #[must_use]
    pub fn with_origin(&self, origin: Origin) -> Self {
        let scope = TurnScope { origin, ..(*self.scope).clone() };
        Self::new(Arc::new(scope), self.call.clone())
    }

    /// Returns a context like this one, but with `extensions` attached in place of those there were.
    #[must_use]
    pub fn with_extensions(&self, extensions: Extensions) -> Self {
        let scope = TurnScope { extensions, ..(*self.scope).clone() };
        Self::new(Arc::new(scope), self.call.clone())
    }

    /// Returns a context like this one, but with a token of the caller's.
    #[must_use]
    pub fn with_token(&self, token: CancellationToken) -> Self {
        let scope = TurnScope { token, ..(*self.scope).clone() };
        Self::new(Arc::new(scope), self.call.clone())
    }

    /// Returns the conversation.
    pub fn session(&self) -> &SessionId {
        &self.scope.session
    }

    /// Returns the turn, counted from 1 within the session.
    pub fn turn(&self) -> u64 {
        self.scope.turn
    }

    /// Returns the call.
    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// Returns on whose account the call is made.
    pub fn origin(&self) -> &Origin {
        &self.scope.origin
    }

    /// Returns the token that is cancelled when the turn is.
    pub fn token(&self) -> &CancellationToken {
        &self.scope.token
    }

    /// Returns what the host attached to the turn, by type.
    pub fn extensions(&self) -> &Extensions {
        &self.scope.extensions
    }

    /// Returns the way to run one more agent; `None` where the depth limit is reached.
    pub fn fork(&self) -> Option<&Arc<dyn Fork>> {
        self.scope.fork.as_ref()
    }

    /// Returns the clock.
    pub fn clock(&self) -> &dyn Clock {
        &*self.scope.clock
    }

    /// Returns the versions of stored text that this conversation has been shown.
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Returns what becomes of a write that this call proposes.
    pub fn judge(&self, what: Proposal) -> Verdict {
        self.scope.gate.judge(&ProposedWrite::new(what, self.scope.origin.clone()))
    }

    /// Asks the agent's approver about a change that the policy [holds](Verdict::Hold) and the store
    /// could make. `tool` and `arguments` are those of this call.
    ///
    /// Returns [`Verdict::Apply`] if it was allowed, also earlier for the session; [`Verdict::Reject`] if
    /// it was denied; and [`Verdict::Hold`] if it is to wait: because the approver says so, because there
    /// is none, or because it is not the user's own conversation that asks. It may take as long as a
    /// person takes; what is made then should go by what the person was shown.
    pub async fn ask(&self, tool: &str, arguments: &Value, change: Change) -> Verdict {
        let call = Call::new(self.call.clone(), tool, arguments.clone());
        self.scope.gate.ask(call, &change.proposed(), &self.scope).await
    }

    /// Notes a change that has been made, in case the call fails, crashes, runs out of time or is
    /// cancelled before it can [return](super::ToolOutput::with_change) it. Of a call that returns an
    /// output only what the output carries counts.
    pub fn note_change(&self, change: Change) {
        self.noted().push((self.call.clone(), change));
    }

    /// Takes what the call has noted.
    pub(crate) fn take_noted(&self) -> Vec<Change> {
        let mut noted = self.noted();
        let taken = noted.extract_if(.., |(call, _)| *call == self.call);
        taken.map(|(_, change)| change).collect()
    }

    fn noted(&self) -> std::sync::MutexGuard<'_, Vec<(CallId, Change)>> {
        self.scope.noted.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the host how far the call has come.
    pub fn report_progress(&self, note: impl Into<String>) {
        self.scope.progress.send(&self.call, note.into());
    }

    /// Tells the host something that it should know and may show, by an [`AgentEvent::Warning`]; where
    /// nobody listens, as in a review, with the next turn of the conversation that somebody listens to.
    /// Outside of a conversation it is lost.
    pub fn warn(&self, text: impl Into<String>) {
        self.scope.warnings.send(text.into());
    }
}

/// The versions of stored text that a conversation has been shown, by name.
///
/// Views fill it, writes ask it: that is what makes every automatic change one that has read the
/// file in its current version. A clone shares the record. What a call notes is forgotten if the model
/// does not get the whole result: because it was cut, or because a hook replaced it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    all: Arc<Mutex<HashMap<String, Shown>>>,
    /// The call that notes, if one does.
    call: Option<CallId>,
}

/// A version that was shown, and the call that showed it.
#[derive(Clone, Debug)]
struct Shown {
    version: Version,
    by: Option<CallId>,
}

impl Seen {
    /// Notes that `name` was shown at `version`.
    pub fn note(&self, name: impl Into<String>, version: Version) {
        self.lock().insert(name.into(), Shown { version, by: self.call.clone() });
    }

    /// Returns the version at which `name` was last shown, if it was.
    pub fn version(&self, name: &str) -> Option<Version> {
        self.lock().get(name).map(|it| it.version)
    }

    /// Forgets `name`, as after its removal.
    pub fn forget(&self, name: &str) {
        self.lock().remove(name);
    }

    /// Forgets everything, as when the messages that showed it were summarised.
    pub fn clear(&self) {
        self.lock().clear();
    }

    /// Returns the same record, to which `call` notes.
    fn of_call(&self, call: &CallId) -> Self {
        Self { all: Arc::clone(&self.all), call: Some(call.clone()) }
    }

    /// Forgets what `call` noted.
    pub(crate) fn forget_shown_by(&self, call: &CallId) {
        self.lock().retain(|_, shown| shown.by.as_ref() != Some(call));
    }

    /// Returns an independent copy of the record.
    #[must_use]
    pub fn detach(&self) -> Self {
        Self::restore(self.snapshot())
    }

    /// Returns all names and versions, sorted, for storing.
    pub fn snapshot(&self) -> Vec<(String, Version)> {
        let all = self.lock();
        let mut all: Vec<_> = all.iter().map(|(name, it)| (name.clone(), it.version)).collect();
        all.sort();
        all
    }

    /// Creates the record from what was stored.
    pub fn restore(all: impl IntoIterator<Item = (String, Version)>) -> Self {
        let shown = |(name, version)| (name, Shown { version, by: None });
        Self { all: Arc::new(Mutex::new(all.into_iter().map(shown).collect())), call: None }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Shown>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Values that a host attaches to a turn for its tools, one per type: a user id, a connection.
///
/// # Examples
///
/// ```
/// use hermes_core::tool::Extensions;
///
/// struct UserId(u32);
///
/// let extensions = Extensions::default().with(UserId(7));
///
/// assert_eq!(extensions.get::<UserId>().map(|it| it.0), Some(7));
/// assert!(extensions.get::<String>().is_none());
/// ```
#[derive(Clone, Default)]
pub struct Extensions(Option<Arc<ExtensionMap>>);

type ExtensionMap = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

impl Extensions {
    /// Returns the same values and `value`, which replaces an earlier one of its type.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        let mut map = self.0.map(Arc::unwrap_or_clone).unwrap_or_default();
        map.insert(TypeId::of::<T>(), Arc::new(value));
        Self(Some(Arc::new(map)))
    }

    /// Returns the value of type `T`, if there is one.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.as_ref()?.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = self.0.as_ref().map_or(0, |map| map.len());
        write!(f, "Extensions({len})")
    }
}

/// Where warnings go; nowhere by default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Warnings {
    events: Events,
    unheard: Unheard,
}

impl Warnings {
    pub(crate) fn new(events: Events, unheard: Unheard) -> Self {
        Self { events, unheard }
    }

    pub(crate) fn send(&self, text: String) {
        tracing::warn!("{text}");
        self.unheard.warn(&self.events, text);
    }
}

/// Where calls tell how far they have come; goes nowhere by default.
#[derive(Clone, Debug, Default)]
pub struct Progress(Option<UnboundedSender<AgentEvent>>);

impl Progress {
    pub(crate) fn to(events: UnboundedSender<AgentEvent>) -> Self {
        Self(Some(events))
    }

    fn send(&self, call: &CallId, note: String) {
        if let Some(events) = &self.0 {
            // A host that stopped listening has lost interest, which is no error.
            let _ = events.send(AgentEvent::Progress { call: call.clone(), note });
        }
    }
}

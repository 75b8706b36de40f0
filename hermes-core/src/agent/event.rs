//! What a host hears while a turn runs, and what it has when the turn is over.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::tasks::ReviewHandle;
use crate::{
    approval::ApprovalRequest,
    change::Change,
    cost::Cost,
    message::{Call, CallId, CallResult, Usage},
    provider::ProviderError,
    store::{Counts, SessionId, StoreError},
};

/// What a host hears while a turn runs, in order.
///
/// Every [`CallStarted`](Self::CallStarted) has its [`CallFinished`](Self::CallFinished); a call that
/// is refused before it runs, for a wrong argument, an unknown tool or want of approval, has only the
/// latter.
///
/// # Examples
///
/// ```
/// use hermes_core::{agent::AgentEvent, serde_json};
///
/// let event = AgentEvent::Text("Hello".to_owned());
///
/// assert_eq!(serde_json::to_string(&event)?, r#"{"text":"Hello"}"#); // for a web page, say
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEvent {
    /// More of the answer.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// The agent's approver is asked about a call.
    ApprovalAsked(Arc<ApprovalRequest>),
    /// A call was held for a person and does not run in this turn.
    CallHeld(Arc<ApprovalRequest>),
    /// A tool is about to run.
    CallStarted(Call),
    /// A tool tells how far it has come.
    Progress {
        /// The call.
        call: CallId,
        /// What it says.
        note: String,
    },
    /// A call has its result.
    CallFinished(CallResult),
    /// Memory or a skill was changed.
    Changed(Change),
    /// A message that was sent while the turn ran has reached the conversation.
    Steered(String),
    /// The conversation was made shorter, from about so many tokens to about so many.
    Compressed {
        /// The tokens of the next request as it would have been.
        before: u64,
        /// The tokens it has now.
        after: u64,
    },
    /// Something the host should know and may show, such as text that was kept out of the prompt.
    Warning(String),
}

/// A turn that is over.
///
/// It can be serialized, with the id of its [review](Self::review).
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FinishedTurn {
    /// The conversation.
    pub session: SessionId,
    /// Which turn of it, from 1.
    pub turn: u64,
    /// The answer; may be empty.
    pub text: String,
    /// How the turn ended.
    pub finish: Finish,
    /// The model requests it took.
    pub requests: u32,
    /// The rounds in which tools ran.
    pub tool_rounds: u32,
    /// The calls that got a result.
    pub calls: u32,
    /// What its calls changed, in order.
    pub changes: Vec<Change>,
    /// The tokens it used, by estimate where the endpoint reports none; those of its sub-agents and its review not counted (see
    /// [`Session::delegated_spending`](crate::Session::delegated_spending)).
    pub usage: Usage,
    /// What that cost; `None` if there are no prices, or not for all of it. An estimate where the tokens
    /// are one.
    pub cost: Option<Cost>,
    /// The counts after this turn.
    pub counts: Counts,
    /// The names of the session's tools, sorted.
    pub tools: Vec<Arc<str>>,
    /// The review that this turn started, if it did. Dropping it does not stop the review.
    #[serde(serialize_with = "id_of")]
    pub review: Option<ReviewHandle>,
}

/// Writes the id of a review.
#[expect(clippy::ref_option, reason = "serde hands the field over so")]
fn id_of<S: Serializer>(review: &Option<ReviewHandle>, serializer: S) -> Result<S::Ok, S::Error> {
    review.as_ref().map(ReviewHandle::id).serialize(serializer)
}

impl FinishedTurn {
    /// Returns whether the turn ended with an answer.
    pub fn is_completed(&self) -> bool {
        matches!(self.finish, Finish::Answered | Finish::OutOfRounds | Finish::Length)
            && !self.text.trim().is_empty()
    }
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finish {
    /// With an answer.
    Answered,
    /// With a reply that had neither text nor calls, also when asked again.
    Empty,
    /// With an answer that was cut at the limit of output tokens. If reasoning took all of them, the
    /// text of the turn is what an earlier round of it said, or none; it is then not asked for again, as
    /// the next answer would end likewise.
    Length,
    /// With a refusal by the model or its provider.
    Refused,
    /// At a limit of requests, tokens or money, after the model was asked to sum up.
    OutOfRounds,
    /// By a tool, for this reason.
    EndedByTool(String),
    /// By a [`Hook`](super::hook::Hook), or because something had to be
    /// [recorded](crate::audit::AuditFailure::EndTurn) and was not; for this reason.
    Stopped(String),
    /// By cancellation.
    Cancelled,
    /// By an error, which the host got.
    Failed(String),
}

/// Why a turn brought no result.
///
/// The conversation is usable all the same: whatever had happened is settled, every call has a
/// result, and the next message can be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The model could not be asked.
    #[error("the model could not be asked")]
    Provider(#[from] ProviderError),
    /// The conversation could not be read or kept.
    #[error("the conversation could not be kept")]
    Store(#[from] StoreError),
    /// A turn is already under way.
    #[error("a turn is already under way in this session")]
    Busy,
    /// The session, or the agent, has been closed.
    #[error("the session is closed")]
    Closed,
    /// The session has no requests, tokens or money left.
    #[error("the budget of this session is spent")]
    OutOfBudget,
    /// The held call belongs to another session.
    #[error("the call was held in another session")]
    OtherSession,
    /// What was held is a change of memory or of a skill, on which
    /// [`HeldWrites`](crate::pending::HeldWrites) decide.
    #[error("what was held is a write, which is decided on where it waits")]
    HeldWrite,
    /// What was sent has a part that no user can say: a call, a result or reasoning. Nothing of it
    /// has reached the conversation.
    #[error("a call, a result or reasoning cannot be sent as a user's message")]
    NotInput,
    /// There is no turn to run again.
    #[error("there is no turn of this session that can be run again")]
    NothingToRetry,
    /// There is no turn to continue.
    #[error("no turn of this session was broken off")]
    NoTurn,
    /// There is no tokio runtime to run on.
    #[error("not called from within a tokio runtime")]
    NoRuntime,
    /// A fork would be nested too deeply.
    #[error("agents are nested {depth} deep, which is the limit")]
    TooDeep {
        /// The limit.
        depth: u32,
    },
    /// The turn ended without a result, because something that the host had put in panicked where that is
    /// not caught: a prompt section, a store, the prices. Its conversation is settled all the same.
    #[error("the turn ended without a result")]
    Lost,
}

impl AgentError {
    /// Returns the error and its causes in one line, for a person.
    pub fn describe(&self) -> String {
        describe(self)
    }
}

/// Returns an error and those of its causes that it does not repeat, in one line.
pub(crate) fn describe(err: &dyn std::error::Error) -> String {
    let mut text = err.to_string();
    let mut source = err.source();
    while let Some(cause) = source {
        let message = cause.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        source = cause.source();
    }
    text
}

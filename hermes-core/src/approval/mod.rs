//! Who is asked before a call runs, and what becomes of the call.
//!
//! A tool says in its spec whether its calls [need approval](NeedsApproval). The loop puts such calls
//! to the agent's [`Approver`] before it runs them, one after the other and in their order, and keeps
//! each decision with the turn, so that nobody is asked twice because a process ended. Without an
//! approver the answer is no.
//!
//! The approver is also asked about a change of memory or of a skill that the user's own conversation
//! makes and the policy [holds](crate::review::Verdict::Hold), with its diff, once the store has found
//! that it can be made. Without an approver such a change waits with the [held
//! writes](crate::pending), where those of reviews always go.
//!
//! # Examples
//!
//! ```
//! # #[cfg(all(feature = "testing", feature = "schema"))]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use hermes_core::{
//!     Agent,
//!     approval::{self, Approval, ApprovalRequest, NeedsApproval},
//!     testing::ScriptedProvider,
//!     tool,
//! };
//!
//! let deploy = tool::from_fn("deploy", "Puts the site online.", |(), _| async { Ok("online") })
//!     .configure(|spec| spec.with_approval(NeedsApproval::Always));
//! let ask = approval::from_fn(|request: ApprovalRequest| async move {
//!     // A real one shows `request` to a person and waits for the answer.
//!     Approval::Deny(format!("no {} on a Friday", request.call.name))
//! });
//! let model = ScriptedProvider::new().call("deploy", serde_json::json!({})).say("Not today.");
//!
//! let session = Agent::builder(model).model("scripted").tool(deploy).approver(ask).build()?.session();
//! session.send("Deploy it.").await?;
//!
//! let history = session.history();
//! let result = history.iter().flat_map(|it| it.call_results()).next();
//! assert!(result.is_some_and(|it| it.content.contains("no deploy on a Friday")));
//! # Ok(())
//! # }
//! # #[cfg(not(all(feature = "testing", feature = "schema")))]
//! # fn main() {}
//! ```

mod danger;
mod ready;

mod desk;
mod grant;
mod write;

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use self::{
    danger::{Danger, DangerClass, Severity, dangerous},
    grant::Grant,
    ready::{AllowAll, DenyAll, FnApprover, Within, from_answer_fn, from_fn},
};
pub(crate) use self::{
    desk::{Decision, Desk, HOST, Need, refusal, ruled},
    grant::Grants,
    write::WriteDesk,
};
use crate::{change::Change, message::Call, origin::Origin, store::SessionId};

/// Answers for calls that need approval: a person at a terminal, a queue that people work through,
/// a rule.
///
/// # Contract
///
/// [`conformance::approver`](crate::testing::conformance::approver) checks these.
///
/// - **Total.** Every request gets an answer; what cannot be asked is denied, with a reason. (The loop
///   takes a panic for a denial; do not rely on it.)
/// - **Cancellable.** The future may be dropped at any time, when the turn is cancelled; whatever is on
///   a screen then goes away with it.
/// - **Told apart.** Requests may come at the same time, from the conversation and from its forks. An
///   answer belongs to the request it was asked by.
#[async_trait]
pub trait Approver: fmt::Debug + Send + Sync {
    /// Decides on a call that has not run yet. It may take as long as a person takes.
    async fn approve(&self, request: &ApprovalRequest) -> Approval;

    /// As [`approve`](Self::approve), and says who decided. This is what the loop asks; implement it
    /// too where that differs from answer to answer, as between the people of a team. By default it
    /// asks `approve` and names nobody, so that [`name`](Self::name) counts.
    async fn answer(&self, request: &ApprovalRequest) -> Answer {
        self.approve(request).await.into()
    }

    /// Returns who decides here where an [`answer`](Self::answer) does not say, for the
    /// [audit](crate::audit). `host` by default.
    #[expect(clippy::unnecessary_literal_bound, reason = "others keep theirs in themselves")]
    fn name(&self) -> &str {
        "host"
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<T: Approver + ?Sized> Approver for Arc<T> {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        (**self).approve(request).await
    }

    async fn answer(&self, request: &ApprovalRequest) -> Answer {
        (**self).answer(request).await
    }

    fn name(&self) -> &str {
        (**self).name()
    }
}

/// A call that is not to run without approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// What tells it from every other request: the ids of calls may be the same in sub-agents.
    pub id: Arc<str>,
    /// The call. Its name is that of a tool of the agent, its arguments fit the tool's schema.
    pub call: Call,
    /// On whose account it is made: the user's conversation, a review, a sub-agent.
    pub origin: Origin,
    /// The conversation; for a fork, the one it comes from.
    pub session: SessionId,
    /// The turn, counted from 1 within the session.
    pub turn: u64,
    /// Why it needs approval, a sentence each, for a person. Never empty.
    pub reasons: Vec<String>,
    /// The shell command that was judged, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What is dangerous in it; their ranges are bytes of `command`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dangers: Vec<Danger>,
    /// The change of memory or of a skill that the call would make, with its diff, if that is what is
    /// asked about: the call runs already, and waits for the answer. [`Approval::Hold`] then leaves the
    /// change with the [held writes](crate::pending).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

impl ApprovalRequest {
    /// Creates a request for `call`, made by the user's own conversation `session`; for tests of an
    /// approver.
    pub fn new(call: Call, session: SessionId) -> Self {
        let reasons = vec![desk::always(&call.name)];
        let (origin, dangers) = (Origin::user(), Vec::new());
        let id = desk::new_id();
        Self { id, call, origin, session, turn: 1, reasons, command: None, dangers, change: None }
    }
}

/// An approver's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Approval {
    /// The call runs.
    AllowOnce,
    /// The call runs, and so do later calls of this conversation that need approval for the same
    /// reason and no other: what that covers is in [`Grant`].
    AllowForSession,
    /// The call does not run. The model is told the reason, and not to try another way round.
    Deny(String),
    /// The call does not run now. The model is told to go on without it, the host gets
    /// [`AgentEvent::CallHeld`](crate::agent::AgentEvent::CallHeld) and may have it run later, by
    /// [`Session::decide_held`](crate::Session::decide_held).
    Hold,
}

impl Approval {
    /// Returns the answer that `who` gives with this: a person, a rule.
    pub fn by(self, who: impl Into<Arc<str>>) -> Answer {
        Answer { approval: self, by: Some(who.into()) }
    }
}

/// An answer, and who gave it.
///
/// # Examples
///
/// ```
/// use hermes_core::approval::{Answer, Approval};
///
/// let answer = Approval::AllowOnce.by("sam");
///
/// assert_eq!(answer.by.as_deref(), Some("sam"));
/// assert_eq!(Answer::from(Approval::Hold).by, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// What is answered.
    pub approval: Approval,
    /// Who gave it, as the host names them; `None` for whoever [`Approver::name`] says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Arc<str>>,
}

impl From<Approval> for Answer {
    fn from(approval: Approval) -> Self {
        Self { approval, by: None }
    }
}

/// What was decided about a call, as it is kept with the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ruling {
    /// It may run.
    Allowed,
    /// It may not, for this reason.
    Denied(String),
    /// It waits for a person and does not run in this turn.
    Held,
}

/// Whether calls of a tool need approval; part of a [`ToolSpec`](crate::tool::ToolSpec).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NeedsApproval {
    /// They run unasked. The default.
    #[default]
    Never,
    /// Every call does.
    Always,
    /// Calls do whose argument of this name is a [`dangerous`] shell command: a text, or a list of the
    /// words of one command. What is neither and not `null` needs approval too, because it cannot be
    /// judged.
    Dangerous {
        /// The name of the argument.
        argument: Arc<str>,
    },
}

impl NeedsApproval {
    /// Asks about calls whose `argument` is a dangerous shell command.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_core::{approval::NeedsApproval, tool::ToolSpec};
    ///
    /// let terminal = ToolSpec::new("terminal", "Runs a command.")
    ///     .with_approval(NeedsApproval::dangerous("command"));
    /// # let _ = terminal;
    /// ```
    pub fn dangerous(argument: impl Into<Arc<str>>) -> Self {
        Self::Dangerous { argument: argument.into() }
    }

    /// Returns whether calls run unasked.
    pub(crate) fn is_never(&self) -> bool {
        *self == Self::Never
    }
}

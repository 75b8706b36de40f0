//! When an agent looks back at what it did, and what becomes of what it wants to keep.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    agent::FinishedTurn,
    approval::{Approver, WriteDesk},
    change::{Change, Fate},
    cost::Cost,
    fork::Fork,
    memory::MemoryEdit,
    message::{Call, Usage},
    origin::Origin,
    skill::SkillAction,
    tool::TurnScope,
};

/// Decides when the agent reflects, and what becomes of each write it proposes.
///
/// A policy has no state of its own: the counts it goes by are part of the session and come with the
/// [`FinishedTurn`]. It returns a task instead of starting one, so that the agent owns everything
/// that runs.
///
/// # Contract
///
/// [`conformance::review_policy`](crate::testing::conformance::review_policy) checks these.
///
/// - **Pure.** The same turn gives the same answer; nothing waits, nothing is remembered.
/// - **Total.** Any turn gives an answer, also one that failed or was cancelled.
///
/// # Examples
///
/// One that never reviews and lets only the user change skills:
///
/// ```
/// use hermes_core::{
///     agent::FinishedTurn,
///     review::{Proposal, ProposedWrite, ReviewPolicy, ReviewTask, Verdict},
/// };
///
/// #[derive(Debug)]
/// struct UsersSkills;
///
/// impl ReviewPolicy for UsersSkills {
///     fn after_turn(&self, _: &FinishedTurn) -> Option<ReviewTask> {
///         None
///     }
///
///     fn judge(&self, write: &ProposedWrite) -> Verdict {
///         match &write.what {
///             Proposal::Skill { .. } if write.origin.is_automatic() => {
///                 Verdict::Reject("Only the user changes skills here.".to_owned())
///             }
///             _ => Verdict::Apply,
///         }
///     }
/// }
/// ```
pub trait ReviewPolicy: fmt::Debug + Send + Sync {
    /// Returns the review that is due after `turn`, if one is.
    ///
    /// It is asked after completed turns only: neither cancelled nor failed ones nor those without a
    /// reply start a review.
    fn after_turn(&self, turn: &FinishedTurn) -> Option<ReviewTask>;

    /// Returns what becomes of a write.
    ///
    /// It is asked for every write of memory and skills, the user's own included; `write` says where
    /// it comes from.
    fn judge(&self, write: &ProposedWrite) -> Verdict;
}

#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<R: ReviewPolicy + ?Sized> ReviewPolicy for Arc<R> {
    fn after_turn(&self, turn: &FinishedTurn) -> Option<ReviewTask> {
        (**self).after_turn(turn)
    }

    fn judge(&self, write: &ProposedWrite) -> Verdict {
        (**self).judge(write)
    }
}

/// What becomes of a proposed write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// It is made.
    Apply,
    /// It is not made but kept for a person, who decides later (see [`pending`](crate::pending)).
    ///
    /// A tool that has nowhere to keep it rejects it; no tool makes it.
    Hold,
    /// It is not made, and the model is told why.
    Reject(String),
}

impl Verdict {
    /// Returns the stricter of the two: [`Reject`](Self::Reject), then [`Hold`](Self::Hold), then
    /// [`Apply`](Self::Apply); of two rejections, this one.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (reject @ Self::Reject(_), _) | (_, reject @ Self::Reject(_)) => reject,
            (Self::Hold, _) | (_, Self::Hold) => Self::Hold,
            (Self::Apply, Self::Apply) => Self::Apply,
        }
    }
}

/// A write that has been asked for and not been made yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProposedWrite {
    /// What would be changed.
    pub what: Proposal,
    /// Who asks.
    pub origin: Origin,
}

impl ProposedWrite {
    /// Joins a proposal and who makes it.
    pub fn new(what: Proposal, origin: Origin) -> Self {
        Self { what, origin }
    }
}

/// What a [`ProposedWrite`] would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Proposal {
    /// Edits of a memory list.
    Memory {
        /// The list.
        target: crate::memory::Target,
        /// The edits.
        edits: Vec<MemoryEdit>,
    },
    /// A change to a skill.
    Skill {
        /// The skill's name.
        name: String,
        /// The change.
        action: SkillAction,
    },
}

/// The one place that decides what becomes of a write; both writing tools ask it.
///
/// Without a policy everything is applied. What the policy holds of the user's own writes is put to the
/// agent's approver, if it has one.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    policy: Option<Arc<dyn ReviewPolicy>>,
    desk: Option<WriteDesk>,
}

impl Gate {
    /// Creates a gate that asks `policy`.
    pub fn new(policy: Arc<dyn ReviewPolicy>) -> Self {
        Self { policy: Some(policy), desk: None }
    }

    /// Returns the same gate, which puts what the policy holds of the user's own writes to `approver`.
    #[must_use]
    pub fn with_approver(self, approver: Arc<dyn Approver>) -> Self {
        Self { desk: Some(WriteDesk::of(approver)), ..self }
    }

    pub(crate) fn of(policy: Option<Arc<dyn ReviewPolicy>>, desk: Option<WriteDesk>) -> Self {
        Self { policy, desk }
    }

    /// Returns what becomes of `write`.
    pub fn judge(&self, write: &ProposedWrite) -> Verdict {
        self.policy.as_ref().map_or(Verdict::Apply, |policy| policy.judge(write))
    }

    /// Asks about a change that the policy holds; see
    /// [`ToolContext::ask`](crate::tool::ToolContext::ask).
    pub(crate) async fn ask(&self, call: Call, change: &Change, scope: &TurnScope) -> Verdict {
        match &self.desk {
            Some(desk) if !scope.origin.is_automatic() => desk.decide(call, change, scope).await,
            _ => Verdict::Hold,
        }
    }
}

/// What a review looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReviewScope {
    /// Facts.
    Memory,
    /// Procedures.
    Skills,
    /// Both.
    Both,
}

impl ReviewScope {
    /// Returns the scope that looks for what is there of the two, `None` if nothing is.
    pub fn join(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.union(other)),
            (one, other) => one.or(other),
        }
    }

    /// Returns the scope that looks for what either does.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        if self == other { self } else { Self::Both }
    }

    /// Returns whether it looks for facts.
    pub fn has_memory(self) -> bool {
        matches!(self, Self::Memory | Self::Both)
    }

    /// Returns whether it looks for procedures.
    pub fn has_skills(self) -> bool {
        matches!(self, Self::Skills | Self::Both)
    }
}

/// A review that is due: what it looks for, and how it is done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReviewTask {
    /// What it looks for.
    pub scope: ReviewScope,
    /// How it is done.
    pub review: Arc<dyn Review>,
}

impl ReviewTask {
    /// Creates a task that looks for `scope` by `review`.
    pub fn new(scope: ReviewScope, review: Arc<dyn Review>) -> Self {
        Self { scope, review }
    }
}

/// The work of a review. `hermes_review::BackgroundReview` is the ready-made one.
///
/// # Examples
///
/// One that only counts, and asks no model:
///
/// ```
/// use std::sync::Arc;
///
/// use hermes_core::{
///     async_trait,
///     fork::Fork,
///     review::{Review, ReviewReport, ReviewScope},
/// };
///
/// #[derive(Debug)]
/// struct Count;
///
/// #[async_trait]
/// impl Review for Count {
///     async fn run(&self, id: &str, scope: ReviewScope, fork: Arc<dyn Fork>) -> ReviewReport {
///         let mut report = ReviewReport::new(id, scope);
///         report.note = format!("{} messages", fork.history().len());
///         report
///     }
/// }
/// ```
#[async_trait]
pub trait Review: fmt::Debug + Send + Sync {
    /// Looks back at the conversation that `fork` continues and saves what is worth saving.
    ///
    /// `id` names the review in the origin of its writes. What goes wrong is part of the report; a
    /// review never fails its conversation.
    async fn run(&self, id: &str, scope: ReviewScope, fork: Arc<dyn Fork>) -> ReviewReport;
}

/// What a review did, for the host to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReviewReport {
    /// The review's id, which is in the origin of its writes.
    pub id: String,
    /// What it looked for.
    pub scope: ReviewScope,
    /// How it ended.
    pub outcome: ReviewOutcome,
    /// What it changed or proposed, in order.
    pub changes: Vec<Change>,
    /// What it said at the end.
    pub note: String,
    /// The model requests it made.
    pub requests: u32,
    /// The tokens it used, apart from the conversation's.
    pub usage: Usage,
    /// What it cost; `None` if there are no prices, or not for all of it.
    #[serde(default)]
    pub cost: Option<Cost>,
    /// How long it took.
    pub took: Duration,
}

/// How a review ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReviewOutcome {
    /// It saved or proposed something.
    Saved,
    /// It found nothing worth saving.
    NothingToSave,
    /// It was cut off at its limit of requests, tokens, money or time; what it had saved stays.
    CutOff,
    /// It was cancelled; what it had saved stays.
    Cancelled,
    /// It failed, for this reason; what it had saved stays.
    Failed(String),
}

impl ReviewReport {
    /// Creates the report of a review that has done nothing yet.
    pub fn new(id: impl Into<String>, scope: ReviewScope) -> Self {
        Self {
            id: id.into(),
            scope,
            outcome: ReviewOutcome::NothingToSave,
            changes: Vec::new(),
            note: String::new(),
            requests: 0,
            usage: Usage::default(),
            cost: None,
            took: Duration::ZERO,
        }
    }

    /// Returns one [line](Change::line) per change, without repetition; none if nothing was saved.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for line in self.changes.iter().map(Change::line) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// Returns whether something is in the store that was not there before.
    pub fn has_applied(&self) -> bool {
        self.changes.iter().any(|change| change.fate == Fate::Applied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stricter_verdict_counts() {
        let reject = Verdict::Reject("no".to_owned());

        for other in [Verdict::Apply, Verdict::Hold] {
            assert_eq!(other.clone().stricter(reject.clone()), reject);
            assert_eq!(reject.clone().stricter(other.clone()), reject);
            assert_eq!(Verdict::Apply.stricter(other.clone()), other);
            assert_eq!(other.clone().stricter(Verdict::Apply), other);
        }
    }

    #[test]
    fn a_proposed_write_comes_back_as_it_was_stored() {
        let content = "日本語".to_owned();
        let expected = crate::version::Expected::Is(crate::version::Version::of("x"));
        let file = crate::skill::SkillFile::main();
        let action = SkillAction::Write { file, content, expected };
        let what = Proposal::Skill { name: "deploy".to_owned(), action };
        let write = ProposedWrite::new(what, Origin::review("r1"));

        let text = serde_json::to_string(&write).unwrap();

        assert_eq!(serde_json::from_str::<ProposedWrite>(&text).unwrap(), write);
    }

    #[test]
    fn scopes_add_up() {
        assert_eq!(ReviewScope::Memory.union(ReviewScope::Skills), ReviewScope::Both);
        assert_eq!(ReviewScope::Memory.union(ReviewScope::Memory), ReviewScope::Memory);
        assert_eq!(ReviewScope::join(None, Some(ReviewScope::Skills)), Some(ReviewScope::Skills));
    }
}

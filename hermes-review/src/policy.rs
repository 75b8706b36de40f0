//! The ready-made policy: review when the counts say so, apply what the review wants.

use std::sync::Arc;

use hermes_core::{
    agent::FinishedTurn,
    memory::MemoryEdit,
    review::{Proposal, ProposedWrite, Review, ReviewPolicy, ReviewScope, ReviewTask, Verdict},
};

use serde::{Deserialize, Serialize};

use crate::{BackgroundReview, Intervals, prompt};

/// A [`ReviewPolicy`] that goes by the counts of the session.
///
/// By default a review of memory is due every 10 user turns and one of skills every 10 rounds of tool
/// calls, each is a [`BackgroundReview`], and no write waits. A count whose tools the session does not
/// have never makes a review due.
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), hermes_core::agent::BuildError> {
/// use hermes_core::{Agent, testing::ScriptedProvider};
/// use hermes_review::{Intervals, NudgePolicy};
///
/// let agent = Agent::builder(ScriptedProvider::new().say("hello"))
///     .model("scripted")
///     .review(NudgePolicy::new(Intervals::new(10, 10)))
///     .build()?;
/// # let _ = agent;
/// # Ok(())
/// # }
/// ```
///
/// With writes that wait for a person, of whom the user's own are none:
///
/// ```
/// use hermes_core::{
///     memory::Target,
///     origin::Origin,
///     review::{Proposal, ProposedWrite, ReviewPolicy, Verdict},
/// };
/// use hermes_review::{NudgePolicy, Writes};
///
/// let policy = NudgePolicy::default().hold(Writes::Automatic);
/// let write = |origin| {
///     let what = Proposal::Memory { target: Target::User, edits: Vec::new() };
///     policy.judge(&ProposedWrite::new(what, origin))
/// };
///
/// assert_eq!(write(Origin::review("review-1")), Verdict::Hold);
/// assert_eq!(write(Origin::user()), Verdict::Apply);
/// ```
///
/// Where they wait is set with the parts they change: `Memory::pending` of hermes-memory and
/// `Skills::pending` of hermes-skills. Without that they are rejected.
#[derive(Clone, Debug)]
pub struct NudgePolicy {
    intervals: Intervals,
    review: Arc<dyn Review>,
    held: Held,
}

/// Which writes wait for a person. In a configuration `automatic`, `memory`, `skills` or `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Writes {
    /// All that nobody asked for (see [`Origin::is_automatic`](hermes_core::origin::Origin::is_automatic)):
    /// of memory and of skills.
    Automatic,
    /// Those of memory that nobody asked for.
    Memory,
    /// Those of skills that nobody asked for.
    Skills,
    /// All, also those that the user asked for, as hermes-agent's `write_approval` has it.
    All,
}

/// What [`Writes`] add up to.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    memory: bool,
    skills: bool,
    of_users: bool,
}

impl Held {
    fn and(self, writes: Writes) -> Self {
        match writes {
            Writes::Automatic => Self { memory: true, skills: true, ..self },
            Writes::Memory => Self { memory: true, ..self },
            Writes::Skills => Self { skills: true, ..self },
            Writes::All => Self { memory: true, skills: true, of_users: true },
        }
    }

    fn has(self, write: &ProposedWrite) -> bool {
        if self.of_users {
            return true;
        }
        write.origin.is_automatic()
            && match write.what {
                Proposal::Memory { .. } => self.memory,
                Proposal::Skill { .. } => self.skills,
                // What there will be one day waits if anything does.
                _ => self.memory || self.skills,
            }
    }
}

impl Default for NudgePolicy {
    fn default() -> Self {
        Self::new(Intervals::default())
    }
}

impl NudgePolicy {
    /// Creates a policy that starts a [`BackgroundReview`] at these intervals.
    pub fn new(intervals: Intervals) -> Self {
        let review = Arc::new(BackgroundReview::new());
        Self { intervals, review, held: Held::default() }
    }

    /// Sets how a review is done: another model, other limits, or another review altogether.
    #[must_use]
    pub fn by(mut self, review: impl Review + 'static) -> Self {
        self.review = Arc::new(review);
        self
    }

    /// Sets which writes wait for a person, in addition to those set before. None by default.
    #[must_use]
    pub fn hold(mut self, writes: Writes) -> Self {
        self.held = self.held.and(writes);
        self
    }
}

impl ReviewPolicy for NudgePolicy {
    fn after_turn(&self, turn: &FinishedTurn) -> Option<ReviewTask> {
        let has = |tool: &str| turn.tools.iter().any(|name| &**name == tool);
        let due = self.intervals.due(&turn.counts)?;
        let scope = ReviewScope::join(
            (due.has_memory() && has("memory")).then_some(ReviewScope::Memory),
            (due.has_skills() && has("skill_manage")).then_some(ReviewScope::Skills),
        )?;
        Some(ReviewTask::new(scope, Arc::clone(&self.review)))
    }

    /// Applies everything but a review's own instructions offered as a fact, which it rejects, and
    /// what it was told to [`hold`](Self::hold).
    fn judge(&self, write: &ProposedWrite) -> Verdict {
        let verdict = if self.held.has(write) { Verdict::Hold } else { Verdict::Apply };
        let Proposal::Memory { edits, .. } = &write.what else { return verdict };
        let says_own_words = edits.iter().any(|edit| match edit {
            MemoryEdit::Add { content } | MemoryEdit::Replace { content, .. } => {
                prompt::is_own_words(content)
            }
            _ => false,
        });
        if write.origin.is_automatic() && says_own_words {
            return Verdict::Reject("That is part of your instructions, not a fact.".to_owned());
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use hermes_core::{
        memory::Target,
        origin::Origin,
        skill::SkillAction,
        store::Counts,
        testing::{conformance, finished_turn},
    };

    use super::*;

    fn due(counts: (u32, u32), tools: &[&str]) -> Option<ReviewScope> {
        let mut turn = finished_turn("done");
        let (memory, skills) = counts;
        turn.counts = Counts::default();
        turn.counts.turns_since_memory = memory;
        turn.counts.rounds_since_skills = skills;
        turn.tools = tools.iter().copied().map(Arc::from).collect();
        NudgePolicy::new(Intervals::new(10, 10)).after_turn(&turn).map(|task| task.scope)
    }

    #[test]
    fn the_contract_is_kept() {
        conformance::review_policy(&NudgePolicy::default());
        conformance::review_policy(&NudgePolicy::default().hold(Writes::All));
    }

    /// Judges a write of memory and one of skills, first by a review and then by the user.
    #[track_caller]
    fn check(writes: &[Writes], by_review: [Verdict; 2], by_user: [Verdict; 2]) {
        let policy = writes.iter().fold(NudgePolicy::default(), |it, writes| it.hold(*writes));
        let judge = |origin: Origin| {
            let edits = vec![MemoryEdit::Remove { old_text: "x".to_owned() }];
            let memory = Proposal::Memory { target: Target::Memory, edits };
            let action = SkillAction::Create { category: None, content: String::new() };
            let skill = Proposal::Skill { name: "deploy".to_owned(), action };
            [memory, skill].map(|what| policy.judge(&ProposedWrite::new(what, origin.clone())))
        };
        assert_eq!((judge(Origin::review("r")), judge(Origin::user())), (by_review, by_user));
    }

    #[test]
    fn what_waits_is_what_was_set() {
        use Verdict::{Apply, Hold};
        let apply = || [Apply, Apply];

        check(&[], apply(), apply());
        check(&[Writes::Automatic], [Hold, Hold], apply());
        check(&[Writes::Memory], [Hold, Apply], apply());
        check(&[Writes::Skills], [Apply, Hold], apply());
        check(&[Writes::Memory, Writes::Skills], [Hold, Hold], apply());
        check(&[Writes::All, Writes::Memory], [Hold, Hold], [Hold, Hold]);
    }

    #[test]
    fn what_is_rejected_does_not_wait() {
        let policy = NudgePolicy::default().hold(Writes::All);
        let content = "State a fact; do not write yourself an order".to_owned();
        let edits = vec![MemoryEdit::Add { content }];
        let what = Proposal::Memory { target: Target::Memory, edits };

        let verdict = policy.judge(&ProposedWrite::new(what, Origin::review("r")));

        assert!(matches!(verdict, Verdict::Reject(_)), "{verdict:?}");
    }

    #[test]
    fn a_review_is_due_where_its_count_and_its_tool_are_there() {
        let both = ["memory", "skill_manage"];

        assert_eq!(due((9, 9), &both), None);
        assert_eq!(due((10, 9), &both), Some(ReviewScope::Memory));
        assert_eq!(due((9, 10), &both), Some(ReviewScope::Skills));
        assert_eq!(due((10, 10), &both), Some(ReviewScope::Both));
        assert_eq!(due((10, 10), &["memory"]), Some(ReviewScope::Memory));
        assert_eq!(due((10, 10), &[]), None);
    }
}

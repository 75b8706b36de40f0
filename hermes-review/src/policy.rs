//! The ready-made policy: review when the counts say so, apply what the review wants.

use std::sync::Arc;

use hermes_core::{
    agent::FinishedTurn,
    memory::MemoryEdit,
    review::{Proposal, ProposedWrite, Review, ReviewPolicy, ReviewScope, ReviewTask, Verdict},
};

use crate::{BackgroundReview, Intervals, prompt};

/// A [`ReviewPolicy`] that goes by the counts of the session.
///
/// A count whose tools the session does not have never makes a review due.
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
#[derive(Clone, Debug)]
pub struct NudgePolicy {
    intervals: Intervals,
    review: Arc<dyn Review>,
}

impl Default for NudgePolicy {
    fn default() -> Self {
        Self::new(Intervals::default())
    }
}

impl NudgePolicy {
    /// Creates a policy that starts a [`BackgroundReview`] at these intervals.
    pub fn new(intervals: Intervals) -> Self {
        Self { intervals, review: Arc::new(BackgroundReview::new()) }
    }

    /// Sets how a review is done: another model, other limits, or another review altogether.
    #[must_use]
    pub fn by(mut self, review: impl Review + 'static) -> Self {
        self.review = Arc::new(review);
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

    /// Applies everything but a review's own instructions offered as a fact.
    fn judge(&self, write: &ProposedWrite) -> Verdict {
        let Proposal::Memory { edits, .. } = &write.what else { return Verdict::Apply };
        let says_own_words = edits.iter().any(|edit| match edit {
            MemoryEdit::Add { content } | MemoryEdit::Replace { content, .. } => {
                prompt::is_own_words(content)
            }
            _ => false,
        });
        if write.origin.is_automatic() && says_own_words {
            return Verdict::Reject("That is part of your instructions, not a fact.".to_owned());
        }
        Verdict::Apply
    }
}

#[cfg(test)]
mod tests {
    use hermes_core::{
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

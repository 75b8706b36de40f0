//! Counting towards a review: arithmetic on values.

use hermes_core::{review::ReviewScope, store::Counts};
use serde::{Deserialize, Serialize};

/// How often a review of each kind is due.
///
/// Memory is counted in user turns, because facts come from the user; skills in rounds of tool calls,
/// because procedures come from work. An interval of zero means never. The default of 10 and 10 is
/// that of hermes-agent.
///
/// It can be read from a host's configuration; what is left out there has its default, and a field
/// that does not exist is an error.
///
/// # Examples
///
/// ```
/// use hermes_review::Intervals;
///
/// let read: Intervals = serde_json::from_str(r#"{"memory_turns": 4}"#)?;
///
/// assert_eq!(read, Intervals::new(4, 10));
/// assert!(serde_json::from_str::<Intervals>(r#"{"memory_rounds": 4}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Intervals {
    /// User turns between two reviews of memory.
    pub memory_turns: u32,
    /// Rounds of tool calls between two reviews of skills.
    pub skill_rounds: u32,
}

impl Default for Intervals {
    fn default() -> Self {
        Self::new(10, 10)
    }
}

impl Intervals {
    /// Creates intervals of `memory_turns` user turns and `skill_rounds` rounds of tool calls.
    pub fn new(memory_turns: u32, skill_rounds: u32) -> Self {
        Self { memory_turns, skill_rounds }
    }

    /// Returns what is due at `counts`, `None` if nothing is.
    pub fn due(self, counts: &Counts) -> Option<ReviewScope> {
        let is_due = |interval: u32, count: u32| 0 < interval && interval <= count;
        let memory = is_due(self.memory_turns, counts.turns_since_memory);
        let skills = is_due(self.skill_rounds, counts.rounds_since_skills);
        ReviewScope::join(
            memory.then_some(ReviewScope::Memory),
            skills.then_some(ReviewScope::Skills),
        )
    }
}

/// Counts on its own, for hosts that have a loop of theirs and want only the nudge.
///
/// Within an agent the counts are part of the session and [`NudgePolicy`](crate::NudgePolicy) goes by
/// them; this type keeps both together.
///
/// # Examples
///
/// ```
/// use hermes_core::review::ReviewScope;
/// use hermes_review::{Intervals, NudgeCounters, Observed};
///
/// let mut nudges = NudgeCounters::new(Intervals::new(2, 0));
///
/// assert_eq!(nudges.observe(Observed::rounds(3)), None);
/// assert_eq!(nudges.observe(Observed::rounds(1)), Some(ReviewScope::Memory));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NudgeCounters {
    intervals: Intervals,
    counts: Counts,
}

/// What a finished turn was like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Observed {
    /// The rounds in which tools ran.
    pub tool_rounds: u32,
    /// What was written unprompted, which starts that count again.
    pub wrote: Option<ReviewScope>,
}

impl Observed {
    /// Creates a turn with `tool_rounds` rounds of tools that wrote nothing.
    pub fn rounds(tool_rounds: u32) -> Self {
        Self { tool_rounds, wrote: None }
    }

    /// Returns the same turn as one that wrote memory, a skill, or both.
    #[must_use]
    pub fn that_wrote(mut self, what: ReviewScope) -> Self {
        self.wrote = Some(what);
        self
    }
}

impl NudgeCounters {
    /// Creates counters at zero.
    pub fn new(intervals: Intervals) -> Self {
        Self { intervals, counts: Counts::default() }
    }

    /// Returns the counts, for storing.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Goes on from stored counts.
    #[must_use]
    pub fn with_counts(mut self, counts: Counts) -> Self {
        self.counts = counts;
        self
    }

    /// Counts a turn that ended with an answer, and returns what to review now, if anything. What is
    /// returned is counted from zero again.
    pub fn observe(&mut self, turn: Observed) -> Option<ReviewScope> {
        let wrote = |what: fn(ReviewScope) -> bool| turn.wrote.is_some_and(what);
        let counts = &mut self.counts;
        counts.turns_since_memory = if wrote(ReviewScope::has_memory) {
            0
        } else {
            counts.turns_since_memory.saturating_add(1)
        };
        counts.rounds_since_skills = if wrote(ReviewScope::has_skills) {
            0
        } else {
            counts.rounds_since_skills.saturating_add(turn.tool_rounds)
        };
        let due = self.intervals.due(counts)?;
        if due.has_memory() {
            counts.turns_since_memory = 0;
        }
        if due.has_skills() {
            counts.rounds_since_skills = 0;
        }
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_due_every_interval_of_turns() {
        let mut nudges = NudgeCounters::new(Intervals::new(3, 0));

        let due = [(); 6].map(|()| nudges.observe(Observed::default()));

        let memory = Some(ReviewScope::Memory);
        assert_eq!(due, [None, None, memory, None, None, memory]);
    }

    #[test]
    fn rounds_add_up_over_turns() {
        let mut nudges = NudgeCounters::new(Intervals::new(0, 10));

        assert_eq!(nudges.observe(Observed::rounds(6)), None);
        assert_eq!(nudges.observe(Observed::rounds(6)), Some(ReviewScope::Skills));
        assert_eq!(nudges.observe(Observed::rounds(6)), None);
    }

    #[test]
    fn an_unprompted_write_starts_the_count_again() {
        let mut nudges = NudgeCounters::new(Intervals::new(2, 10));

        nudges.observe(Observed::rounds(6));
        let due = nudges.observe(Observed::rounds(6).that_wrote(ReviewScope::Both));

        assert_eq!(due, None);
        assert_eq!(nudges.counts(), Counts::default());
    }

    #[test]
    fn zero_means_never() {
        let mut nudges = NudgeCounters::new(Intervals::new(0, 0));

        assert!((0..50).all(|_| nudges.observe(Observed::rounds(50)).is_none()));
    }
}

//! What a conversation took and how often, and how far it may go.

use super::Shared;
use crate::{
    agent::{Limits, Purse},
    cost::Spending,
    store::Counts,
};

impl Shared {
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
}

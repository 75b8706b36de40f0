//! How far a conversation may go, and what its forks took.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Limits;
use crate::{
    cost::{Cost, Spending},
    message::Usage,
    origin::OriginKind,
};

/// How far a whole conversation may go, its sub-agents included and its reviews not. No limit by
/// default.
///
/// What is left narrows the [`Limits`] of each turn, so that the turn in which a limit is reached
/// still ends with a request to sum up. The next one fails with
/// [`AgentError::OutOfBudget`](super::AgentError::OutOfBudget). Sub-agents draw on the same budget while
/// they run: once it is spent each of them finishes the request that is under way and sums up.
///
/// # Examples
///
/// ```
/// use hermes_core::{Cost, agent::SessionLimits};
///
/// let limits = SessionLimits::default().tokens(2_000_000).cost(Cost::from_dollars(3));
/// # let _ = limits;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "limits hold where they are set"]
pub struct SessionLimits {
    requests: Option<u64>,
    tokens: Option<u64>,
    cost: Option<Cost>,
}

impl SessionLimits {
    /// Sets the most model requests.
    pub fn requests(mut self, requests: u64) -> Self {
        self.requests = Some(requests);
        self
    }

    /// Sets the most tokens, input and output together; estimated where an endpoint reports none.
    pub fn tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Sets the most money.
    pub fn cost(mut self, cost: Cost) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Returns what a turn and its sub-agents may take together after `spent`.
    pub(crate) fn purse(self, turn: Limits, spent: &Spending) -> Purse {
        Purse(Arc::new(Mutex::new(Shares {
            requests: self.requests.map(|all| all.saturating_sub(spent.requests)),
            tokens: least(
                turn.tokens,
                self.tokens.map(|all| all.saturating_sub(spent.usage.total())),
            ),
            cost: least(turn.cost, self.cost.map(|all| all.saturating_sub(spent.cost))),
            spent: Spending::default(),
        })))
    }

    pub(crate) fn has_cost(self) -> bool {
        self.cost.is_some()
    }

    /// Returns how far a turn may go after `spent`, `None` if nothing is left.
    pub(crate) fn narrow(self, turn: Limits, spent: &Spending) -> Option<Limits> {
        let requests = self.requests.map(|all| all.saturating_sub(spent.requests));
        let tokens = self.tokens.map(|all| all.saturating_sub(spent.usage.total()));
        let cost = self.cost.map(|all| all.saturating_sub(spent.cost));
        if requests == Some(0) || tokens == Some(0) || cost == Some(Cost::ZERO) {
            return None;
        }
        let requests = requests.and_then(|left| u32::try_from(left).ok());
        Some(Limits {
            requests: requests.map_or(turn.requests, |left| left.min(turn.requests)),
            tokens: least(turn.tokens, tokens),
            cost: least(turn.cost, cost),
            ..turn
        })
    }
}

/// What a turn and its sub-agents may take together, and what they took. Without limits by default.
/// A clone shares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Purse(Arc<Mutex<Shares>>);

#[derive(Debug, Default)]
struct Shares {
    requests: Option<u64>,
    tokens: Option<u64>,
    cost: Option<Cost>,
    spent: Spending,
}

impl Purse {
    /// Takes note of what one request took.
    pub(crate) fn add(&self, usage: Usage, cost: Option<Cost>) {
        self.lock().spent.add(usage, cost);
    }

    /// Returns whether nothing is left.
    pub(crate) fn is_spent(&self) -> bool {
        let shares = self.lock();
        let spent = &shares.spent;
        shares.requests.is_some_and(|limit| limit <= spent.requests)
            || shares.tokens.is_some_and(|limit| limit <= spent.usage.total())
            || shares.cost.is_some_and(|limit| limit <= spent.cost)
    }

    fn lock(&self) -> MutexGuard<'_, Shares> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// What the forks of a conversation took. A clone shares the record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(Arc<Mutex<Forks>>);

/// What forks took, by kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Forks {
    pub(crate) reviews: Spending,
    pub(crate) delegated: Spending,
}

impl Tally {
    pub(crate) fn new(reviews: Spending, delegated: Spending) -> Self {
        Self(Arc::new(Mutex::new(Forks { reviews, delegated })))
    }

    /// Adds what a fork of `kind` took.
    pub(crate) fn add(&self, kind: OriginKind, spending: Spending) {
        let mut forks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match kind {
            OriginKind::Review => forks.reviews += spending,
            _ => forks.delegated += spending,
        }
    }

    pub(crate) fn read(&self) -> Forks {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(requests: u64, tokens: u64, cents: u64) -> Spending {
        let (usage, cost) = (Usage::new(tokens, 0), Cost::from_cents(cents));
        Spending { requests, usage, cost, ..Spending::default() }
    }

    #[test]
    fn what_is_left_narrows_a_turn() {
        let session =
            SessionLimits::default().requests(100).tokens(1_000).cost(Cost::from_cents(10));
        let turn = Limits { tokens: Some(600), ..Limits::default() };

        let first = session.narrow(turn, &Spending::default()).unwrap();
        let later = session.narrow(turn, &spent(98, 700, 4)).unwrap();

        assert_eq!((first.requests, first.tokens), (90, Some(600)));
        assert_eq!((later.requests, later.tokens), (2, Some(300)));
        assert_eq!(later.cost, Some(Cost::from_cents(6)));
        assert_eq!(SessionLimits::default().narrow(turn, &spent(9, 9, 9)), Some(turn));
    }

    #[test]
    fn nothing_is_left_once_one_of_them_is_spent() {
        let session =
            SessionLimits::default().requests(100).tokens(1_000).cost(Cost::from_cents(10));

        for spent in [spent(100, 0, 0), spent(0, 1_001, 0), spent(0, 0, 10)] {
            assert_eq!(session.narrow(Limits::default(), &spent), None, "{spent:?}");
        }
    }
}

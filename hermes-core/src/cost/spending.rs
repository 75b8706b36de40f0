//! What model requests took, added up.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::Cost;
use crate::message::Usage;

/// What a number of model requests took: tokens, and money as far as prices are known.
///
/// # Examples
///
/// ```
/// use hermes_core::{Cost, cost::Spending, message::Usage};
///
/// let mut spending = Spending::default();
/// spending.add(Usage::new(1_000, 50), Some(Cost::from_cents(2)));
/// assert_eq!(spending.known_cost(), Some(Cost::from_cents(2)));
///
/// spending.add(Usage::new(500, 10), None);
/// assert_eq!(spending.usage.input, 1_500);
/// assert_eq!(spending.known_cost(), None); // at least two cents
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Spending {
    /// The requests that brought an answer, summaries included.
    pub requests: u64,
    /// Their tokens.
    pub usage: Usage,
    /// What those of them cost that have a price.
    pub cost: Cost,
    /// How many of them have no known price.
    pub unpriced: u64,
    /// How many of them had no usage reported, so that their tokens, and what those cost, are an estimate.
    pub estimated: u64,
}

impl Spending {
    /// Adds one request.
    pub fn add(&mut self, usage: Usage, cost: Option<Cost>) {
        self.requests = self.requests.saturating_add(1);
        self.usage += usage;
        match cost {
            Some(cost) => self.cost += cost,
            None => self.unpriced = self.unpriced.saturating_add(1),
        }
    }

    /// Notes that the request added last was estimated, if it was.
    pub(crate) fn note_estimated(&mut self, is_estimated: bool) {
        self.estimated = self.estimated.saturating_add(u64::from(is_estimated));
    }

    /// Returns what all of it cost; `None` if that is not known of some of it.
    pub fn known_cost(&self) -> Option<Cost> {
        (self.unpriced == 0).then_some(self.cost)
    }
}

impl AddAssign for Spending {
    fn add_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.usage += other.usage;
        self.cost += other.cost;
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
        self.estimated = self.estimated.saturating_add(other.estimated);
    }
}

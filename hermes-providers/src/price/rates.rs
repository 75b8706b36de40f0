//! The prices of one model.

use hermes_core::{Cost, message::Usage};
use serde::{Deserialize, Serialize};

/// What a model costs, each price for a million tokens of a kind.
///
/// # Examples
///
/// ```
/// use hermes_core::{Cost, message::Usage};
/// use hermes_providers::Prices;
///
/// let prices = Prices::new("2.50".parse()?, "10".parse()?).cached_input("1.25".parse()?);
///
/// let mut usage = Usage::new(1_000_000, 0);
/// usage.cache_read = 400_000;
/// assert_eq!(prices.cost(&usage), Some(Cost::from_dollars(2)));
/// # Ok::<(), hermes_core::cost::ParseCostError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    input: Cost,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cached_input: Option<Cost>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cache_write: Option<Cost>,
    output: Cost,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reasoning: Option<Cost>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

impl Prices {
    /// Creates the prices of a model that asks `input` for what it reads and `output` for what it
    /// writes.
    pub fn new(input: Cost, output: Cost) -> Self {
        Self { input, cached_input: None, cache_write: None, output, reasoning: None, source: None }
    }

    /// Creates the prices of a model that costs nothing, such as one on the host's own machine.
    pub fn free() -> Self {
        Self::new(Cost::ZERO, Cost::ZERO).cached_input(Cost::ZERO).cache_write(Cost::ZERO)
    }

    /// Sets the price of input that is read from the cache. Without it, a call that read some has no
    /// known cost.
    #[must_use]
    pub fn cached_input(mut self, price: Cost) -> Self {
        self.cached_input = Some(price);
        self
    }

    /// Sets the price of input that is written to the cache, for the lifetime that is asked for.
    /// Without it, a call that wrote some has no known cost.
    #[must_use]
    pub fn cache_write(mut self, price: Cost) -> Self {
        self.cache_write = Some(price);
        self
    }

    /// Sets the price of reasoning. By default it is that of output.
    #[must_use]
    pub fn reasoning(mut self, price: Cost) -> Self {
        self.reasoning = Some(price);
        self
    }

    /// Sets where the prices are from, and of which day; for people.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns where the prices are from.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Returns what `usage` costs; `None` if a price for some of it is not known, or if no usage was
    /// reported and the model is not free.
    ///
    /// Parts that are said to be larger than their whole count as all of it: the counts come from
    /// outside.
    pub fn cost(&self, usage: &Usage) -> Option<Cost> {
        if usage.total() == 0 && !self.is_free() {
            return None;
        }
        let read = usage.cache_read.min(usage.input);
        let written = usage.cache_write.min(usage.input - read);
        let fresh = usage.input - read - written;
        let reasoned = usage.reasoning.min(usage.output);
        let said = usage.output - reasoned;
        [
            (Some(self.input), fresh),
            (self.cached_input, read),
            (self.cache_write, written),
            (Some(self.output), said),
            (self.reasoning.or(Some(self.output)), reasoned),
        ]
        .into_iter()
        .filter(|(_, tokens)| 0 < *tokens)
        .map(|(price, tokens)| Some(price?.per_million(tokens)))
        .sum()
    }

    fn is_free(&self) -> bool {
        self.input.is_zero() && self.output.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: [u64; 3], output: [u64; 2]) -> Usage {
        let ([input, read, written], [output, reasoned]) = (input, output);
        let mut usage = Usage::new(input, output);
        usage.cache_read = read;
        usage.cache_write = written;
        usage.reasoning = reasoned;
        usage
    }

    fn full() -> Prices {
        let dollars = Cost::from_dollars;
        Prices::new(dollars(5), dollars(25))
            .cached_input(Cost::from_cents(50))
            .cache_write("6.25".parse().unwrap())
    }

    #[track_caller]
    fn check(prices: &Prices, usage: Usage, expected: Option<&str>) {
        let cost = prices.cost(&usage).map(|it| it.to_string());
        assert_eq!(cost.as_deref(), expected);
    }

    #[test]
    fn every_kind_of_token_has_its_price() {
        const M: u64 = 1_000_000;
        check(&full(), usage([3 * M, M, M], [M, 0]), Some("$36.75"));
        check(&full(), usage([3 * M, M, M], [M, M]), Some("$36.75"));
        let thinking = full().reasoning(Cost::from_dollars(1));
        check(&thinking, usage([0, 0, 0], [M, M / 2]), Some("$13.00"));
    }

    #[test]
    fn a_kind_that_was_used_and_has_no_price_makes_the_cost_unknown() {
        let plain = Prices::new(Cost::from_dollars(1), Cost::from_dollars(2));

        check(&plain, usage([10, 0, 0], [10, 10]), Some("$0.00003"));
        check(&plain, usage([10, 1, 0], [10, 0]), None);
        check(&plain, usage([10, 0, 1], [10, 0]), None);
    }

    #[test]
    fn no_report_is_no_cost_of_zero() {
        check(&full(), Usage::default(), None);
        check(&Prices::free(), Usage::default(), Some("$0.00"));
        check(&Prices::free(), usage([10, 5, 5], [1, 1]), Some("$0.00"));
    }

    #[test]
    fn counts_that_contradict_each_other_do_no_harm() {
        check(&full(), usage([1_000_000, 2_000_000, 2_000_000], [0, 9]), Some("$0.50"));
        check(&full(), usage([u64::MAX; 3], [u64::MAX; 2]), Some("$18446744.073709551615"));
    }
}

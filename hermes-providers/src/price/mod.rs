//! What models cost, as a table that the host brings.

mod rates;

use std::collections::BTreeMap;

use hermes_core::{Cost, Pricing, message::Usage};
use serde::{Deserialize, Serialize};

pub use self::rates::Prices;

/// Prices by model, for an estimate of what calls cost.
///
/// The crate ships no prices: they change, and a host's contract may have its own. Load a table from a
/// file with any `serde` format, or put it together with [`with`](Self::with), and hand it to whatever
/// takes a [`Pricing`].
///
/// # Which entry counts
///
/// A name is the whole id of a model, or, with `*` at its end, the beginning of one; elsewhere a star
/// stands for itself. The whole id comes first, then the longest beginning that fits. Capitals matter,
/// and `vendor/model` is another id than `model`. A beginning also covers siblings that are not listed,
/// so list cheaper and dearer ones beside it: `gpt-4o*` alone would price `gpt-4o-mini` as well.
///
/// # What is not known
///
/// There is no estimate, which is not the same as an estimate of zero, if no entry fits, if a kind of
/// token was used that its entry has no price for, or if no usage was reported at all. Prices that
/// depend on the length of a request or on the time of day are beyond a table; implement [`Pricing`]
/// for those.
///
/// # Examples
///
/// Prices are dollars per million tokens, as numbers or as text.
///
/// ```
/// use hermes_core::{Cost, message::Usage};
/// use hermes_providers::PriceTable;
///
/// let table: PriceTable = serde_json::from_str(r#"{
///     "large-*":    {"input": 3,    "cached_input": 0.3, "cache_write": 3.75, "output": 15},
///     "large-mini": {"input": 0.25, "cached_input": "0.025", "output": 2,
///                    "source": "the price page of the vendor, 2026-11-30"},
///     "local":      {"input": 0, "output": 0}
/// }"#)?;
///
/// let mut usage = Usage::new(12_000, 800);
/// usage.cache_read = 10_000;
/// assert_eq!(table.estimate(&usage, "large-mini"), Some("0.00235".parse()?));
/// assert_eq!(table.estimate(&usage, "large-2"), Some("0.021".parse()?));
/// assert_eq!(table.estimate(&usage, "unheard-of"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The same in TOML, for a host that parses that:
///
/// ```toml
/// ["large-*"]
/// input = 3
/// cached_input = 0.3
/// cache_write = 3.75
/// output = 15
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PriceTable {
    models: BTreeMap<String, Prices>,
}

impl PriceTable {
    /// Creates a table without entries, which knows no cost.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the same table with `prices` for `name`, in place of those it had.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, prices: Prices) -> Self {
        self.models.insert(name.into(), prices);
        self
    }

    /// Returns the prices that count for `model`.
    pub fn get(&self, model: &str) -> Option<&Prices> {
        self.models.get(model).or_else(|| {
            let beginnings = self.models.iter().filter_map(|(name, prices)| {
                let beginning = name.strip_suffix('*')?;
                model.starts_with(beginning).then_some((beginning.len(), prices))
            });
            beginnings.max_by_key(|(length, _)| *length).map(|(_, prices)| prices)
        })
    }

    /// Returns what a call of `model` that used `usage` costs, `None` if that is not known.
    pub fn estimate(&self, usage: &Usage, model: &str) -> Option<Cost> {
        self.get(model)?.cost(usage)
    }
}

impl Pricing for PriceTable {
    fn cost(&self, model: &str, usage: &Usage) -> Option<Cost> {
        self.estimate(usage, model)
    }
}

impl<N: Into<String>> FromIterator<(N, Prices)> for PriceTable {
    fn from_iter<I: IntoIterator<Item = (N, Prices)>>(entries: I) -> Self {
        Self { models: entries.into_iter().map(|(name, prices)| (name.into(), prices)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(text: &str) -> Cost {
        text.parse().unwrap()
    }

    fn priced(input: u64) -> Prices {
        Prices::new(Cost::from_dollars(input), Cost::from_dollars(input))
    }

    #[track_caller]
    fn check(model: &str, expected: Option<u64>) {
        let table = PriceTable::new()
            .with("large", priced(1))
            .with("large-*", priced(2))
            .with("large-3*", priced(3))
            .with("large-3-mini", priced(4))
            .with("vendor/*", priced(5));

        let cost = table.cost(model, &Usage::new(500_000, 500_000));

        assert_eq!(cost, expected.map(Cost::from_dollars));
    }

    #[test]
    fn the_whole_id_comes_before_a_beginning() {
        check("large", Some(1));
        check("large-3-mini", Some(4));
    }

    #[test]
    fn the_longest_beginning_counts() {
        check("large-2", Some(2));
        check("large-3", Some(3));
        check("large-3-mini-2026-01-01", Some(3));
        check("vendor/large", Some(5));
    }

    #[test]
    fn a_model_that_is_not_listed_has_no_cost() {
        for model in ["larg", "larger", "Large", "other/large", "", "*"] {
            check(model, None);
        }
        assert_eq!(PriceTable::new().estimate(&Usage::new(1, 1), "large"), None);
    }

    #[test]
    fn a_lone_star_covers_everything() {
        let table = PriceTable::new().with("*", priced(1)).with("a*", priced(2));

        assert_eq!(table.get("b"), Some(&priced(1)));
        assert_eq!(table.get("ab"), Some(&priced(2)));
    }

    #[test]
    fn a_table_is_read_from_toml_without_rounding() {
        let table: PriceTable = toml::from_str(
            "[\"flash-8b\"]\ninput = 0.0375\ncached_input = \"0.01\"\noutput = 0.15\n\
             source = \"price page, 2026-11-30\"\n[big]\ninput = 15\noutput = 75.0\n",
        )
        .unwrap();

        let mut usage = Usage::new(3, 1);
        usage.cache_read = 2;
        assert_eq!(table.estimate(&usage, "flash-8b"), Some(dollars("0.0000002075")));
        assert_eq!(table.estimate(&Usage::new(1, 1), "big"), Some(dollars("0.00009")));
        assert_eq!(table.get("flash-8b").unwrap().source(), Some("price page, 2026-11-30"));
        let stored = serde_json::to_string(&table).unwrap();
        assert_eq!(serde_json::from_str::<PriceTable>(&stored).unwrap(), table);
    }

    #[test]
    fn an_entry_that_cannot_be_meant_is_refused() {
        for entry in [
            r#"{"input": -1, "output": 1}"#,
            r#"{"input": "cheap", "output": 1}"#,
            r#"{"input": 1, "output": 1, "cached_inptu": 1}"#,
            r#"{"output": 1}"#,
        ] {
            let table = format!(r#"{{"a": {entry}}}"#);
            assert!(serde_json::from_str::<PriceTable>(&table).is_err(), "{entry}");
        }
    }
}

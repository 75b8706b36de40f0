//! What model calls cost: an exact amount, and the trait that estimates it.

mod decimal;
mod spending;

use std::{
    fmt,
    iter::Sum,
    ops::{Add, AddAssign},
    str::FromStr,
    sync::Arc,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use self::decimal::DollarsVisitor;
pub use self::{decimal::ParseCostError, spending::Spending};
use crate::message::Usage;

/// Estimates what a model call costs.
///
/// It is a trait of its own because prices change more often than code, and differ between one
/// contract and another: the host decides where they come from. `hermes_providers::PriceTable` is
/// one that looks them up in a table.
///
/// # Contract
///
/// - It answers at once: no waiting, no network.
/// - It does not guess. A model it does not know, and a kind of token that was used and has no
///   price, make the answer `None`, which is not the same as a cost of zero.
/// - The same question has the same answer for as long as the value lives.
///
/// # Examples
///
/// ```
/// use hermes_core::{Cost, Pricing, message::Usage};
///
/// /// A flat rate of a dollar per million tokens, whatever the model.
/// #[derive(Debug)]
/// struct Flat;
///
/// impl Pricing for Flat {
///     fn cost(&self, _model: &str, usage: &Usage) -> Option<Cost> {
///         Some(Cost::from_dollars(1).per_million(usage.total()))
///     }
/// }
///
/// let cost = Flat.cost("any", &Usage::new(1_000, 500));
/// assert_eq!(cost, Some(Cost::from_picodollars(1_500_000_000)));
/// ```
pub trait Pricing: fmt::Debug + Send + Sync {
    /// Returns what a call of `model` that used `usage` costs; `None` if that is not known.
    fn cost(&self, model: &str, usage: &Usage) -> Option<Cost>;
}

#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<P: Pricing + ?Sized> Pricing for Arc<P> {
    fn cost(&self, model: &str, usage: &Usage) -> Option<Cost> {
        (**self).cost(model, usage)
    }
}

/// An amount of money in US dollars, exact to a millionth of a millionth.
///
/// It is a whole number inside, so that a thousand small amounts add up to what they should; sums
/// stop at [`Cost::MAX`], about 18 million dollars. A host whose prices are in another currency reads
/// its own in place of the dollar.
///
/// As text it is a decimal of dollars, which is also its form in JSON or TOML (`"0.0125"`); from there
/// a number (`0.0125`, `2`) is taken too, by its decimal digits. Formats that are not for people hold
/// the [picodollars](Self::as_picodollars).
///
/// # Examples
///
/// ```
/// use hermes_core::Cost;
///
/// let limit: Cost = "0.50".parse()?;
/// let spent = Cost::from_cents(12) + "0.0000375".parse()?;
///
/// assert!(spent < limit);
/// assert_eq!(spent.to_string(), "$0.1200375");
/// assert_eq!(format!("{spent:.2}"), "$0.12");
/// # Ok::<(), hermes_core::cost::ParseCostError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost {
    picos: u64,
}

impl Cost {
    /// Nothing at all.
    pub const ZERO: Self = Self { picos: 0 };
    /// The largest amount, about 18 million dollars.
    pub const MAX: Self = Self { picos: u64::MAX };

    const PICOS_PER_CENT: u64 = 10_000_000_000;
    const PICOS_PER_DOLLAR: u64 = 100 * Self::PICOS_PER_CENT;
    const FRACTION_DIGITS: usize = 12;

    /// Creates an amount of whole dollars, [`Cost::MAX`] if it is larger than that.
    pub const fn from_dollars(dollars: u64) -> Self {
        Self { picos: dollars.saturating_mul(Self::PICOS_PER_DOLLAR) }
    }

    /// Creates an amount of whole cents, [`Cost::MAX`] if it is larger than that.
    pub const fn from_cents(cents: u64) -> Self {
        Self { picos: cents.saturating_mul(Self::PICOS_PER_CENT) }
    }

    /// Creates an amount of millionths of a millionth of a dollar.
    pub const fn from_picodollars(picos: u64) -> Self {
        Self { picos }
    }

    /// Returns the amount in millionths of a millionth of a dollar.
    pub const fn as_picodollars(self) -> u64 {
        self.picos
    }

    /// Returns whether it is nothing.
    pub const fn is_zero(self) -> bool {
        self.picos == 0
    }

    /// Returns what `tokens` cost if a million of them cost this, to the nearest picodollar.
    #[must_use]
    pub fn per_million(self, tokens: u64) -> Self {
        // No product of two u64 and a half overflows a u128.
        let picos = (u128::from(self.picos) * u128::from(tokens) + 500_000) / 1_000_000;
        Self { picos: u64::try_from(picos).unwrap_or(u64::MAX) }
    }

    /// Returns what is left of this amount after `other`, at least nothing.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self { picos: self.picos.saturating_sub(other.picos) }
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { picos: self.picos.saturating_add(other.picos) }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::ZERO, Add::add)
    }
}

/// Writes all digits of the amount, at least two after the point; with a precision that many,
/// rounded.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        decimal::write(self.picos, f.precision(), f)
    }
}

impl FromStr for Cost {
    type Err = ParseCostError;

    /// Takes a decimal of dollars, with or without `$` before it.
    fn from_str(text: &str) -> Result<Self, ParseCostError> {
        decimal::parse(text.strip_prefix('$').unwrap_or(text)).map(Self::from_picodollars)
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_u64(self.picos);
        }
        let text = self.to_string();
        serializer.serialize_str(text.strip_prefix('$').unwrap_or(&text))
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_any(DollarsVisitor);
        }
        u64::deserialize(deserializer).map(Self::from_picodollars)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str) {
        let cost: Cost = text.parse().unwrap();

        assert_eq!(cost.to_string(), shown);
        assert_eq!(shown.parse::<Cost>().unwrap(), cost, "its text leads back to it");
        let stored = serde_json::to_value(cost).unwrap();
        assert_eq!(serde_json::from_value::<Cost>(stored).unwrap(), cost, "so does what is stored");
    }

    #[test]
    fn an_amount_is_shown_with_all_its_digits() {
        check("0", "$0.00");
        check("3", "$3.00");
        check("0.5", "$0.50");
        check("$12.345", "$12.345");
        check(".075", "$0.075");
        check("007.10", "$7.10");
        check("0.000000000001", "$0.000000000001");
        check("1.250000000000000", "$1.25");
        check("18446744.073709551615", "$18446744.073709551615");
    }

    #[test]
    fn a_precision_rounds_to_the_nearest() {
        let cost: Cost = "1.0951".parse().unwrap();

        assert_eq!(format!("{cost:.4}"), "$1.0951");
        assert_eq!(format!("{cost:.2}"), "$1.10");
        assert_eq!(format!("{cost:.0}"), "$1");
        assert_eq!(format!("{:.0}", Cost::from_cents(150)), "$2");
        assert_eq!(format!("{:.3}", Cost::MAX), "$18446744.074");
        assert_eq!(format!("{cost:.14}"), "$1.09510000000000");
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for text in ["", "$", ".", "-1", "+1", "1e3", "1,5", "1.2.3", " 1", "0x1", "٣", "inf"] {
            assert_eq!(text.parse::<Cost>(), Err(ParseCostError::Malformed), "{text:?}");
        }
        assert_eq!("0.0000000000001".parse::<Cost>(), Err(ParseCostError::TooFine));
        assert_eq!("18446744.073709551616".parse::<Cost>(), Err(ParseCostError::TooLarge));
        assert_eq!("99999999999999999999999".parse::<Cost>(), Err(ParseCostError::TooLarge));
    }

    #[test]
    fn a_number_in_json_is_taken_by_its_digits() {
        let read = |value| serde_json::from_value::<Cost>(value);

        assert_eq!(read(json!(0.1)).unwrap(), Cost::from_cents(10));
        assert_eq!(read(json!(0.0375)).unwrap(), "0.0375".parse().unwrap());
        assert_eq!(read(json!(1e-7)).unwrap(), Cost::from_picodollars(100_000));
        assert_eq!(read(json!(2)).unwrap(), Cost::from_dollars(2));
        assert_eq!(read(json!(u64::MAX)).unwrap_err().to_string(), "the amount is too large");
        for value in [json!(-1), json!(-0.5), json!(null), json!([1]), json!("one"), json!(true)] {
            assert!(read(value.clone()).is_err(), "{value}");
        }
    }

    #[test]
    fn sums_stop_at_the_ends() {
        let one = Cost::from_dollars(1);

        assert_eq!(Cost::MAX + one, Cost::MAX);
        assert_eq!(Cost::ZERO.saturating_sub(one), Cost::ZERO);
        assert_eq!(Cost::from_dollars(u64::MAX), Cost::MAX);
        assert_eq!(Cost::MAX.per_million(u64::MAX), Cost::MAX);
        assert_eq!(
            [one, one, Cost::from_cents(5)].into_iter().sum::<Cost>(),
            Cost::from_cents(205)
        );
    }

    #[test]
    fn many_small_amounts_add_up_to_the_large_one() {
        let rate: Cost = "0.0375".parse().unwrap();

        let parts: Cost = (0..10_000).map(|_| rate.per_million(7)).sum();

        assert_eq!(parts, rate.per_million(70_000));
        assert_eq!(parts, "0.002625".parse().unwrap());
    }
}

//! Decimals of dollars as text, without a floating point number on the way.

use std::fmt;

use serde::de::{self, Visitor};

use super::Cost;

/// Why a text is no amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseCostError {
    /// It is not made of digits with at most one point.
    #[error("an amount is digits with at most one point, such as 0.25")]
    Malformed,
    /// It has a digit behind the twelfth after the point.
    #[error("the amount has more than twelve digits after the point")]
    TooFine,
    /// It is larger than [`Cost::MAX`].
    #[error("the amount is too large")]
    TooLarge,
}

/// Returns the picodollars that `text` says.
pub(super) fn parse(text: &str) -> Result<u64, ParseCostError> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_empty = whole.is_empty() && fraction.is_empty();
    if is_empty || !whole.bytes().chain(fraction.bytes()).all(|it| it.is_ascii_digit()) {
        return Err(ParseCostError::Malformed);
    }
    let fraction = fraction.trim_end_matches('0');
    let missing = Cost::FRACTION_DIGITS.checked_sub(fraction.len());
    let zeros = std::iter::repeat_n(b'0', missing.ok_or(ParseCostError::TooFine)?);
    let digits = whole.bytes().chain(fraction.bytes()).chain(zeros);
    digits
        .map(|byte| u64::from(byte.saturating_sub(b'0')))
        .try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(digit))
        .ok_or(ParseCostError::TooLarge)
}

/// Writes `picos` in dollars: all digits, at least two after the point, or `precision` of them.
pub(super) fn write(
    picos: u64,
    precision: Option<usize>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let kept = precision.unwrap_or(Cost::FRACTION_DIGITS);
    let unit = Cost::FRACTION_DIGITS
        .checked_sub(kept)
        .and_then(|cut| u32::try_from(cut).ok())
        .map_or(1, |cut| 10_u128.pow(cut));
    let rounded = (u128::from(picos) + unit / 2) / unit * unit;
    let dollar = u128::from(Cost::PICOS_PER_DOLLAR);
    let fraction = format!("{:0width$}", rounded % dollar, width = Cost::FRACTION_DIGITS);
    let needed = match precision {
        Some(kept) => kept,
        None => fraction.trim_end_matches('0').len().max(2),
    };
    write!(f, "{}", rounded / dollar)?;
    if needed == 0 {
        return Ok(());
    }
    let shown = fraction.get(..needed).unwrap_or(&fraction);
    write!(f, ".{shown:0<needed$}")
}

/// Takes dollars as a text or as a number.
pub(super) struct DollarsVisitor;

impl Visitor<'_> for DollarsVisitor {
    type Value = Cost;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount of dollars, such as \"0.25\" or 0.25")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Cost, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, dollars: u64) -> Result<Cost, E> {
        self.visit_str(&dollars.to_string())
    }

    fn visit_i64<E: de::Error>(self, dollars: i64) -> Result<Cost, E> {
        self.visit_str(&dollars.to_string())
    }

    fn visit_f64<E: de::Error>(self, dollars: f64) -> Result<Cost, E> {
        // Display writes the shortest decimal that means this number, never with an exponent: the
        // digits that stood in the file.
        self.visit_str(&dollars.to_string())
    }
}

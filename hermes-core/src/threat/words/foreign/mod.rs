//! Languages other than English.

mod orders;
mod phrases;
mod roles;

pub(super) use self::phrases::PHRASES;

/// The lists of words.
pub(super) const WORDS: [&[(&str, &str)]; 2] = [orders::WORDS, roles::WORDS];

//! Languages other than English.

mod orders;
mod phrases;
mod remote;
mod roles;

/// The lists of phrases.
pub(super) const PHRASES: [&[(&str, &str)]; 2] = [phrases::PHRASES, remote::PHRASES];

/// The lists of words.
pub(super) const WORDS: [&[(&str, &str)]; 3] = [orders::WORDS, roles::WORDS, remote::WORDS];

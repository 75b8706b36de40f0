//! The classes of words that the rules are made of.
//!
//! Classes are what a rule speaks of ("to drop", "earlier", "order"), not sentences: a rule finds
//! every combination of their members. Words are separated by blanks; a star stands for any ending
//! after at least five bytes. Accents do not matter.

mod addressed;
mod english;
mod foreign;
mod machine;
mod remote;

pub(super) use self::english::{BREAKERS, DISGUISED, FILLERS, OPENERS};

/// Signs that the tokenizer makes up, as classes of their own.
pub(super) const SIGNS: &[&str] = &[
    "PIPE",
    "REDIRECT",
    "APPEND",
    "HERE",
    "THEN",
    "URL",
    "EMAIL",
    "ADDRESS",
    "SECRET_VAR",
    "SECRET_NAME",
    "AUTH_VAR",
    "VAR",
];

/// The signs that stand between words.
pub(super) const WEIGHTLESS: &[&str] = &["PIPE", "REDIRECT", "APPEND", "HERE", "THEN"];

/// Returns every class with some of its words.
pub(super) fn lists() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let foreign = foreign::WORDS.into_iter().flatten();
    english::WORDS
        .iter()
        .chain(foreign)
        .chain(machine::WORDS)
        .chain(remote::WORDS)
        .chain(addressed::WORDS)
}

/// Returns every class with some of the phrases that count as one word of it, separated by `;`.
pub(super) fn phrases() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let foreign = foreign::PHRASES.into_iter().flatten();
    english::PHRASES.iter().chain(remote::PHRASES).chain(addressed::PHRASES).chain(foreign)
}

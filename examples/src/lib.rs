//! Examples of the hermes agent crates, and the tests that cross crates.

pub mod three_sessions;

/// The programs of the README, which must compile and do what it says.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}

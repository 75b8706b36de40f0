//! Examples of the hermes agent crates, and the tests that cross crates.

pub mod three_sessions;

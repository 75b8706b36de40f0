//! Examples of the hermes agent crates, and the tests that cross crates.

pub mod three_sessions;

/// The programs of the README, which must compile and do what it says.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}

/// The programs of the guides, likewise.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../../docs/guides/learning.md")]
    mod learning {}

    #[doc = include_str!("../../docs/guides/many-users.md")]
    mod many_users {}

    #[doc = include_str!("../../docs/guides/own-stores.md")]
    mod own_stores {}
}

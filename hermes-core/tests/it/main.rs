//! Flows through the loop: what a host sees, and what the conversation is afterwards.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

mod approval;
mod attacks;
mod audit;
mod bounds;
mod compress;
mod decided;
mod deeds;
mod delegate;
mod fork;
mod hook;
mod lost;
mod odd;
mod random;
mod repeat;
mod session;
mod support;
mod turn;

//! Looks back at finished work and keeps what is worth keeping.
//!
//! [`NudgePolicy`] decides *when*: every so many user turns for memory, every so many rounds of tool
//! calls for skills. [`BackgroundReview`] does the work, in a fork of the conversation that may only
//! touch memory and skills, has few requests, and never shows up in the user's conversation. What it
//! did comes back as a typed [`ReviewReport`](hermes_core::review::ReviewReport).
//!
//! [`NudgeCounters`] is the arithmetic alone, for hosts with a loop of their own.
//!
//! | To change              | implement or set                                     |
//! | ---------------------- | ---------------------------------------------------- |
//! | when a review is due   | [`Intervals`], or your own `ReviewPolicy`            |
//! | on which model it runs | [`BackgroundReview::model`] and [`provider`][p]      |
//! | how it is done         | your own `Review`, with [`NudgePolicy::by`]          |
//! | what becomes of writes | [`ReviewPolicy::judge`][judge] of your own policy    |
//!
//! [p]: BackgroundReview::provider
//! [judge]: hermes_core::review::ReviewPolicy::judge

mod background;
mod digest;
mod nudge;
mod policy;
mod prompt;

pub use self::{
    background::BackgroundReview,
    digest::digest,
    nudge::{Intervals, NudgeCounters, Observed},
    policy::NudgePolicy,
    prompt::review_prompt,
};

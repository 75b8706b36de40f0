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
//! | which writes wait      | [`NudgePolicy::hold`]                                |
//! | what becomes of writes | [`ReviewPolicy::judge`][judge] of your own policy    |
//!
//! # Examples
//!
//! A policy around [`NudgePolicy`] that lets no review write about the user, and the report:
//!
//! ```
//! use hermes_core::{
//!     Agent,
//!     agent::FinishedTurn,
//!     memory::Target,
//!     review::{Proposal, ProposedWrite, ReviewPolicy, ReviewTask, Verdict},
//!     testing::ScriptedProvider,
//! };
//! use hermes_review::{Intervals, NudgePolicy};
//!
//! #[derive(Debug)]
//! struct NoProfiles(NudgePolicy);
//!
//! impl ReviewPolicy for NoProfiles {
//!     fn after_turn(&self, turn: &FinishedTurn) -> Option<ReviewTask> {
//!         self.0.after_turn(turn)
//!     }
//!
//!     fn judge(&self, write: &ProposedWrite) -> Verdict {
//!         match &write.what {
//!             Proposal::Memory { target: Target::User, .. } if write.origin.is_automatic() => {
//!                 Verdict::Reject("Facts about the user are not kept here.".to_owned())
//!             }
//!             _ => self.0.judge(write),
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = NoProfiles(NudgePolicy::new(Intervals::new(10, 10)));
//! let agent = Agent::builder(ScriptedProvider::new().say("Hello."))
//!     .model("scripted")
//!     .review(policy)
//!     .build()?;
//!
//! let turn = agent.session().send("Hi.").await?;
//! if let Some(review) = turn.review {
//!     let report = review.await.ok_or("the runtime went away")?;
//!     println!("{:?}: {}", report.outcome, report.lines().join("; "));
//! }
//! # Ok(())
//! # }
//! ```
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
    policy::{NudgePolicy, Writes},
    prompt::review_prompt,
};

//! What a host can see, change and forbid while a turn runs.
//!
//! A [`Hook`] is told what is about to happen and what has happened, in typed events, and answers
//! with typed actions. It cannot break a conversation: whatever it answers, and also if it crashes,
//! every call gets exactly one result and the history stays valid.
//!
//! # Examples
//!
//! Keeps the agent away from a folder, and counts how its turns end:
//!
//! ```
//! # #[cfg(all(feature = "testing", feature = "schema"))]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
//!
//! use hermes_core::{
//!     Agent,
//!     agent::hook::{BeforeCall, CallAction, Hook, HookPoints, TurnEnded},
//!     async_trait,
//!     schemars::{self, JsonSchema},
//!     testing::ScriptedProvider,
//!     tool,
//! };
//! use serde::Deserialize;
//! use serde_json::json;
//!
//! #[derive(Debug, Default)]
//! struct Guard {
//!     ended: AtomicU32,
//! }
//!
//! #[async_trait]
//! impl Hook for Guard {
//!     fn listens(&self) -> HookPoints {
//!         HookPoints::BEFORE_CALL | HookPoints::TURN_ENDED
//!     }
//!
//!     async fn before_call(&self, event: &BeforeCall<'_>) -> CallAction {
//!         match event.arguments["path"].as_str() {
//!             Some(path) if path.starts_with("/etc") => {
//!                 CallAction::Deny("files under /etc are off limits".to_owned())
//!             }
//!             _ => CallAction::Proceed,
//!         }
//!     }
//!
//!     async fn turn_ended(&self, _: &TurnEnded<'_>) {
//!         self.ended.fetch_add(1, Ordering::Relaxed);
//!     }
//! }
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct File {
//!     path: String,
//! }
//!
//! let read = tool::from_fn("read_file", "Reads a file.", |_: File, _| async move { Ok("secret") });
//! let model = ScriptedProvider::new()
//!     .call("read_file", json!({"path": "/etc/shadow"}))
//!     .say("I may not read that.");
//! let guard = Arc::new(Guard::default());
//! let agent =
//!     Agent::builder(model).model("scripted").tool(read).hook(Arc::clone(&guard)).build()?;
//! let session = agent.session();
//!
//! session.send("Read /etc/shadow.").await?;
//!
//! let history = session.history();
//! let result = history[2].call_results().next();
//! assert!(result.is_some_and(|it| it.content.contains("files under /etc are off limits")));
//! assert_eq!(guard.ended.load(Ordering::Relaxed), 1);
//! # Ok(())
//! # }
//! # #[cfg(not(all(feature = "testing", feature = "schema")))]
//! # fn main() {}
//! ```

mod event;

mod table;

use std::{fmt, ops::BitOr, sync::Arc};

use async_trait::async_trait;

pub use self::event::{
    AfterCall, AfterReply, BeforeCall, BeforeRequest, CallAction, RequestAction, RequestChange,
    ResultAction, TurnEnded,
};
pub(crate) use self::table::{Before, Hooks};

/// Something that follows a turn and may change its course, added by
/// [`AgentBuilder::hook`](super::AgentBuilder::hook).
///
/// There is one method for each point of a turn, and each does nothing by default. Hooks are asked in
/// the order in which they were added, and each sees what those before it made of the event. A hook is
/// only called at the points it [`listens`](Self::listens) to; points nobody listens to cost nothing.
///
/// Hooks see the requests and calls of reviews and sub-agents too: `event.scope.origin` says on whose
/// account they are made. [`turn_ended`](Self::turn_ended) is for the turns of conversations only.
///
/// # Contract
///
/// - **Stable.** [`listens`](Self::listens) returns the same every time; it is read once, when the
///   agent is built.
/// - **Cancellable.** The future is dropped when the turn is cancelled, except that of
///   [`turn_ended`](Self::turn_ended), which is awaited in any case and should be short.
/// - **Shared.** Calls that run at the same time are shown at the same time.
///
/// # Crashes
///
/// A hook that panics is taken to say no, as it may be the one that guards something, and the host
/// gets an [`AgentEvent::Warning`](super::AgentEvent::Warning):
///
/// | in                                         | what becomes of it                                 |
/// | ------------------------------------------ | -------------------------------------------------- |
/// | [`before_request`](Self::before_request)   | the turn ends as [`Finish::Stopped`](super::Finish::Stopped) |
/// | [`before_call`](Self::before_call)         | the call is not run and gets a rejected result     |
/// | [`after_call`](Self::after_call)           | the result is withheld, and a failed one says so   |
/// | [`after_reply`](Self::after_reply), [`turn_ended`](Self::turn_ended) | nothing, as there is nothing to deny |
#[async_trait]
pub trait Hook: fmt::Debug + Send + Sync {
    /// Returns the points at which the hook is called.
    fn listens(&self) -> HookPoints;

    /// Is told of a model request before it is made, and may change it or stop the turn.
    ///
    /// Requests by which a [compressor](crate::compress::Compressor) has a summary written are not shown:
    /// they are no requests of the turn, and a change that is meant for those, such as another system
    /// prompt or one more text at the end, would make something else of the summary. To see or forbid
    /// everything that is sent, wrap the [`Provider`](crate::provider::Provider).
    async fn before_request(&self, event: &BeforeRequest<'_>) -> RequestAction {
        let _ = event;
        RequestAction::Proceed
    }

    /// Is told of a whole reply of the model; one that was cut off by an error or by cancellation is
    /// not shown.
    async fn after_reply(&self, event: &AfterReply<'_>) {
        let _ = event;
    }

    /// Is told of a call before it runs, and may change or deny it, answer in its place, or stop the
    /// turn. Calls that cannot run, for an unknown tool, wrong arguments or want of approval, are not
    /// shown.
    async fn before_call(&self, event: &BeforeCall<'_>) -> CallAction {
        let _ = event;
        CallAction::Proceed
    }

    /// Is told of what a call brought before the model is, and may replace it or stop the turn. Calls
    /// that did not run are shown too, with the reason as their output; cancelled ones are not.
    async fn after_call(&self, event: &AfterCall<'_>) -> ResultAction {
        let _ = event;
        ResultAction::Keep
    }

    /// Is told of the end of a turn, exactly once for every message that a session took, however the
    /// turn ended: with an answer, an error, by cancellation, because the reply was dropped, or by a
    /// crash. It is called before the reply's future has its result and while the session still counts
    /// as busy. Only where the runtime or the process ends under the turn there is no call.
    async fn turn_ended(&self, event: &TurnEnded<'_>) {
        let _ = event;
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<H: Hook + ?Sized> Hook for Arc<H> {
    fn listens(&self) -> HookPoints {
        (**self).listens()
    }

    async fn before_request(&self, event: &BeforeRequest<'_>) -> RequestAction {
        (**self).before_request(event).await
    }

    async fn after_reply(&self, event: &AfterReply<'_>) {
        (**self).after_reply(event).await;
    }

    async fn before_call(&self, event: &BeforeCall<'_>) -> CallAction {
        (**self).before_call(event).await
    }

    async fn after_call(&self, event: &AfterCall<'_>) -> ResultAction {
        (**self).after_call(event).await
    }

    async fn turn_ended(&self, event: &TurnEnded<'_>) {
        (**self).turn_ended(event).await;
    }
}

/// A set of points of a turn at which a [`Hook`] is called.
///
/// # Examples
///
/// ```
/// use hermes_core::agent::hook::HookPoints;
///
/// let points = HookPoints::BEFORE_CALL | HookPoints::AFTER_CALL;
///
/// assert!(points.contains(HookPoints::AFTER_CALL));
/// assert!(!points.contains(HookPoints::TURN_ENDED));
/// assert!(HookPoints::ALL.contains(points));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HookPoints(u8);

impl HookPoints {
    /// No point at all.
    pub const NONE: Self = Self(0);
    /// [`Hook::before_request`].
    pub const BEFORE_REQUEST: Self = Self(1);
    /// [`Hook::after_reply`].
    pub const AFTER_REPLY: Self = Self(1 << 1);
    /// [`Hook::before_call`].
    pub const BEFORE_CALL: Self = Self(1 << 2);
    /// [`Hook::after_call`].
    pub const AFTER_CALL: Self = Self(1 << 3);
    /// [`Hook::turn_ended`].
    pub const TURN_ENDED: Self = Self(1 << 4);
    /// Every point there is.
    pub const ALL: Self = Self(u8::MAX);

    /// Returns whether all of `points` are in the set.
    pub const fn contains(self, points: Self) -> bool {
        self.0 & points.0 == points.0
    }
}

impl BitOr for HookPoints {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

//! A record of what an agent did, that shows when it was tampered with.
//!
//! An [`AuditSink`] gets one [`AuditRecord`] for every call, every decision on one, every write of
//! memory and skills, and every review: who (the [`Origin`]), in which conversation and turn, what,
//! and when by the agent's clock. A decision says who made it; a call that runs because something was
//! allowed for the session has one of its own, which says so. What was held and is decided on later is
//! recorded like what happens in a turn (see [`Session::decide_held`](crate::Session::decide_held) and
//! [`HeldWrites::audited`](crate::pending::HeldWrites::audited)). Calls carry the SHA-256 of their arguments and the
//! arguments themselves, [redacted](redact()) and cut to 2,000 characters; writes carry the hashes
//! before and after. Texts that were written and results are not part of it. [`JsonlAudit`] is the
//! ready-made sink: a file of hash-chained lines, which [`verify`] checks.
//!
//! A record is made when the thing is done: of a call that was running when its process was killed
//! there is none.
//!
//! A sink that fails does not end the turn: the host gets an
//! [`AgentEvent::Warning`](crate::agent::AgentEvent::Warning), at once or, where nobody listens (in
//! a review), with the next turn. With [`AuditFailure::EndTurn`] nothing goes on unrecorded: a call
//! whose approval cannot be recorded is denied, and the turn ends after the first call that cannot
//! be recorded.
//!
//! # What the chain shows, and what not
//!
//! Every line has a number, the hash of the line before it and its own hash. [`verify`] names the
//! first line that was changed, removed, added or moved. Two things a chain alone cannot show: that
//! lines are missing at its end, and that somebody computed a new chain from some line on. For that
//! it takes an anchor, a [`Head`] (number and hash of the last line) that is kept elsewhere.
//! `JsonlAudit` keeps one beside the log, `<log>.head`, which finds lost and cut lines, but not
//! somebody who rewrites both files. Against that, hand [`Verified::head`] to a place that this
//! machine cannot change, and pass it to the next `verify`. The digest of short arguments can be
//! guessed by trying.
//!
//! # Examples
//!
//! ```
//! # #[cfg(all(feature = "testing", feature = "schema"))]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use hermes_core::{Agent, audit::{self, JsonlAudit}, testing::ScriptedProvider, tool};
//!
//! # let folder = tempfile::tempdir()?;
//! # let log = folder.path().join("audit.jsonl");
//! let ping = tool::from_fn("ping", "Answers.", |(), _| async { Ok("pong") });
//! let model = ScriptedProvider::new().call("ping", serde_json::json!({})).say("It answers.");
//! let agent =
//!     Agent::builder(model).model("scripted").tool(ping).audit(JsonlAudit::new(&log)).build()?;
//! agent.session().send("Does it answer?").await?;
//!
//! let verified = audit::verify(&log, None)?;
//! assert_eq!(verified.head.lines, 1);
//!
//! let text = std::fs::read_to_string(&log)?;
//! hermes_core::durable::replace(&log, text.replace("ping", "pong").as_bytes())?;
//! let err = audit::verify(&log, Some(verified.head)).unwrap_err();
//! assert_eq!(err.to_string(), "line 1 was changed");
//! # Ok(())
//! # }
//! # #[cfg(not(all(feature = "testing", feature = "schema")))]
//! # fn main() {}
//! ```
//!
//! [`Origin`]: crate::origin::Origin

mod auditor;
mod record;

mod jsonl;
mod verify;

mod chain;

mod redact;

use std::{fmt, path::PathBuf, sync::Arc};

use async_trait::async_trait;

pub(crate) use self::auditor::Auditor;
pub use self::{
    auditor::AuditFailure,
    chain::Head,
    jsonl::{Durability, JsonlAudit},
    record::{AuditEvent, AuditRecord},
    redact::redact,
    verify::{Fault, Verified, VerifyError, verify},
};

/// Keeps the record of what an agent did.
///
/// # Contract
///
/// - **In order.** The records of one `append`, and of one after another, are kept in that order.
/// - **Kept when it returns.** After `Ok` the records are where the sink promises to keep them.
/// - **Not changed.** What is kept is the record as it came; secrets have been taken out of it
///   before.
///
/// # Examples
///
/// A sink that hands records on as JSON:
///
/// ```
/// use hermes_core::{
///     async_trait,
///     audit::{AuditError, AuditRecord, AuditSink},
///     serde_json,
/// };
///
/// #[derive(Debug)]
/// struct Shipped(tokio::sync::mpsc::Sender<String>);
///
/// #[async_trait]
/// impl AuditSink for Shipped {
///     async fn append(&self, records: &[AuditRecord]) -> Result<(), AuditError> {
///         for record in records {
///             let line = serde_json::to_string(record).map_err(|err| AuditError::Backend(err.into()))?;
///             self.0.send(line).await.map_err(|err| AuditError::Backend(err.into()))?;
///         }
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait AuditSink: fmt::Debug + Send + Sync {
    /// Adds `records`, which belong together, to what is kept.
    ///
    /// # Errors
    ///
    /// [`AuditError`] if they could not be kept. Some of them may have been.
    async fn append(&self, records: &[AuditRecord]) -> Result<(), AuditError>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<S: AuditSink + ?Sized> AuditSink for Arc<S> {
    async fn append(&self, records: &[AuditRecord]) -> Result<(), AuditError> {
        (**self).append(records).await
    }
}

/// Why records could not be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The log cannot be read or written.
    #[error("the audit log {} cannot be written", path.display())]
    Io {
        /// The log.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The log is not as it was left, and nothing is added to it: it would cover the traces. Run
    /// [`verify`], then move the log and its head away to start another.
    #[error("the audit log {} is not as it was left: {reason}", path.display())]
    Broken {
        /// The log.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The host's own sink failed.
    #[error("the audit sink failed")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
}

#[cfg(test)]
mod tests;

//! Writes that wait for a person: kept as they were asked for, made or dropped later.
//!
//! ```text
//! tool ─▶ Gate: Hold ─▶ PendingStore::hold ─▶ pending/<subsystem>/<id>.json
//!                                                  │
//! host ─▶ HeldWrites: list, show, reject ──────────┤
//!                     approve ─▶ Replay::apply ─▶ the store, by its own rules
//! ```
//!
//! The shape on disk is that of hermes-agent, which may list, approve and reject them too. What a
//! write holds, and how it is made, is the business of whoever brought it: `hermes-memory` and
//! `hermes-skills` implement [`Replay`], a host talks to [`HeldWrites`].

mod desk;
mod file;
mod record;
mod write;

use std::{fmt, sync::Arc};

use async_trait::async_trait;

pub use self::{
    desk::{HeldWrites, Replay, ReplayError, ShownWrite, Standing},
    file::FilePending,
    write::{
        Draft, HeldWrite, InvalidPendingId, PendingId, Subsystem, no_place, no_place_warning,
        staged,
    },
};
use crate::{audit::AuditError, version::Version};

/// Where writes wait for a person.
///
/// It keeps and hands out; it neither understands nor makes what it keeps. [`FilePending`] is the
/// ready-made one.
///
/// # Contract
///
/// [`conformance::pending_store`](crate::testing::conformance::pending_store) checks these.
///
/// - **Whole or not at all.** A write is kept as it was given, or not at all.
/// - **Kept once.** A draft with the payload of a waiting write from the same kind of origin takes
///   that write's place and id instead of a second one.
/// - **Bounded.** A store that is full refuses; it never drops what waits.
/// - **One decides.** Of several that [`claim`](Self::claim) a write at the same time, in one process
///   or many, one has it; the others wait, and find it gone if it was removed.
#[async_trait]
pub trait PendingStore: fmt::Debug + Send + Sync {
    /// Keeps `draft`, and returns it with its id.
    ///
    /// # Errors
    ///
    /// - [`PendingError::Full`] if too many wait already.
    /// - [`PendingError::TooLarge`] if it is too long to be kept.
    /// - [`PendingError::Backend`] if it cannot be written. Nothing is kept then.
    async fn hold(&self, draft: Draft) -> Result<HeldWrite, PendingError>;

    /// Returns what waits in `subsystem`, oldest first.
    ///
    /// # Errors
    ///
    /// [`PendingError::Backend`] if the store as a whole cannot be read.
    async fn list(&self, subsystem: Subsystem) -> Result<PendingList, PendingError>;

    /// Makes the caller the one who decides on a write, until the claim is dropped.
    ///
    /// # Errors
    ///
    /// - [`PendingError::NotFound`] if it does not wait, or not any more.
    /// - [`PendingError::Unreadable`] if it is damaged.
    /// - [`PendingError::Backend`] if the store cannot tell, or somebody else keeps it for too long.
    async fn claim(&self, subsystem: Subsystem, id: &PendingId) -> Result<Claim, PendingError>;

    /// Removes a claimed write, which has been decided on.
    ///
    /// # Errors
    ///
    /// [`PendingError::Backend`] if it cannot be removed; it waits on then.
    async fn remove(&self, claim: Claim) -> Result<(), PendingError>;

    /// Removes a record that cannot be read, by the place that its [warning](PendingList::warnings)
    /// names. A record that can be read by now stays.
    ///
    /// # Errors
    ///
    /// [`PendingError::Backend`] if there is no such record, if it can be read, or if it cannot be
    /// removed.
    async fn discard(&self, subsystem: Subsystem, place: &str) -> Result<(), PendingError>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<S: PendingStore + ?Sized> PendingStore for Arc<S> {
    async fn hold(&self, draft: Draft) -> Result<HeldWrite, PendingError> {
        (**self).hold(draft).await
    }

    async fn list(&self, subsystem: Subsystem) -> Result<PendingList, PendingError> {
        (**self).list(subsystem).await
    }

    async fn claim(&self, subsystem: Subsystem, id: &PendingId) -> Result<Claim, PendingError> {
        (**self).claim(subsystem, id).await
    }

    async fn remove(&self, claim: Claim) -> Result<(), PendingError> {
        (**self).remove(claim).await
    }

    async fn discard(&self, subsystem: Subsystem, place: &str) -> Result<(), PendingError> {
        (**self).discard(subsystem, place).await
    }
}

/// What waits.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct PendingList {
    /// The writes, oldest first.
    pub writes: Vec<HeldWrite>,
    /// Records that cannot be read, and why. They are left where they are until a person
    /// [discards](HeldWrites::discard) them.
    pub warnings: Vec<PendingWarning>,
}

impl PendingList {
    /// Joins what waits and what cannot be read.
    pub fn new(writes: Vec<HeldWrite>, warnings: Vec<PendingWarning>) -> Self {
        Self { writes, warnings }
    }
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct PendingWarning {
    /// The file or record.
    pub place: String,
    /// What is wrong.
    pub reason: String,
}

impl PendingWarning {
    /// Joins a place and what is wrong there.
    pub fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { place: place.into(), reason: reason.into() }
    }
}

/// The right to decide on a write; dropping it lets the next one in.
#[must_use = "the claim is given up when it is dropped"]
pub struct Claim {
    /// The write.
    pub write: HeldWrite,
    #[expect(dead_code, reason = "held for its drop")]
    guard: Box<dyn Send + Sync>,
}

impl Claim {
    /// Joins a write and the store's own guard, whose drop gives the claim up.
    pub fn new(write: HeldWrite, guard: impl Send + Sync + 'static) -> Self {
        Self { write, guard: Box::new(guard) }
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim").field("write", &self.write).finish_non_exhaustive()
    }
}

/// Why a write could not be kept, shown, made or dropped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PendingError {
    /// Nothing of that id waits.
    #[error("no write waits as {id}")]
    NotFound {
        /// The id.
        id: PendingId,
    },
    /// Too much waits already.
    #[error("{waiting} writes wait for approval already, and no more are kept")]
    Full {
        /// How many wait.
        waiting: usize,
    },
    /// The write is too long to be kept.
    #[error("the write has {bytes} bytes, at most {limit} are kept")]
    TooLarge {
        /// The size of its record in bytes.
        bytes: usize,
        /// The most there may be.
        limit: usize,
    },
    /// The record of the write is damaged.
    #[error("the record of {id} cannot be read: {reason}")]
    Unreadable {
        /// The id.
        id: PendingId,
        /// What is wrong with it.
        reason: String,
    },
    /// What the write would change is not as it was when the write was asked for. The write waits on:
    /// show it again and approve what is shown, or reject it.
    #[error(
        "what {id} would change has changed in the meantime; show it again, and approve what is shown \
         or reject it"
    )]
    Conflict {
        /// The id.
        id: PendingId,
        /// The version that is there now, `None` if nothing is.
        current: Option<Version>,
        /// What has changed since, as a unified diff, where that is known.
        diff: Option<String>,
    },
    /// The store refuses the write as it stands. The write waits on.
    #[error("{id} cannot be made")]
    Refused {
        /// The id.
        id: PendingId,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The write was made, but its record could not be removed: it is still listed.
    #[error("{id} was made, and is still listed")]
    Lingers {
        /// The id.
        id: PendingId,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The decision was carried out, but could not be [recorded](HeldWrites::audited).
    #[error("the decision on {id} was carried out, and could not be recorded")]
    Unrecorded {
        /// The id.
        id: PendingId,
        /// Why.
        source: AuditError,
    },
    /// The store of held writes failed.
    #[error("the store of held writes failed")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
}

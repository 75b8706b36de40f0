//! What a host does with held writes.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{
    HeldWrite, PendingError, PendingId, PendingList, PendingStore, PendingWarning, Subsystem,
};
use crate::{
    approval::HOST,
    audit::{AuditEvent, AuditRecord, AuditSink},
    change::Change,
    clock::{Clock, SystemClock, iso_8601},
    message::CallId,
    store::SessionId,
    version::{Expected, Version},
};

/// How the held writes of one subsystem are made.
///
/// Implemented by whoever holds them; hosts use [`HeldWrites`].
#[async_trait]
pub trait Replay: fmt::Debug + Send + Sync {
    /// Returns the subsystem.
    fn subsystem(&self) -> Subsystem;

    /// Returns what `write` would change if it was made on `base`, without making it.
    ///
    /// [`Expected::Any`] stands for what is there now. A change from a version to itself says that
    /// nothing is left to do.
    ///
    /// # Errors
    ///
    /// - [`ReplayError::Moved`] if something else than `base` is there.
    /// - [`ReplayError::Refused`] if the store would not make it.
    async fn preview(&self, write: &HeldWrite, base: Expected) -> Result<Change, ReplayError>;

    /// Makes `write` on `base`, with the origin it has, by all the rules of its store.
    ///
    /// # Errors
    ///
    /// As [`preview`](Self::preview); nothing is changed then.
    async fn apply(&self, write: &HeldWrite, base: Expected) -> Result<Change, ReplayError>;
}

/// Why a held write is not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// What it would change is not as it was.
    #[error("what would be changed has changed in the meantime")]
    Moved {
        /// The version that is there now, `None` if nothing is.
        current: Option<Version>,
        /// What has changed since, as a unified diff, where that is known.
        diff: Option<String>,
    },
    /// The store does not make it.
    #[error("the store refuses it")]
    Refused(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The held writes of one subsystem, for a host that shows them to a person.
///
/// `hermes_memory::Memory::held` and `hermes_skills::Skills::held` return one. Everything goes by the
/// store, so that several hosts, and hermes-agent, can share it; of several that approve the same
/// write, one makes it.
///
/// If the future of [`approve`](Self::approve) is dropped, or the process dies, the write may have
/// been made and still be listed. Approving it again does not make it twice.
#[derive(Clone, Debug)]
pub struct HeldWrites {
    store: Arc<dyn PendingStore>,
    replay: Arc<dyn Replay>,
    log: Option<Log>,
    by: Arc<str>,
}

/// Where decisions are recorded.
#[derive(Clone, Debug)]
struct Log {
    sink: Arc<dyn AuditSink>,
    clock: Arc<dyn Clock>,
}

/// A held write as a person should see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShownWrite {
    /// The write.
    pub write: HeldWrite,
    /// What it would change, with a diff against what is there now; `None` if it cannot be made.
    pub change: Option<Change>,
    /// Whether it can be made.
    pub standing: Standing,
}

/// Whether a held write can be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Standing {
    /// It can: what it would change is as it was.
    Ready,
    /// What it would change has changed since. [`HeldWrites::approve`] fails;
    /// [`HeldWrites::approve_shown`] makes it on what is there now.
    Moved,
    /// It cannot, for this reason.
    Refused(String),
}

impl HeldWrites {
    /// Joins where writes wait and how they are made.
    pub fn new(store: Arc<dyn PendingStore>, replay: Arc<dyn Replay>) -> Self {
        Self { store, replay, log: None, by: HOST.into() }
    }

    /// Sets who decides from here on, for the record of it: the person at the screen, say. Clone for
    /// each of several. `host` by default.
    #[must_use]
    pub fn decided_by(mut self, who: impl Into<Arc<str>>) -> Self {
        self.by = who.into();
        self
    }

    /// Sets where each decision is recorded, once it is carried out, with the write that it led to, such
    /// as the log of the agent; at the time of the machine's clock. Nowhere by default.
    ///
    /// The hooks of an agent are not asked again: they were shown the call that brought the write
    /// when it was made.
    #[must_use]
    pub fn audited(self, sink: impl AuditSink + 'static) -> Self {
        self.audited_by(sink, SystemClock)
    }

    /// As [`audited`](Self::audited), at the time of `clock`.
    #[must_use]
    pub fn audited_by(
        mut self,
        sink: impl AuditSink + 'static,
        clock: impl Clock + 'static,
    ) -> Self {
        self.log = Some(Log { sink: Arc::new(sink), clock: Arc::new(clock) });
        self
    }

    /// Returns what these writes would change.
    pub fn subsystem(&self) -> Subsystem {
        self.replay.subsystem()
    }

    /// Returns the writes that wait, oldest first, and the records that cannot be read.
    ///
    /// # Errors
    ///
    /// [`PendingError::Backend`] if the store cannot be read.
    pub async fn list(&self) -> Result<PendingList, PendingError> {
        self.store.list(self.subsystem()).await
    }

    /// Returns a write with its diff against what is there now, found by the engine that would make
    /// it.
    ///
    /// # Errors
    ///
    /// - [`PendingError::NotFound`] if it does not wait, or not any more.
    /// - [`PendingError::Unreadable`] if its record is damaged.
    /// - [`PendingError::Backend`] if the store cannot be read.
    pub async fn show(&self, id: &PendingId) -> Result<ShownWrite, PendingError> {
        let write = self.find(id).await?;
        let mut standing = Standing::Ready;
        let mut previewed = self.replay.preview(&write, write.draft.base).await;
        if let Err(ReplayError::Moved { .. }) = previewed {
            standing = Standing::Moved;
            previewed = self.replay.preview(&write, Expected::Any).await;
        }
        Ok(match previewed {
            Ok(change) => {
                let change = Some(change.held(id.as_str()));
                ShownWrite { write, change, standing }
            }
            Err(err) => {
                let standing = Standing::Refused(reason(&err));
                ShownWrite { write, change: None, standing }
            }
        })
    }

    /// Makes a write on what it goes by, and returns what that changed.
    ///
    /// Its store validates and scans it as it would any write of its origin.
    ///
    /// # Errors
    ///
    /// - [`PendingError::NotFound`] if it does not wait, or not any more: somebody else decided.
    /// - [`PendingError::Conflict`] if what it goes by is not there any more; it waits on.
    /// - [`PendingError::Refused`] if its store refuses it; it waits on.
    /// - [`PendingError::Lingers`] if it was made and is still listed.
    /// - [`PendingError::Unrecorded`] if it was made and that could not be recorded.
    /// - [`PendingError::Unreadable`] and [`PendingError::Backend`]; it waits on.
    pub async fn approve(&self, id: &PendingId) -> Result<Change, PendingError> {
        self.make(id, None).await
    }

    /// Makes a write on what was there when it was [shown](Self::show), also if that is not what it
    /// went by.
    ///
    /// # Errors
    ///
    /// As [`approve`](Self::approve); [`PendingError::Conflict`] also if the write itself is not the
    /// one that was shown.
    pub async fn approve_shown(&self, shown: &ShownWrite) -> Result<Change, PendingError> {
        self.make(&shown.write.id, Some(shown)).await
    }

    /// Drops a write, and returns it.
    ///
    /// # Errors
    ///
    /// - [`PendingError::NotFound`] if it does not wait, or not any more.
    /// - [`PendingError::Unreadable`] if its record is damaged.
    /// - [`PendingError::Backend`] if it cannot be removed; it waits on.
    /// - [`PendingError::Unrecorded`] if it was dropped and that could not be recorded.
    pub async fn reject(&self, id: &PendingId) -> Result<HeldWrite, PendingError> {
        let claim = self.store.claim(self.subsystem(), id).await?;
        let write = claim.write.clone();
        self.store.remove(claim).await?;
        self.record(&write, None).await?;
        Ok(write)
    }

    /// Removes a record that cannot be read, as [`list`](Self::list) warns of it. What it held is lost.
    ///
    /// # Errors
    ///
    /// [`PendingError::Backend`] if there is no such record, if it can be read by now, or if it cannot be
    /// removed.
    pub async fn discard(&self, damaged: &PendingWarning) -> Result<(), PendingError> {
        self.store.discard(self.subsystem(), &damaged.place).await
    }

    async fn make(
        &self,
        id: &PendingId,
        shown: Option<&ShownWrite>,
    ) -> Result<Change, PendingError> {
        let claim = self.store.claim(self.subsystem(), id).await?;
        let base = match shown {
            Some(shown) if shown.write != claim.write => {
                return Err(PendingError::Conflict { id: id.clone(), current: None, diff: None });
            }
            Some(ShownWrite { change: Some(change), .. }) => {
                change.before.map_or(Expected::Absent, Expected::Is)
            }
            _ => claim.write.draft.base,
        };
        let change = match self.replay.apply(&claim.write, base).await {
            Err(ReplayError::Moved { current, diff }) => {
                // A process that died may have made it and not removed it.
                let done = self.replay.preview(&claim.write, Expected::Any).await;
                match done.ok().filter(|change| change.before == change.after) {
                    Some(change) => change,
                    None => return Err(PendingError::Conflict { id: id.clone(), current, diff }),
                }
            }
            Err(ReplayError::Refused(source)) => {
                return Err(PendingError::Refused { id: id.clone(), source });
            }
            Ok(change) => change,
        };
        let lingers =
            |err: PendingError| PendingError::Lingers { id: id.clone(), source: Box::new(err) };
        let write = claim.write.clone();
        let removed = self.store.remove(claim).await.map_err(lingers);
        self.record(&write, Some(&change)).await?;
        removed.map(|()| change)
    }

    /// Records what was decided on `write`, and what came of it.
    async fn record(&self, write: &HeldWrite, change: Option<&Change>) -> Result<(), PendingError> {
        let Some(Log { sink, clock }) = &self.log else { return Ok(()) };
        let at = iso_8601(clock.now());
        let call = CallId::new(write.id.as_str());
        let decided = AuditEvent::decided(write, change).by(&self.by);
        let written = change.map(|it| AuditEvent::write(&call, it));
        let record = |event| {
            let origin = write.draft.origin.clone();
            AuditRecord::new(at.clone(), SessionId::new(HELD), 0, origin, event)
        };
        let records: Vec<_> = std::iter::once(decided).chain(written).map(record).collect();
        let unrecorded = |source| PendingError::Unrecorded { id: write.id.clone(), source };
        sink.append(&records).await.map_err(unrecorded)
    }

    async fn find(&self, id: &PendingId) -> Result<HeldWrite, PendingError> {
        let list = self.list().await?;
        if let Some(write) = list.writes.into_iter().find(|write| write.id == *id) {
            return Ok(write);
        }
        let damaged = list.warnings.into_iter().find(|it| it.place.contains(id.as_str()));
        match damaged {
            Some(it) => Err(PendingError::Unreadable { id: id.clone(), reason: it.reason }),
            None => Err(PendingError::NotFound { id: id.clone() }),
        }
    }
}

/// What stands for the conversation in the record of a decision, which is made outside any.
const HELD: &str = "held";

/// Returns the causes of `err` in one line, without its own words if there are any.
fn reason(err: &ReplayError) -> String {
    let first = std::error::Error::source(err);
    let causes = std::iter::successors(first, |err| err.source()).map(ToString::to_string);
    let causes: Vec<String> = causes.collect();
    if causes.is_empty() { err.to_string() } else { causes.join(": ") }
}

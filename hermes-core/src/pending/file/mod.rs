//! Held writes in files, shared with hermes-agent.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use tokio::runtime::Handle;

use super::{
    Claim, Draft, HeldWrite, PendingError, PendingId, PendingList, PendingStore, PendingWarning,
    Subsystem, record,
};
use crate::{
    clock::{Clock, SystemClock},
    durable::{self, FileLock},
    version::Version,
};

/// Held writes as `pending/<subsystem>/<id>.json` under a home folder.
///
/// The files are those of hermes-agent, which passes over what we add: the version a write goes by
/// (`base_hash`) and the whole of its origin (`origin_detail`). They are readable by their owner only.
///
/// - A record is written whole or not at all; a process that is killed leaves the old one or the new
///   one. What it left of an unfinished one is removed with the next write.
/// - Each subsystem has at most [`capacity`](Self::capacity) writes of at most 4 MiB each.
/// - A file that is damaged, too long, no plain file, or not named after its id is passed over with a
///   warning, and counts.
/// - Deciding takes the lock `pending/<subsystem>/.lock`. hermes-agent does not know it: a write that
///   it approves at the same moment is protected by its base alone.
///
/// Cloning it is cheap; clones and other instances on the same home see each other's writes.
///
/// # Examples
///
/// ```
/// use hermes_core::{
///     origin::Origin,
///     pending::{Draft, FilePending, PendingStore, Subsystem},
///     serde_json::Map,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let home = tempfile::tempdir()?;
/// let pending = FilePending::new(home.path());
/// let draft = Draft::new(Subsystem::Memory, Origin::review("review-1"), Map::new());
///
/// let held = pending.hold(draft).await?;
///
/// assert!(home.path().join(format!("pending/memory/{}.json", held.id)).exists());
/// assert_eq!(pending.list(Subsystem::Memory).await?.writes, [held]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct FilePending {
    home: PathBuf,
    capacity: usize,
    patience: Duration,
    clock: Arc<dyn Clock>,
}

/// The most bytes of a record.
const MAX_BYTES: usize = 4 << 20;
const ENDING: &str = ".json";

impl FilePending {
    const DEFAULT_CAPACITY: usize = 100;
    const DEFAULT_PATIENCE: Duration = Duration::from_secs(10);

    /// Names the held writes under `home`. Nothing is read or created yet.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self {
            home: home.into(),
            capacity: Self::DEFAULT_CAPACITY,
            patience: Self::DEFAULT_PATIENCE,
            clock: Arc::new(SystemClock),
        }
    }

    /// Sets how many writes of a subsystem may wait; 100 by default.
    #[must_use]
    pub fn capacity(mut self, writes: usize) -> Self {
        self.capacity = writes;
        self
    }

    /// Sets how long to wait for somebody else who decides; 10 seconds by default.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets what dates the writes; the machine's clock by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Returns the folder of `subsystem`, whether it exists or not.
    pub fn folder(&self, subsystem: Subsystem) -> PathBuf {
        self.home.join("pending").join(subsystem.as_str())
    }

    fn shelf(&self, subsystem: Subsystem) -> Shelf {
        let folder = self.folder(subsystem);
        Shelf { folder, subsystem, capacity: self.capacity, patience: self.patience }
    }

    /// Runs `work` where it may block. It runs to its end also if the caller stops waiting.
    async fn blocking<T: Send + 'static>(
        &self,
        subsystem: Subsystem,
        work: impl FnOnce(Shelf) -> Result<T, PendingError> + Send + 'static,
    ) -> Result<T, PendingError> {
        let folder = self.shelf(subsystem);
        let runtime = Handle::try_current().map_err(backend)?;
        runtime.spawn_blocking(move || work(folder)).await.map_err(backend)?
    }
}

#[async_trait]
impl PendingStore for FilePending {
    async fn hold(&self, draft: Draft) -> Result<HeldWrite, PendingError> {
        let now = record::dated(self.clock.now());
        self.blocking(draft.subsystem, move |shelf| shelf.hold(draft, now)).await
    }

    async fn list(&self, subsystem: Subsystem) -> Result<PendingList, PendingError> {
        self.blocking(subsystem, |shelf| shelf.list()).await
    }

    async fn claim(&self, subsystem: Subsystem, id: &PendingId) -> Result<Claim, PendingError> {
        let id = id.clone();
        self.blocking(subsystem, move |shelf| shelf.claim(&id)).await
    }

    async fn remove(&self, claim: Claim) -> Result<(), PendingError> {
        self.blocking(claim.write.draft.subsystem, move |shelf| shelf.remove(&claim)).await
    }

    async fn discard(&self, subsystem: Subsystem, place: &str) -> Result<(), PendingError> {
        let place = place.to_owned();
        self.blocking(subsystem, move |shelf| shelf.discard(&place)).await
    }
}

/// The folder of one subsystem, for the blocking side.
#[derive(Debug)]
struct Shelf {
    folder: PathBuf,
    subsystem: Subsystem,
    capacity: usize,
    patience: Duration,
}

impl Shelf {
    fn hold(&self, draft: Draft, now: SystemTime) -> Result<HeldWrite, PendingError> {
        let _lock = self.lock()?;
        self.sweep();
        let list = self.list()?;
        let held = match list.writes.iter().find(|held| draft.repeats(held)) {
            Some(held) if held.draft == draft => return Ok(held.clone()),
            Some(held) => HeldWrite::new(held.id.clone(), now, draft),
            None => {
                let waiting = list.writes.len().saturating_add(list.warnings.len());
                if self.capacity <= waiting {
                    return Err(PendingError::Full { waiting });
                }
                HeldWrite::new(self.free_id(&draft, now)?, now, draft)
            }
        };
        let bytes = record::write(&held).map_err(backend)?;
        if MAX_BYTES < bytes.len() {
            return Err(PendingError::TooLarge { bytes: bytes.len(), limit: MAX_BYTES });
        }
        durable::replace(&self.path(&held.id), &bytes).map_err(backend)?;
        Ok(held)
    }

    fn list(&self) -> Result<PendingList, PendingError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(PendingList::default()),
            Err(err) => return Err(backend(err)),
        };
        let mut list = PendingList::default();
        for entry in entries {
            let name = entry.map_err(backend)?.file_name();
            let name = name.to_string_lossy();
            let Some(stem) = name.strip_suffix(ENDING) else { continue };
            let read = match stem.parse() {
                Ok(id) => self.read(&id).transpose(),
                Err(_) => Some(Err("its name is not an id: eight of 0-9 and a-f".to_owned())),
            };
            match read {
                Some(Ok(write)) => list.writes.push(write),
                Some(Err(reason)) => list.warnings.push(PendingWarning::new(&*name, reason)),
                None => {}
            }
        }
        list.writes
            .sort_by(|left, right| (left.created_at, &left.id).cmp(&(right.created_at, &right.id)));
        list.warnings.sort_by(|left, right| left.place.cmp(&right.place));
        Ok(list)
    }

    fn claim(&self, id: &PendingId) -> Result<Claim, PendingError> {
        let missing = || PendingError::NotFound { id: id.clone() };
        if !self.folder.exists() {
            return Err(missing());
        }
        let lock = self.lock()?;
        match self.read(id) {
            Ok(Some(write)) => Ok(Claim::new(write, lock)),
            Ok(None) => Err(missing()),
            Err(reason) => Err(PendingError::Unreadable { id: id.clone(), reason }),
        }
    }

    fn remove(&self, claim: &Claim) -> Result<(), PendingError> {
        let removed = match fs::remove_file(self.path(&claim.write.id)) {
            // hermes-agent was faster.
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        };
        removed.and_then(|()| durable::sync_folder(&self.folder)).map_err(backend)
    }

    fn discard(&self, place: &str) -> Result<(), PendingError> {
        let _lock = self.lock()?;
        let list = self.list()?;
        if !list.warnings.iter().any(|it| it.place == place) {
            return Err(backend(format!("no damaged record is called {place:?}")));
        }
        let removed = fs::remove_file(self.folder.join(place));
        removed.and_then(|()| durable::sync_folder(&self.folder)).map_err(backend)
    }

    /// Reads the record of `id`. `None` if there is none; an error says what is wrong with it.
    fn read(&self, id: &PendingId) -> Result<Option<HeldWrite>, String> {
        let path = self.path(id);
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(err) => return Err(err.to_string()),
        };
        if !metadata.is_file() {
            return Err("it is no plain file".to_owned());
        }
        let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
        if limit < metadata.len() {
            return Err(format!("it has {} bytes, at most {limit} are read", metadata.len()));
        }
        match fs::read(&path) {
            Ok(bytes) => record::read(&bytes, self.subsystem, id).map(Some),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(err) => Err(err.to_string()),
        }
    }

    /// Returns an id that no file has.
    fn free_id(&self, draft: &Draft, now: SystemTime) -> Result<PendingId, PendingError> {
        let payload = serde_json::to_string(&draft.payload).map_err(backend)?;
        for attempt in 0..=u32::from(u16::MAX) {
            let seed = format!("{attempt} {now:?} {payload}");
            let digits: String = Version::of(seed).to_string().chars().take(8).collect();
            let id: PendingId = digits.parse().map_err(backend)?;
            if fs::symlink_metadata(self.path(&id)).is_err() {
                return Ok(id);
            }
        }
        Err(backend("no id is free"))
    }

    /// Removes what killed processes left of records they had not finished. The caller holds the
    /// lock.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(".hermes-") && name.ends_with(".tmp") {
                // It is only in the way; the next write tries again.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn lock(&self) -> Result<FileLock, PendingError> {
        FileLock::acquire(&self.folder.join(".lock"), self.patience).map_err(backend)
    }

    fn path(&self, id: &PendingId) -> PathBuf {
        self.folder.join(Path::new(id.as_str()).with_extension("json"))
    }
}

fn backend(err: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> PendingError {
    PendingError::Backend(err.into())
}

#[cfg(test)]
mod tests;

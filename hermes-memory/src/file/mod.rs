//! Memory in two files, shared with hermes-agent.

pub(crate) mod budget;
pub(crate) mod format;

mod journal;
mod list;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use hermes_core::{
    clock::{Clock, SystemClock},
    memory::{
        Entries, MemoryBackend, MemoryChange, MemoryCommit, MemoryError, Revision, RevisionId,
        Target,
    },
    origin::Origin,
    threat::{DefaultScanner, Scanner},
    version::Versioned,
};
use tokio::runtime::Handle;

pub(crate) use self::list::summary;
use self::{journal::Journal, list::List};

/// Memory in `memories/MEMORY.md` and `memories/USER.md` under a home folder.
///
/// The files are those of hermes-agent, which may read and write them at the same time: entries are
/// separated by a line that holds only `§`, a write holds an exclusive lock on the sibling `.lock`
/// file, reads the file again, changes it and replaces it whole. A link stays a link.
///
/// What it will not do:
///
/// - Lose text. A file that is not UTF-8 is read as far as it decodes, with a warning, and never
///   written. One that was edited by hand so that writing it back would lose something is refused
///   with [`MemoryError::Drift`], after a copy was put beside it as `MEMORY.md.bak.<seconds>`.
/// - Store an entry that would come back in pieces, or one that a [`Scanner`] blocks.
/// - Wait for ever: another holder of the lock is waited for up to [`patience`](Self::patience).
///
/// Every commit is journaled in `memories/.journal/`, with the text before it, and can be undone.
/// The text of removed entries therefore stays on disk until newer commits have pushed it out.
///
/// Cloning it is cheap; clones and other instances on the same home see each other's commits.
///
/// # Examples
///
/// ```
/// use hermes_core::{memory::{MemoryBackend, MemoryChange, MemoryEdit, Target}, origin::Origin};
/// use hermes_memory::FileMemory;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let home = tempfile::tempdir()?;
/// let memory = FileMemory::new(home.path());
/// let edits = vec![MemoryEdit::Add { content: "Deploys happen on tag push.".to_owned() }];
///
/// memory.commit(MemoryChange::new(Target::Memory, edits, Origin::user())).await?;
///
/// let text = std::fs::read_to_string(home.path().join("memories/MEMORY.md"))?;
/// assert_eq!(text, "Deploys happen on tag push.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct FileMemory {
    home: PathBuf,
    limits: [usize; 2],
    patience: Duration,
    revisions: usize,
    scanner: Arc<dyn Scanner>,
    clock: Arc<dyn Clock>,
}

impl FileMemory {
    /// Names the memory under `home`. Nothing is read or created yet.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self {
            home: home.into(),
            limits: Target::ALL.map(Target::default_limit),
            patience: Duration::from_secs(10),
            revisions: 200,
            scanner: Arc::new(DefaultScanner),
            clock: Arc::new(SystemClock),
        }
    }

    /// Sets the limit of `target` in characters; [`Target::default_limit`] by default.
    ///
    /// A list that is longer already stays, and can only get shorter.
    #[must_use]
    pub fn limit(mut self, target: Target, characters: usize) -> Self {
        let [memory, user] = &mut self.limits;
        match target {
            Target::Memory => *memory = characters,
            Target::User => *user = characters,
        }
        self
    }

    /// Sets how long a commit waits while another process writes; 10 seconds by default.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets how many commits to each list can be seen and undone at least; 200 by default, one at
    /// the least.
    #[must_use]
    pub fn revisions(mut self, revisions: usize) -> Self {
        self.revisions = revisions;
        self
    }

    /// Sets what judges contents before they are stored; [`DefaultScanner`] by default.
    #[must_use]
    pub fn scanner(mut self, scanner: impl Scanner + 'static) -> Self {
        self.scanner = Arc::new(scanner);
        self
    }

    /// Sets what dates the history; the machine's clock by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Returns the file of `target`, whether it exists or not.
    pub fn path(&self, target: Target) -> PathBuf {
        self.folder().join(file_name(target))
    }

    fn folder(&self) -> PathBuf {
        self.home.join("memories")
    }

    fn list(&self, target: Target) -> List {
        let [memory, user] = self.limits;
        let journal =
            format!("{}.jsonl", Path::new(file_name(target)).with_extension("").display());
        List {
            path: self.path(target),
            journal: Journal::new(self.folder().join(".journal").join(journal), self.revisions),
            limit: if target == Target::Memory { memory } else { user },
            patience: self.patience,
            scanner: Arc::clone(&self.scanner),
            clock: Arc::clone(&self.clock),
        }
    }

    /// Runs `work` on the list of `target` where blocking is allowed. It runs to its end also if the
    /// caller stops waiting.
    async fn blocking<T: Send + 'static>(
        &self,
        target: Target,
        work: impl FnOnce(List) -> Result<T, MemoryError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        let list = self.list(target);
        let runtime = Handle::try_current().map_err(|err| MemoryError::Backend(err.into()))?;
        let done = runtime.spawn_blocking(move || work(list)).await;
        done.unwrap_or_else(|err| Err(MemoryError::Backend(err.into())))
    }
}

#[async_trait]
impl MemoryBackend for FileMemory {
    async fn read(&self, target: Target) -> Result<Versioned<Entries>, MemoryError> {
        self.blocking(target, |list| list.read()).await
    }

    async fn commit(&self, change: MemoryChange) -> Result<MemoryCommit, MemoryError> {
        self.blocking(change.target, |list| list.commit(change)).await
    }

    async fn preview(&self, change: &MemoryChange) -> Result<Option<MemoryCommit>, MemoryError> {
        let change = change.clone();
        self.blocking(change.target, |list| list.preview(change).map(Some)).await
    }

    async fn history(&self, target: Target, limit: usize) -> Result<Vec<Revision>, MemoryError> {
        self.blocking(target, move |list| list.history(limit)).await
    }

    async fn undo(
        &self,
        target: Target,
        revision: &RevisionId,
        origin: Origin,
    ) -> Result<MemoryCommit, MemoryError> {
        let revision = revision.clone();
        self.blocking(target, move |list| list.undo(&revision, origin)).await
    }
}

/// Returns the name of the file that holds `target`.
pub(crate) fn file_name(target: Target) -> &'static str {
    match target {
        Target::Memory => "MEMORY.md",
        Target::User => "USER.md",
    }
}

#[cfg(test)]
mod tests;

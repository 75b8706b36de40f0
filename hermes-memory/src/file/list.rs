//! One memory file: every operation on it, blocking.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use hermes_core::{
    clock::Clock,
    durable::{self, FileLock},
    memory::{Entries, MemoryChange, MemoryCommit, MemoryEdit, MemoryError, Revision, RevisionId},
    origin::Origin,
    threat::Scanner,
    version::{Expected, Version, Versioned},
};

use super::{
    budget,
    format::{self, Fidelity, Parsed},
    journal::{Journal, Record},
};
use crate::{edit, plan};

/// The most bytes of a memory file that are read.
const MAX_BYTES: u64 = 16 << 20;

/// One memory file and what its operations need.
#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) path: PathBuf,
    pub(super) journal: Journal,
    pub(super) limit: usize,
    pub(super) patience: Duration,
    pub(super) scanner: Arc<dyn Scanner>,
    pub(super) clock: Arc<dyn Clock>,
}

/// The file as it is.
struct Stored {
    /// The bytes, `None` if there is no file.
    bytes: Option<Vec<u8>>,
    parsed: Parsed,
}

impl Stored {
    fn version(&self) -> Version {
        Version::of(self.bytes.as_deref().unwrap_or_default())
    }

    /// Returns the version for comparing: none where there is no text.
    fn existing(&self) -> Option<Version> {
        self.bytes.as_deref().map(Version::of)
    }

    fn state(&self) -> Versioned<Vec<String>> {
        Versioned::new(self.parsed.entries.clone(), self.version())
    }

    fn conflict(&self) -> MemoryError {
        MemoryError::Conflict { current: self.version(), entries: self.parsed.entries.clone() }
    }
}

impl List {
    pub(super) fn read(&self) -> Result<Versioned<Entries>, MemoryError> {
        let stored = self.stored()?;
        let fill = budget::fill(&stored.parsed.entries, self.limit);
        let version = stored.version();
        let mut entries = Entries::new(stored.parsed.entries, fill);
        if stored.parsed.fidelity == Fidelity::NotUtf8 {
            let place = self.path.display();
            entries.warnings.push(format!(
                "{place} is not UTF-8: what could be decoded is shown, and nothing is written \
                 until the file is repaired"
            ));
        }
        if fill.limit < fill.used {
            let place = self.path.display();
            let (used, limit) = (fill.used, fill.limit);
            entries.warnings.push(format!(
                "{place} has {used} characters, the limit is {limit}: it can only get shorter"
            ));
        }
        Ok(Versioned::new(entries, version))
    }

    pub(super) fn commit(&self, change: MemoryChange) -> Result<MemoryCommit, MemoryError> {
        let edits = edit::prepare(change.edits, &*self.scanner)?;
        let _lock = self.lock()?;
        let stored = self.stored()?;
        let after = self.edited(&stored, &edits, change.expected)?;
        if after == stored.parsed.entries {
            return Ok(self.commit_of(&stored, stored.state()));
        }
        self.write(&stored, &format::join(&after), summary(&edits), change.origin)
    }

    /// Returns the commit that `change` would be now, without its revision.
    pub(super) fn preview(&self, change: MemoryChange) -> Result<MemoryCommit, MemoryError> {
        let edits = edit::prepare(change.edits, &*self.scanner)?;
        let stored = self.stored()?;
        let after = self.edited(&stored, &edits, change.expected)?;
        if after == stored.parsed.entries {
            return Ok(self.commit_of(&stored, stored.state()));
        }
        let text = format::join(&after);
        Ok(self.commit_of(&stored, state_of(&text)))
    }

    /// Returns what [prepared](edit::prepare) `edits` make of the entries, if they may be made.
    fn edited(
        &self,
        stored: &Stored,
        edits: &[MemoryEdit],
        expected: Expected,
    ) -> Result<Vec<String>, MemoryError> {
        if !plan::is_expected(expected, stored.version()) {
            return Err(stored.conflict());
        }
        self.check_drift(stored, edits)?;
        let after = edit::apply(&stored.parsed.entries, edits)?;
        if after != stored.parsed.entries {
            budget::check(&stored.parsed.entries, &after, self.limit)?;
        }
        if format::parse(format::join(&after).as_bytes()).entries != after {
            // A section sign at the edge of the file would become part of another entry.
            return Err(self.drift(stored)?);
        }
        Ok(after)
    }

    fn commit_of(&self, stored: &Stored, after: Versioned<Vec<String>>) -> MemoryCommit {
        let fill = budget::fill(&after.value, self.limit);
        MemoryCommit::new(stored.state(), after, fill, None)
    }

    pub(super) fn history(&self, limit: usize) -> Result<Vec<Revision>, MemoryError> {
        let current = self.stored()?.existing();
        self.journal.history(current, limit).map_err(backend)
    }

    pub(super) fn undo(
        &self,
        id: &RevisionId,
        origin: Origin,
    ) -> Result<MemoryCommit, MemoryError> {
        let _lock = self.lock()?;
        let stored = self.stored()?;
        let records = self.journal.records(stored.existing()).map_err(backend)?;
        let Some(record) = records.iter().find(|record| record.id == *id) else {
            return Err(MemoryError::NoRevision(id.clone()));
        };
        // Going by the version lets commits be undone one after the other, each undo being a commit.
        if stored.version() != record.after {
            return Err(stored.conflict());
        }
        if record.before.is_some_and(|before| before != Version::of(&record.text_before)) {
            return Err(MemoryError::Backend("the journal was changed by hand".into()));
        }
        self.write(&stored, &record.text_before, format!("undid {id}"), origin)
    }

    fn lock(&self) -> Result<FileLock, MemoryError> {
        let mut path = self.path.clone().into_os_string();
        path.push(".lock");
        FileLock::acquire(Path::new(&path), self.patience).map_err(backend)
    }

    fn stored(&self) -> Result<Stored, MemoryError> {
        let bytes = match durable::read(&self.path, MAX_BYTES) {
            Ok(bytes) => Some(bytes),
            Err(err) if err.kind() == io::ErrorKind::NotFound => None,
            Err(err) => return Err(self.unreadable(err)),
        };
        let parsed = format::parse(bytes.as_deref().unwrap_or_default());
        Ok(Stored { bytes, parsed })
    }

    fn unreadable(
        &self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> MemoryError {
        MemoryError::Unreadable { place: self.path.display().to_string(), source: source.into() }
    }

    /// Refuses a write that would lose text which this store did not write.
    ///
    /// An entry longer than the whole list may be was pasted in. Adding leaves it alone, so that
    /// counts only for the other edits.
    fn check_drift(&self, stored: &Stored, edits: &[MemoryEdit]) -> Result<(), MemoryError> {
        let is_pasted = |entry: &String| self.limit < entry.chars().count();
        let only_adds = edits.iter().all(|edit| matches!(edit, MemoryEdit::Add { .. }));
        match stored.parsed.fidelity {
            Fidelity::NotUtf8 => Err(self.unreadable("the file is not UTF-8")),
            Fidelity::Faithful if only_adds || !stored.parsed.entries.iter().any(is_pasted) => {
                Ok(())
            }
            Fidelity::Faithful | Fidelity::Lossy => Err(self.drift(stored)?),
        }
    }

    /// Returns the error of a file that is not to be written, of which it keeps a copy.
    fn drift(&self, stored: &Stored) -> Result<MemoryError, MemoryError> {
        let backup = self.back_up(stored.bytes.as_deref().unwrap_or_default());
        let backup = backup.map_err(backend)?.display().to_string();
        Ok(MemoryError::Drift { place: self.path.display().to_string(), backup })
    }

    /// Copies `bytes` beside the file, unless such a copy is there, and returns where.
    fn back_up(&self, bytes: &[u8]) -> io::Result<PathBuf> {
        if let Some(copy) =
            self.backups()?.into_iter().find(|it| fs::read(it).is_ok_and(|it| it == bytes))
        {
            return Ok(copy);
        }
        let now = self.clock.now().duration_since(std::time::SystemTime::UNIX_EPOCH);
        let seconds = now.unwrap_or_default().as_secs();
        let name = self.path.display();
        let mut path = PathBuf::from(format!("{name}.bak.{seconds}"));
        for number in 1.. {
            if !path.try_exists()? {
                break;
            }
            path = PathBuf::from(format!("{name}.bak.{seconds}-{number}"));
        }
        durable::replace(&path, bytes)?;
        Ok(path)
    }

    fn backups(&self) -> io::Result<Vec<PathBuf>> {
        let (Some(folder), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Ok(Vec::new());
        };
        let prefix = format!("{}.bak.", name.to_string_lossy());
        let entries = fs::read_dir(folder)?.filter_map(Result::ok);
        let is_backup = |it: &fs::DirEntry| it.file_name().to_string_lossy().starts_with(&prefix);
        Ok(entries.filter(is_backup).map(|it| it.path()).collect())
    }

    /// Writes `text` and records it. The caller holds the lock.
    fn write(
        &self,
        stored: &Stored,
        text: &str,
        summary: String,
        origin: Origin,
    ) -> Result<MemoryCommit, MemoryError> {
        let text_before = String::from_utf8(stored.bytes.clone().unwrap_or_default())
            .map_err(|err| self.unreadable(err))?;
        let before = (stored.existing(), text_before);
        let version = Version::of(text);
        let record = Record::new(self.clock.now(), origin, summary, before, version);
        let id = self.journal.begin(stored.existing(), record).map_err(backend)?;
        durable::replace(&self.path, text.as_bytes()).map_err(backend)?;
        self.journal.end(&id);
        let mut commit = self.commit_of(stored, state_of(text));
        commit.revision = Some(id);
        Ok(commit)
    }
}

fn state_of(text: &str) -> Versioned<Vec<String>> {
    Versioned::new(format::parse(text.as_bytes()).entries, Version::of(text))
}

/// Describes `edits` in one line.
pub(crate) fn summary(edits: &[MemoryEdit]) -> String {
    const SHOWN: usize = 60;
    let short = |text: &str| {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(&line)),
            None => line,
        }
    };
    match edits {
        [MemoryEdit::Add { content }] => format!("added: {}", short(content)),
        [MemoryEdit::Replace { content, .. }] => format!("replaced by: {}", short(content)),
        [MemoryEdit::Remove { old_text }] => format!("removed: {}", short(old_text)),
        _ => format!("{} edits", edits.len()),
    }
}

fn backend(source: io::Error) -> MemoryError {
    MemoryError::Backend(source.into())
}

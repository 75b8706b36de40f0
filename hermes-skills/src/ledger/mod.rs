//! The record of every change: what was there before, who changed it, and how to take it back.
//!
//! It lies in `skills/.journal/`, beside hermes-agent's files and out of their way:
//!
//! - `journal.jsonl` is appended to, and replaced whole when old changes are forgotten. A change
//!   writes a `begin` line, is made, and writes an `end` line, or `void` if it could not be made.
//!   After a crash the state of the skill tells which it is.
//! - `blobs/<sha256>` holds the texts before and after.
//! - `deleted/<id>/` holds the folders of deleted skills.
//! - `stage/` holds what is not complete yet; whoever takes the lock empties it.
//!
//! With a change that is forgotten go the texts and folders that no other needs.

mod entry;
mod trim;

use std::{
    collections::HashMap,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use hermes_core::{
    durable::{self, FileLock},
    memory::RevisionId,
    version::Version,
};
use serde::{Deserialize, Serialize};

pub(crate) use self::entry::{Done, Entry};

/// The name of the ledger's folder within the skills folder.
pub(crate) const FOLDER: &str = ".journal";

/// The ledger of a skills folder.
#[derive(Debug)]
pub(crate) struct Ledger {
    folder: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Line {
    /// The change is about to be made.
    Begin(Box<Entry>),
    /// It was made.
    End { id: RevisionId },
    /// It was not.
    Void { id: RevisionId },
}

/// What the journal says.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// The changes that were made, oldest first.
    pub(crate) made: Vec<Entry>,
    /// Changes of which nobody wrote how they ended, oldest first.
    pub(crate) open: Vec<Entry>,
}

/// The most bytes of the journal that are read.
const MAX_BYTES: u64 = 1 << 30;

impl Ledger {
    pub(crate) fn of(root: &Path) -> Self {
        Self { folder: root.join(FOLDER) }
    }

    /// Takes the lock under which everything in the skills folder is changed.
    pub(crate) fn lock(&self, patience: Duration) -> io::Result<FileLock> {
        FileLock::acquire(&self.folder.join(".lock"), patience)
    }

    /// Returns whether anything was ever begun.
    pub(crate) fn is_empty(&self) -> bool {
        !self.journal().exists()
    }

    /// Reads the journal. A line that cannot be read, such as one that a crash cut off, is skipped.
    pub(crate) fn account(&self) -> io::Result<Account> {
        let bytes = match durable::read(&self.journal(), MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Account::default()),
            Err(err) => return Err(err),
        };
        let lines = bytes.split(|byte| *byte == b'\n');
        let mut begun: Vec<Entry> = Vec::new();
        let mut ends: HashMap<RevisionId, bool> = HashMap::new();
        for line in lines.filter_map(|line| serde_json::from_slice(line).ok()) {
            match line {
                Line::Begin(entry) => begun.push(*entry),
                Line::End { id } => drop(ends.insert(id, true)),
                Line::Void { id } => drop(ends.insert(id, false)),
            }
        }
        let mut account = Account::default();
        for entry in begun {
            match ends.get(&entry.id) {
                Some(true) => account.made.push(entry),
                Some(false) => {}
                None => account.open.push(entry),
            }
        }
        Ok(account)
    }

    /// Writes that `entry` is about to be made, and gives it its id.
    pub(crate) fn begin(&self, entry: Entry) -> io::Result<Entry> {
        let text = match durable::read(&self.journal(), MAX_BYTES) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read?,
        };
        let place = u64::try_from(text.len()).unwrap_or(u64::MAX);
        // Where old changes were forgotten, one that is kept may have begun at the same place.
        let is_free = |it: &Entry| memchr::memmem::find(&text, it.id.as_str().as_bytes()).is_none();
        let mut named = (place..).map(|place| entry.clone().named(place));
        let entry = named.find(is_free).unwrap_or(entry);
        self.append(&Line::Begin(Box::new(entry.clone())))?.sync_data()?;
        if text.is_empty() {
            durable::sync_folder(&self.folder)?;
        }
        Ok(entry)
    }

    /// Writes that `entry` was made.
    pub(crate) fn end(&self, entry: &Entry) -> io::Result<()> {
        self.append(&Line::End { id: entry.id.clone() }).map(drop)
    }

    /// Writes that `entry` was not made.
    pub(crate) fn void(&self, entry: &Entry) -> io::Result<()> {
        self.append(&Line::Void { id: entry.id.clone() }).map(drop)
    }

    /// Keeps `bytes`, so that they can be brought back.
    pub(crate) fn keep(&self, bytes: &[u8]) -> io::Result<Version> {
        let version = Version::of(bytes);
        let path = self.blob_path(version);
        if !path.exists() {
            let stage = self.folder.join("stage").join(version.to_string());
            let blobs = self.folder.join("blobs");
            durable::replace(&stage, bytes)?;
            fs::create_dir_all(&blobs)?;
            fs::rename(stage, path)?;
            durable::sync_folder(&blobs)?;
        }
        Ok(version)
    }

    /// Returns the bytes of `version`, `None` if they were never kept or are damaged.
    pub(crate) fn blob(&self, version: Version) -> Option<Vec<u8>> {
        fs::read(self.blob_path(version)).ok().filter(|bytes| Version::of(bytes) == version)
    }

    /// Returns where a new skill is put together.
    pub(crate) fn stage(&self, id: &RevisionId) -> PathBuf {
        self.folder.join("stage").join(id.as_str())
    }

    /// Removes what an unfinished change left behind.
    pub(crate) fn clear_stage(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.folder.join("stage")) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
            _ => Ok(()),
        }
    }

    fn journal(&self) -> PathBuf {
        self.folder.join("journal.jsonl")
    }

    fn blob_path(&self, version: Version) -> PathBuf {
        self.folder.join("blobs").join(version.to_string())
    }

    fn append(&self, line: &Line) -> io::Result<fs::File> {
        fs::create_dir_all(&self.folder)?;
        let path = self.journal();
        let is_torn = durable::read(&path, MAX_BYTES)
            .is_ok_and(|bytes| bytes.last().is_some_and(|it| *it != b'\n'));
        let mut bytes = if is_torn { vec![b'\n'] } else { Vec::new() };
        serde_json::to_writer(&mut bytes, line)?;
        bytes.push(b'\n');
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(&bytes)?;
        Ok(file)
    }
}

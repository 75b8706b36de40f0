//! The history of one memory file: an append-only journal beside it.
//!
//! A commit writes a `begin` line with the old text, then the file, then an `end` line. Whatever
//! moment a crash chooses, the old text is on disk, and the version of the file tells whether an
//! open `begin` came to be.

use std::{
    collections::HashSet,
    fs::OpenOptions,
    io::{self, Write},
    path::PathBuf,
    time::{Duration, SystemTime},
};

use hermes_core::{
    durable,
    memory::{Revision, RevisionId},
    origin::Origin,
    version::Version,
};
use serde::{Deserialize, Serialize};

/// The most bytes of the journal that are read.
const MAX_BYTES: u64 = 1 << 30;
/// Above this size in bytes the journal is looked at for revisions that may go.
const ROOMY: usize = 256 * 1024;

/// The journal of one memory file.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    path: PathBuf,
    keep: usize,
}

/// One commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) id: RevisionId,
    /// Milliseconds since 1970.
    at_ms: u64,
    origin: Origin,
    summary: String,
    /// The version before, `None` if there was no file.
    pub(super) before: Option<Version>,
    pub(super) after: Version,
    /// The text before, byte for byte.
    pub(super) text_before: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Line {
    /// The file is about to be written.
    Begin(Record),
    /// It was written.
    End { id: RevisionId },
    /// It was not.
    Void { id: RevisionId },
}

impl Record {
    /// Creates the record of a commit that has not been made yet.
    pub(super) fn new(
        at: SystemTime,
        origin: Origin,
        summary: String,
        before: (Option<Version>, String),
        after: Version,
    ) -> Self {
        let at = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let (before, text_before) = before;
        let id = RevisionId::new(String::new());
        let at_ms = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        Self { id, at_ms, origin, summary, before, after, text_before }
    }

    fn named(mut self, place: usize) -> Self {
        let seed = format!("{place} {} {:?} {}", self.at_ms, self.before, self.after);
        let id: String = Version::of(seed).to_string().chars().take(12).collect();
        self.id = RevisionId::new(id);
        self
    }

    fn revision(self) -> Revision {
        let at = SystemTime::UNIX_EPOCH
            .checked_add(Duration::from_millis(self.at_ms))
            .unwrap_or(SystemTime::UNIX_EPOCH);
        Revision::new(self.id, at, self.origin, self.summary, (self.before, Some(self.after)))
    }
}

impl Journal {
    /// Names the journal at `path`, which keeps at least the latest `keep` commits.
    pub(super) fn new(path: PathBuf, keep: usize) -> Self {
        Self { path, keep: keep.max(1) }
    }

    /// Returns the commits that were made, oldest first; `current` is the version of the file.
    pub(super) fn records(&self, current: Option<Version>) -> io::Result<Vec<Record>> {
        Ok(made(&self.read()?, current))
    }

    /// Returns the latest `limit` commits, newest first; `current` is the version of the file.
    pub(super) fn history(
        &self,
        current: Option<Version>,
        limit: usize,
    ) -> io::Result<Vec<Revision>> {
        let records = self.records(current)?;
        Ok(records.into_iter().rev().take(limit).map(Record::revision).collect())
    }

    /// Notes that the file, now at `current`, is about to be written, and returns the commit's id.
    ///
    /// The caller holds the lock of the file.
    pub(super) fn begin(&self, current: Option<Version>, record: Record) -> io::Result<RevisionId> {
        let mut bytes = self.read()?;
        if bytes.is_empty() {
            durable::replace(&self.path, b"")?;
        }
        if let Some(settled) = settlement(&bytes, current) {
            self.append(&settled)?;
            bytes = self.read()?;
        }
        if ROOMY < bytes.len() {
            self.shorten(&bytes, current)?;
        }
        let record = record.named(bytes.len());
        let id = record.id.clone();
        self.append(&Line::Begin(record))?;
        Ok(id)
    }

    /// Notes that the file was written.
    ///
    /// Not being able to is no failure: the version of the file says the same.
    pub(super) fn end(&self, id: &RevisionId) {
        let _ = self.append(&Line::End { id: id.clone() });
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        match durable::read(&self.path, MAX_BYTES) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read,
        }
    }

    fn append(&self, line: &Line) -> io::Result<()> {
        // The leading line end closes a line that a crash has torn.
        let mut text = b"\n".to_vec();
        text.extend(serde_json::to_vec(line)?);
        text.push(b'\n');
        let mut file = OpenOptions::new().append(true).create(true).open(&self.path)?;
        file.write_all(&text)?;
        file.sync_data()
    }

    fn shorten(&self, bytes: &[u8], current: Option<Version>) -> io::Result<()> {
        let records = made(bytes, current);
        if records.len() < self.keep.saturating_mul(2) {
            return Ok(());
        }
        let mut text = Vec::new();
        for record in records.into_iter().rev().take(self.keep).rev() {
            let id = record.id.clone();
            for line in [Line::Begin(record), Line::End { id }] {
                text.extend(serde_json::to_vec(&line)?);
                text.push(b'\n');
            }
        }
        durable::replace(&self.path, &text)
    }
}

/// Returns the commits that were made; what cannot be read was torn by a crash and never followed
/// by a write.
fn made(bytes: &[u8], current: Option<Version>) -> Vec<Record> {
    let (mut records, mut ended) = (Vec::new(), HashSet::new());
    for line in lines(bytes) {
        match line {
            Line::Begin(record) => records.push(record),
            Line::End { id } => drop(ended.insert(id)),
            Line::Void { .. } => {}
        }
    }
    if let Some(Line::Begin(open)) = last(bytes)
        && Some(open.after) == current
    {
        ended.insert(open.id);
    }
    records.retain(|record| ended.contains(&record.id));
    records
}

/// Returns the line that closes a commit which a crash has left open.
fn settlement(bytes: &[u8], current: Option<Version>) -> Option<Line> {
    match last(bytes)? {
        Line::Begin(Record { id, after, .. }) if Some(after) == current => Some(Line::End { id }),
        Line::Begin(Record { id, .. }) => Some(Line::Void { id }),
        _ => None,
    }
}

fn lines(bytes: &[u8]) -> impl DoubleEndedIterator<Item = Line> {
    bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

fn last(bytes: &[u8]) -> Option<Line> {
    lines(bytes).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(folder: &tempfile::TempDir, keep: usize) -> Journal {
        Journal::new(folder.path().join("j.jsonl"), keep)
    }

    fn record(before: &str, after: &str) -> Record {
        let before = (Some(Version::of(before)), before.to_owned());
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_123);
        Record::new(at, Origin::user(), "note".to_owned(), before, Version::of(after))
    }

    fn texts(records: &[Record]) -> Vec<&str> {
        records.iter().map(|record| record.text_before.as_str()).collect()
    }

    #[test]
    fn what_was_written_is_in_the_history() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(&folder, 10);
        let id = journal.begin(Some(Version::of("a")), record("a", "b")).unwrap();
        journal.end(&id);

        let history = journal.history(Some(Version::of("later")), 10).unwrap();

        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_123);
        let versions = (Some(Version::of("a")), Some(Version::of("b")));
        assert_eq!(history, [Revision::new(id, at, Origin::user(), "note", versions)]);
    }

    #[test]
    fn a_crash_before_the_file_was_written_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(&folder, 10);
        let current = Some(Version::of("a"));
        journal.begin(current, record("a", "b")).unwrap();

        assert_eq!(journal.records(current).unwrap(), []);

        let id = journal.begin(current, record("a", "c")).unwrap();
        journal.end(&id);
        assert_eq!(journal.records(Some(Version::of("c"))).unwrap().len(), 1);
    }

    #[test]
    fn a_crash_after_the_file_was_written_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(&folder, 10);
        journal.begin(Some(Version::of("a")), record("a", "b")).unwrap();

        let current = Some(Version::of("b"));
        assert_eq!(texts(&journal.records(current).unwrap()), ["a"]);

        let id = journal.begin(current, record("b", "c")).unwrap();
        journal.end(&id);
        assert_eq!(texts(&journal.records(Some(Version::of("c"))).unwrap()), ["a", "b"]);
    }

    #[test]
    fn a_torn_line_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(&folder, 10);
        durable::replace(&journal.path, b"{\"op\":\"begin\",\"id\":\"x\",\xff").unwrap();

        let id = journal.begin(None, record("a", "b")).unwrap();
        journal.end(&id);

        assert_eq!(texts(&journal.records(None).unwrap()), ["a"]);
    }

    #[test]
    fn old_commits_go_when_there_are_many() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(&folder, 5);
        let text = "x".repeat(ROOMY / 10);
        for number in 0..40 {
            let before = format!("{number} {text}");
            let current = Some(Version::of(&before));
            let id = journal.begin(current, record(&before, "next")).unwrap();
            journal.end(&id);
        }

        let records = journal.records(None).unwrap();

        assert!((5..25).contains(&records.len()), "{}", records.len());
        assert!(records.last().unwrap().text_before.starts_with("39 "));
    }
}

//! Forgetting old changes, so that the record does not grow without end.

use std::{
    collections::{BTreeSet, HashSet},
    fs, io,
};

use hermes_core::durable;
use serde_json::Value;

use super::{Done, Entry, Ledger, Line, MAX_BYTES};

impl Ledger {
    /// Forgets all but the latest `keep` changes, once there are twice as many, and removes the texts
    /// and deleted folders that no other needs.
    ///
    /// The caller holds the lock, and no change is open. The journal is replaced first, whole; what
    /// a killed process did not remove after that goes the next time. A journal with lines of a
    /// later version is left alone, for they may speak of more than can be read here.
    pub(crate) fn trim(&self, keep: usize) -> io::Result<()> {
        let account = self.account()?;
        let is_due = keep.saturating_mul(2) <= account.made.len();
        if !is_due || !account.open.is_empty() || self.has_unknown_lines()? {
            return Ok(());
        }
        let forgotten = account.made.len().saturating_sub(keep);
        let kept = account.made.get(forgotten..).unwrap_or_default();
        let mut text = Vec::new();
        for entry in kept {
            let id = entry.id.clone();
            for line in [Line::Begin(Box::new(entry.clone())), Line::End { id }] {
                serde_json::to_writer(&mut text, &line)?;
                text.push(b'\n');
            }
        }
        durable::replace(&self.journal(), &text)?;
        self.sweep(kept)
    }

    /// Returns whether a line is whole, but none that is written here.
    fn has_unknown_lines(&self) -> io::Result<bool> {
        let bytes = durable::read(&self.journal(), MAX_BYTES)?;
        let mut lines = bytes.split(|byte| *byte == b'\n');
        Ok(lines.any(|line| {
            serde_json::from_slice::<Value>(line).is_ok()
                && serde_json::from_slice::<Line>(line).is_err()
        }))
    }

    /// Removes the texts and deleted folders that none of `kept` needs.
    fn sweep(&self, kept: &[Entry]) -> io::Result<()> {
        let versions = kept.iter().flat_map(|entry| [entry.before, entry.after]).flatten();
        let blobs: HashSet<String> = versions.map(|it| it.to_string()).collect();
        let deleted: BTreeSet<&str> = kept
            .iter()
            .filter_map(|entry| match &entry.done {
                Done::MoveOut { to, .. } => to.rsplit('/').next(),
                _ => None,
            })
            .collect();
        for name in self.names_in("blobs")?.iter().filter(|it| !blobs.contains(*it)) {
            fs::remove_file(self.folder.join("blobs").join(name))?;
        }
        for name in self.names_in("deleted")?.iter().filter(|it| !deleted.contains(it.as_str())) {
            fs::remove_dir_all(self.folder.join("deleted").join(name))?;
        }
        Ok(())
    }

    /// Returns the names in a folder of the ledger, none if it is not there. Nothing in it has a
    /// name that is no Unicode, unless somebody else put it there; that stays.
    fn names_in(&self, folder: &str) -> io::Result<Vec<String>> {
        match fs::read_dir(self.folder.join(folder)) {
            Ok(entries) => {
                Ok(entries.flatten().filter_map(|it| it.file_name().into_string().ok()).collect())
            }
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(err) => Err(err),
        }
    }
}

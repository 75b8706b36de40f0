//! One change in the journal.

use std::time::{Duration, SystemTime};

use hermes_core::{
    memory::{Revision, RevisionId},
    origin::Origin,
    skill::{SkillFile, SkillName},
    version::Version,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One change to one skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) id: RevisionId,
    /// Milliseconds since 1970.
    at_ms: u64,
    pub(crate) origin: Origin,
    pub(crate) skill: SkillName,
    /// The skill's folder, relative to the skills folder.
    pub(crate) path: String,
    pub(crate) done: Done,
    /// The version of the changed file before, of `SKILL.md` if the whole skill changes.
    pub(crate) before: Option<Version>,
    pub(crate) after: Option<Version>,
    /// The permission bits of a file that was taken away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<u32>,
    /// The change that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) undoes: Option<RevisionId>,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "done", rename_all = "snake_case")]
pub(crate) enum Done {
    /// A skill was made.
    Create,
    /// A file was written.
    Write { file: SkillFile },
    /// A file was taken away.
    Remove { file: SkillFile },
    /// The skill's folder was moved to `to`, relative to the skills folder: into the ledger's
    /// `deleted` or into the archive.
    MoveOut {
        to: String,
        archived: bool,
        heir: Option<SkillName>,
        /// The usage record, where the move forgets it.
        record: Option<Value>,
    },
    /// The skill's folder came back from `from`, with the usage record that was forgotten.
    MoveIn { from: String, record: Option<Value> },
    /// The skill was pinned or unpinned.
    Pin { pinned: bool },
}

impl Entry {
    /// Begins the record of a change that has not been made yet.
    pub(crate) fn new(
        at: SystemTime,
        origin: Origin,
        (skill, path): (SkillName, String),
        done: Done,
    ) -> Self {
        let at = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            id: RevisionId::new(String::new()),
            at_ms: u64::try_from(at.as_millis()).unwrap_or(u64::MAX),
            origin,
            skill,
            path,
            done,
            before: None,
            after: None,
            mode: None,
            undoes: None,
        }
    }

    /// Gives the change an id that no other at this `place` of the journal has.
    pub(super) fn named(mut self, place: u64) -> Self {
        let seed = format!("{place} {} {} {:?} {:?}", self.at_ms, self.path, self.done, self.after);
        let id: String = Version::of(seed).to_string().chars().take(12).collect();
        if self.id.as_str().is_empty() {
            self.id = RevisionId::new(id);
        }
        self
    }

    pub(crate) fn revision(&self) -> Revision {
        let at = SystemTime::UNIX_EPOCH
            .checked_add(Duration::from_millis(self.at_ms))
            .unwrap_or(SystemTime::UNIX_EPOCH);
        let versions = (self.before, self.after);
        Revision::new(self.id.clone(), at, self.origin.clone(), self.summary(), versions)
    }

    fn summary(&self) -> String {
        let what = match &self.done {
            Done::Create => "create".to_owned(),
            Done::Write { file } if self.before.is_none() => format!("add {file}"),
            Done::Write { file } => format!("change {file}"),
            Done::Remove { file } => format!("remove {file}"),
            Done::MoveOut { archived, heir, .. } => {
                let verb = if *archived { "archive" } else { "delete" };
                match heir {
                    Some(heir) => format!("{verb}, absorbed into {heir}"),
                    None => verb.to_owned(),
                }
            }
            Done::MoveIn { .. } => "bring back".to_owned(),
            Done::Pin { pinned: true } => "pin".to_owned(),
            Done::Pin { pinned: false } => "unpin".to_owned(),
        };
        match &self.undoes {
            Some(id) => format!("undo {id}: {what}"),
            None => what,
        }
    }
}

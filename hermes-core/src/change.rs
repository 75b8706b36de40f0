//! What a tool changed, as a value: what counters, reviews and hosts go by instead of result texts.

use serde::{Deserialize, Serialize};

use crate::version::Version;

/// One change to memory or to a skill, applied or held for a person.
///
/// `hermes_memory::Memory::undo` and `hermes_skills::Skills::undo` take one back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Change {
    /// What was changed.
    pub target: ChangeTarget,
    /// What was done to it.
    pub action: ChangeAction,
    /// The version before, `None` if there was nothing; for a list of memory, if it was empty.
    pub before: Option<Version>,
    /// The version after, `None` if there is nothing any more.
    pub after: Option<Version>,
    /// A unified diff from before to after.
    pub diff: String,
    /// What became of it.
    pub fate: Fate,
}

/// What a [`Change`] is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeTarget {
    /// One of the two memory lists.
    Memory(crate::memory::Target),
    /// A file of a skill.
    Skill {
        /// The skill's name; [`SkillName::existing`](crate::skill::SkillName::existing) makes one of it.
        name: String,
        /// The file within the skill's folder; `SKILL.md` is the main one.
        file: String,
    },
}

/// What a [`Change`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeAction {
    /// Something new was made: a skill, a file of one, or the first entry of an empty list.
    Create,
    /// Something was changed.
    Update,
    /// Something was taken away for good.
    Delete,
    /// Something was put away, from where it can be brought back.
    Archive,
}

/// What became of a [`Change`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fate {
    /// It is in the store.
    Applied,
    /// It waits for a person, under this id.
    Held(String),
    /// It has not been made; somebody is asked about it.
    Proposed,
}

impl Change {
    /// Creates the record of an applied change.
    pub fn applied(target: ChangeTarget, action: ChangeAction) -> Self {
        Self { target, action, before: None, after: None, diff: String::new(), fate: Fate::Applied }
    }

    /// Returns the same record with versions and diff.
    #[must_use]
    pub fn with_versions(
        mut self,
        before: Option<Version>,
        after: Option<Version>,
        diff: impl Into<String>,
    ) -> Self {
        self.before = before;
        self.after = after;
        self.diff = diff.into();
        self
    }

    /// Returns the same record as one that waits for a person under `id`.
    #[must_use]
    pub fn held(mut self, id: impl Into<String>) -> Self {
        self.fate = Fate::Held(id.into());
        self
    }

    /// Returns the same record as one of a change that has not been made.
    #[must_use]
    pub fn proposed(mut self) -> Self {
        self.fate = Fate::Proposed;
        self
    }

    /// Returns the change in one line for a person, such as `Skill k8s-deploy: updated SKILL.md`. Of
    /// memory it names the list; what was written is in [`diff`](Self::diff).
    pub fn line(&self) -> String {
        let verb = match self.action {
            ChangeAction::Create => "create",
            ChangeAction::Update => "update",
            ChangeAction::Delete => "delete",
            ChangeAction::Archive => "archive",
        };
        let past = if self.fate == Fate::Proposed { "" } else { "d" };
        let held = match &self.fate {
            Fate::Applied | Fate::Proposed => String::new(),
            Fate::Held(id) => format!(" (held for approval as {id})"),
        };
        match &self.target {
            ChangeTarget::Memory(target) => format!("{}: {verb}{past}{held}", target.label()),
            ChangeTarget::Skill { name, file } => {
                format!("Skill {name}: {verb}{past} {file}{held}")
            }
        }
    }
}

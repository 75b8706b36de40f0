//! Skills: procedures that are read when they are needed.

mod name;
mod record;

use std::{fmt, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use self::{
    name::{Category, InvalidName, SkillFile, SkillName},
    record::{SkillRecord, SkillState, SkillUse},
};
use crate::{
    memory::{Revision, RevisionId},
    origin::Origin,
    threat::Finding,
    version::{Expected, Version, Versioned},
};

/// Where an agent keeps its procedures.
///
/// A skill is a folder with a `SKILL.md` and optional supporting files. The prompt carries only an
/// index, made from [`list`](Self::list); a tool [`read`](Self::read)s the rest when it is needed.
/// The store deals in whole files: finding a passage and replacing it is the patch engine's work, and
/// the version it started from makes the write safe.
///
/// # Contract
///
/// [`conformance::skill_store`](crate::testing::conformance::skill_store) checks these.
///
/// - **Whole or not at all.** A commit that fails, for whatever reason, leaves the store as it was.
/// - **No lost update.** A commit whose expected version is not the current one fails with
///   [`SkillError::Conflict`].
/// - **Read before write.** An automatic commit (see [`Origin::is_automatic`]) to a file that exists
///   must name its version; [`Expected::Any`] is refused with [`SkillError::Unread`].
/// - **Ownership.** An automatic commit may touch only what the agent itself made and what is not
///   pinned; anything else is refused with [`SkillError::OffLimits`].
/// - **Nothing is lost by automation.** An automatic delete archives, and keeps the record.
/// - **Scanned.** Text that would be an attack if an agent read it is refused with
///   [`SkillError::Blocked`], whoever asks.
/// - **Undoable.** Every commit that changed a file is in the history and can be undone while its
///   result is current: the latest, then the one before it, and so on.
/// - **Foretold.** A preview, where there is one, is what the commit then brings, and changes nothing.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "testing")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hermes_core::{
///     origin::Origin,
///     skill::{SkillAction, SkillChange, SkillFile, SkillStore},
///     testing::InMemorySkills,
///     version::Expected,
/// };
///
/// let skills = InMemorySkills::default();
/// let content = "---\nname: deploy\ndescription: Deploys the shop.\n---\nPush.\n".to_owned();
/// let create = SkillAction::Create { category: None, content };
/// skills.commit(SkillChange::new("deploy".parse()?, create, Origin::user())).await?;
///
/// let text = skills.read("deploy", &SkillFile::main()).await?;
/// let write = SkillAction::Write {
///     file: text.file.clone(),
///     content: text.text.value.replace("Push.", "Push, then apply."),
///     expected: Expected::Is(text.text.version), // nobody has changed it since
/// };
/// let commit = skills.commit(SkillChange::new(text.skill, write, Origin::user())).await?;
/// assert!(commit.diff.ends_with("-Push.\n+Push, then apply.\n"));
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "testing"))]
/// # fn main() {}
/// ```
#[async_trait]
pub trait SkillStore: fmt::Debug + Send + Sync {
    /// Returns all skills that can be offered, sorted by category and name, and what is wrong with
    /// those that cannot be read.
    ///
    /// # Errors
    ///
    /// [`SkillError::Backend`] if the store as a whole cannot be read.
    async fn list(&self) -> Result<SkillList, SkillError>;

    /// Returns a file of the skill that `id` names: its folder's name, `category/name`, or the name
    /// in its head where that is unambiguous.
    ///
    /// # Errors
    ///
    /// - [`SkillError::NotFound`], with the closest names.
    /// - [`SkillError::Ambiguous`] if several skills have that name.
    /// - [`SkillError::NoFile`], with the files there are.
    async fn read(&self, id: &str, file: &SkillFile) -> Result<SkillText, SkillError>;

    /// Makes one change.
    ///
    /// # Errors
    ///
    /// Any [`SkillError`]; nothing is changed then.
    async fn commit(&self, change: SkillChange) -> Result<SkillCommit, SkillError>;

    /// Returns what [`commit`](Self::commit) would make of `change` now, without making it: the same
    /// result but for the revision, or the same error. `None` if the store cannot tell, which is the
    /// default.
    ///
    /// It is asked before a change is kept for a person's approval, and for the diff the person sees.
    ///
    /// # Errors
    ///
    /// Any [`SkillError`] that the commit would give.
    async fn preview(&self, change: &SkillChange) -> Result<Option<SkillCommit>, SkillError> {
        let _ = change;
        Ok(None)
    }

    /// Returns the latest `limit` commits to `skill`, newest first.
    ///
    /// # Errors
    ///
    /// [`SkillError::Backend`] if the record cannot be read.
    async fn history(&self, skill: &SkillName, limit: usize) -> Result<Vec<Revision>, SkillError>;

    /// Puts back what `revision` changed in `skill`, and records that as a commit of `origin`.
    ///
    /// # Errors
    ///
    /// - [`SkillError::NoRevision`] if the history does not have it.
    /// - [`SkillError::Conflict`] if what it changed is no longer as it left it.
    async fn undo(
        &self,
        skill: &SkillName,
        revision: &RevisionId,
        origin: Origin,
    ) -> Result<SkillCommit, SkillError>;

    /// Returns what is known of the use of `skill`, `None` if nothing is. That of a skill that was
    /// archived is kept, with the state [`SkillState::Archived`].
    ///
    /// # Errors
    ///
    /// [`SkillError::Backend`] if the record cannot be read.
    async fn record(&self, skill: &SkillName) -> Result<Option<SkillRecord>, SkillError>;

    /// Notes a use of `skill` in its record: counts it, and dates it.
    ///
    /// # Errors
    ///
    /// [`SkillError::Backend`] if the record cannot be written.
    async fn note(&self, skill: &SkillName, what: SkillUse) -> Result<(), SkillError>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<S: SkillStore + ?Sized> SkillStore for Arc<S> {
    async fn list(&self) -> Result<SkillList, SkillError> {
        (**self).list().await
    }

    async fn read(&self, id: &str, file: &SkillFile) -> Result<SkillText, SkillError> {
        (**self).read(id, file).await
    }

    async fn commit(&self, change: SkillChange) -> Result<SkillCommit, SkillError> {
        (**self).commit(change).await
    }

    async fn preview(&self, change: &SkillChange) -> Result<Option<SkillCommit>, SkillError> {
        (**self).preview(change).await
    }

    async fn history(&self, skill: &SkillName, limit: usize) -> Result<Vec<Revision>, SkillError> {
        (**self).history(skill, limit).await
    }

    async fn undo(
        &self,
        skill: &SkillName,
        revision: &RevisionId,
        origin: Origin,
    ) -> Result<SkillCommit, SkillError> {
        (**self).undo(skill, revision, origin).await
    }

    async fn record(&self, skill: &SkillName) -> Result<Option<SkillRecord>, SkillError> {
        (**self).record(skill).await
    }

    async fn note(&self, skill: &SkillName, what: SkillUse) -> Result<(), SkillError> {
        (**self).note(skill, what).await
    }
}

/// What a store can offer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillList {
    /// The skills, sorted by category and name.
    pub skills: Vec<SkillSummary>,
    /// What each category is about, where somebody wrote it down, sorted by category.
    pub categories: Vec<(String, String)>,
    /// Skills that cannot be read, and why. Each names the folder.
    pub warnings: Vec<SkillWarning>,
}

/// A skill in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillSummary {
    /// The folder's name.
    pub name: SkillName,
    /// The path of its category, with `/` between the parts; `None` at the top.
    pub category: Option<String>,
    /// What it is for, in one line; may be empty.
    pub description: String,
    /// The systems it is for, as its head says; empty for all.
    pub platforms: Vec<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The tools that must be there for it to be offered, and those whose absence it makes up for.
    #[serde(default, skip_serializing_if = "Conditions::is_empty")]
    pub conditions: Conditions,
}

/// When a skill is offered in the index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Conditions {
    /// Tools that must all be there.
    pub requires_tools: Vec<String>,
    /// Groups of tools that must all be there.
    pub requires_toolsets: Vec<String>,
    /// Tools of which none may be there.
    pub fallback_for_tools: Vec<String>,
    /// Groups of tools of which none may be there.
    pub fallback_for_toolsets: Vec<String>,
}

impl Conditions {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether a skill under these conditions is offered beside `tools`, where nothing is
    /// known of groups of tools.
    pub fn hold_with(&self, tools: &[&str]) -> bool {
        are_there(&self.requires_tools, tools) && !is_one_there(&self.fallback_for_tools, tools)
    }

    /// Returns whether a skill under these conditions is offered beside `tools`, which make up the
    /// groups `toolsets`.
    pub fn hold_with_toolsets(&self, tools: &[&str], toolsets: &[&str]) -> bool {
        self.hold_with(tools)
            && are_there(&self.requires_toolsets, toolsets)
            && !is_one_there(&self.fallback_for_toolsets, toolsets)
    }
}

fn are_there(wanted: &[String], there: &[&str]) -> bool {
    wanted.iter().all(|name| there.contains(&name.as_str()))
}

fn is_one_there(wanted: &[String], there: &[&str]) -> bool {
    wanted.iter().any(|name| there.contains(&name.as_str()))
}

impl SkillSummary {
    /// Creates the summary of a skill without category, tags and conditions.
    pub fn new(name: SkillName, description: impl Into<String>) -> Self {
        Self {
            name,
            category: None,
            description: description.into(),
            platforms: Vec::new(),
            tags: Vec::new(),
            conditions: Conditions::default(),
        }
    }

    /// Returns the same summary in `category`.
    #[must_use]
    pub fn in_category(mut self, category: impl Into<String>) -> Self {
        self.category = Some(category.into());
        self
    }
}

/// What is wrong with a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillWarning {
    /// Its folder, relative to the root.
    pub place: String,
    /// What is wrong.
    pub reason: String,
}

impl SkillWarning {
    /// Joins a place and what is wrong there.
    pub fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { place: place.into(), reason: reason.into() }
    }
}

/// A file of a skill as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillText {
    /// The skill, whatever name it was asked for by.
    pub skill: SkillName,
    /// The path of its category; `None` at the top.
    pub category: Option<String>,
    /// The file.
    pub file: SkillFile,
    /// The text and its version.
    pub text: Versioned<String>,
    /// The other files of the skill, sorted.
    pub files: Vec<SkillFile>,
    /// Where the skill's folder is, for running its scripts; `None` if it is on no disk.
    pub folder: Option<PathBuf>,
}

impl SkillText {
    /// Creates the text of a skill without category and other files.
    pub fn new(skill: SkillName, file: SkillFile, text: Versioned<String>) -> Self {
        Self { skill, category: None, file, text, files: Vec::new(), folder: None }
    }

    /// Returns the name under which [`Seen`](crate::tool::Seen) notes this file.
    pub fn seen_key(&self) -> String {
        seen_key(&self.skill, &self.file)
    }
}

/// Returns the name under which [`Seen`](crate::tool::Seen) notes `file` of `skill`.
pub fn seen_key(skill: &SkillName, file: &SkillFile) -> String {
    format!("skill:{skill}/{file}")
}

/// One change to a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillChange {
    /// The skill. For a new one, the name of its folder.
    pub skill: SkillName,
    /// What to do.
    pub action: SkillAction,
    /// Who asks.
    pub origin: Origin,
}

impl SkillChange {
    /// Creates a change by `origin`.
    pub fn new(skill: SkillName, action: SkillAction, origin: Origin) -> Self {
        Self { skill, action, origin }
    }
}

/// What a [`SkillChange`] does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkillAction {
    /// Makes a new skill.
    Create {
        /// Where; at the top if `None`.
        category: Option<Category>,
        /// Its `SKILL.md`.
        content: String,
    },
    /// Writes one file, new or not.
    Write {
        /// The file.
        file: SkillFile,
        /// Its whole new text.
        content: String,
        /// The version the writer has seen.
        expected: Expected,
    },
    /// Removes one supporting file.
    Remove {
        /// The file, not the main one.
        file: SkillFile,
        /// The version the writer has seen.
        expected: Expected,
    },
    /// Removes the skill: for good if the user asks, into the archive otherwise. A pinned skill is
    /// off limits for this, whoever asks.
    Delete {
        /// The version of `SKILL.md` that the writer has seen.
        expected: Expected,
        /// The skill that now holds its content, if one does. Automatic deletes must name one, or
        /// are [`SkillError::Invalid`].
        absorbed_into: Option<SkillName>,
    },
    /// Pins or unpins the skill. Only the user may. It changes the record and no file.
    Pin(bool),
}

/// A change that went through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillCommit {
    /// The skill.
    pub skill: SkillName,
    /// Its path relative to the root, with `/` between the parts.
    pub path: String,
    /// The version of the changed file before, `None` if there was none.
    pub before: Option<Version>,
    /// Its version after, `None` if it is gone.
    pub after: Option<Version>,
    /// A unified diff of the changed file.
    pub diff: String,
    /// Whether a delete put the skill into the archive.
    pub archived: bool,
    /// The entry of the history, `None` if nothing changed.
    pub revision: Option<RevisionId>,
    /// What the scanner or the parser wants the host to know.
    pub warnings: Vec<String>,
}

impl SkillCommit {
    /// Creates the record of a change to `skill` at `path` that has not touched anything yet.
    pub fn new(skill: SkillName, path: impl Into<String>) -> Self {
        Self {
            skill,
            path: path.into(),
            before: None,
            after: None,
            diff: String::new(),
            archived: false,
            revision: None,
            warnings: Vec::new(),
        }
    }
}

/// Why a skill could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// No skill has that name.
    #[error("no skill is called {id:?}{}", closest(names))]
    NotFound {
        /// What was asked for.
        id: String,
        /// Names to choose from, the closest first.
        names: Vec<String>,
    },
    /// Several skills have that name.
    #[error("{} skills are called {id:?}", matches.len())]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// Their paths, each of which names one of them.
        matches: Vec<String>,
    },
    /// The skill has no such file.
    #[error("skill {skill} has no file {file}")]
    NoFile {
        /// The skill.
        skill: SkillName,
        /// The file.
        file: SkillFile,
        /// The files it has.
        files: Vec<SkillFile>,
    },
    /// The file is not text.
    #[error("{file} of skill {skill} is not text")]
    Binary {
        /// The skill.
        skill: SkillName,
        /// The file.
        file: SkillFile,
    },
    /// Something of that name is there already.
    #[error("{path} exists already")]
    Exists {
        /// Where.
        path: String,
    },
    /// The change itself is malformed: a broken head, too long, a forbidden file.
    #[error("{reason}")]
    Invalid {
        /// What is wrong and what to do instead.
        reason: String,
    },
    /// The new text would be an attack if an agent read it.
    #[error("the text was refused by the scan{}; leave that out", found(findings))]
    Blocked {
        /// What was found.
        findings: Vec<Finding>,
    },
    /// The scanner itself failed, so nothing was written.
    #[error("the text could not be scanned")]
    ScanFailed(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The writer may not touch this skill.
    #[error("{reason}")]
    OffLimits {
        /// Why.
        reason: String,
    },
    /// An automatic write has not read what it would change.
    #[error("{file} of skill {skill} must be read before it is changed")]
    Unread {
        /// The skill.
        skill: SkillName,
        /// The file.
        file: SkillFile,
    },
    /// The file is not in the version the writer has seen.
    #[error("the file has changed in the meantime")]
    Conflict {
        /// Its current version, `None` if it is gone.
        current: Option<Version>,
        /// What has changed, as a unified diff, where the store still knows the version seen.
        diff: Option<String>,
    },
    /// The history does not have the revision.
    #[error("there is no revision {0}")]
    NoRevision(RevisionId),
    /// The place leads out of the store, through a link or otherwise.
    #[error("{place} leads out of the skills folder")]
    Escapes {
        /// The place.
        place: String,
    },
    /// The store failed.
    #[error("the skill store failed")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Says what was found first, where, and how much more there is, for a message.
fn found(findings: &[Finding]) -> String {
    let Some(first) = findings.first() else { return String::new() };
    let more = match findings.len().saturating_sub(1) {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    format!(" for {first}, in its bytes {} to {}{more}", first.range.start, first.range.end)
}

/// Names the first few of `names`, the closest first, for a message.
fn closest(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let names: Vec<String> = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    if names.is_empty() { String::new() } else { format!("; the closest are {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threat::Severity;

    #[test]
    fn what_was_refused_says_what_and_where() {
        let finding = |start| Finding::new("order", Severity::Block, start..start + 5, "orders");
        let blocked = |findings| SkillError::Blocked { findings }.to_string();

        assert_eq!(
            blocked(vec![finding(7)]),
            "the text was refused by the scan for order: orders, in its bytes 7 to 12; leave that out"
        );
        assert_eq!(
            blocked(vec![finding(7), finding(30), finding(90)]),
            "the text was refused by the scan for order: orders, in its bytes 7 to 12 (and 2 more); \
             leave that out"
        );
    }

    #[test]
    fn what_is_sent_over_a_wire_reads_as_it_was() {
        let name: SkillName = "deploy".parse().unwrap();
        let text = SkillText::new(
            name,
            SkillFile::main(),
            Versioned::new("Push.".to_owned(), Version::of("Push.")),
        );
        let list = SkillList::default();

        let (text_again, list_again) = (
            serde_json::from_str(&serde_json::to_string(&text).unwrap()).unwrap(),
            serde_json::from_str(&serde_json::to_string(&list).unwrap()).unwrap(),
        );

        assert_eq!((text, list), (text_again, list_again));
    }

    #[test]
    fn what_is_not_found_names_the_closest() {
        let not_found = |names: &[&str]| {
            let names = names.iter().map(|&it| it.to_owned()).collect();
            SkillError::NotFound { id: "deply".to_owned(), names }.to_string()
        };

        assert_eq!(not_found(&[]), "no skill is called \"deply\"");
        assert_eq!(
            not_found(&["deploy", "debug", "dns", "docs"]),
            "no skill is called \"deply\"; the closest are \"deploy\", \"debug\", \"dns\""
        );
    }
}

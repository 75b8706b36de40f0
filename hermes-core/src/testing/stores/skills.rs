//! Skills that are forgotten with their process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::library::{Commit, Library, Skill, Step};
use crate::{
    clock::{Clock, SystemClock, iso_8601},
    memory::{Revision, RevisionId},
    origin::Origin,
    skill::{
        SkillAction, SkillChange, SkillCommit, SkillError, SkillFile, SkillList, SkillName,
        SkillRecord, SkillState, SkillStore, SkillText, SkillUse,
    },
    threat::{DefaultScanner, Finding, Scanner, Scope},
};

/// A [`SkillStore`] that keeps skills in memory. A clone shares them.
///
/// Names are unique over all categories. Of a head it understands `name` and `description`, one a
/// line. Texts are scanned by [`DefaultScanner`] unless it is told otherwise.
///
/// # Examples
///
/// ```
/// use hermes_core::{
///     origin::Origin,
///     skill::{SkillAction, SkillChange, SkillFile, SkillStore},
///     testing::InMemorySkills,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let skills = InMemorySkills::default();
/// let content = "---\nname: deploy\ndescription: Deploys the shop.\n---\nPush, then apply.\n";
/// let create = SkillAction::Create { category: None, content: content.to_owned() };
///
/// skills.commit(SkillChange::new("deploy".parse()?, create, Origin::user())).await?;
///
/// assert_eq!(skills.read("deploy", &SkillFile::main()).await?.text.value, content);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct InMemorySkills {
    library: Arc<Mutex<Library>>,
    clock: Arc<dyn Clock>,
    scanner: Arc<dyn Scanner>,
}

impl Default for InMemorySkills {
    fn default() -> Self {
        Self {
            library: Arc::default(),
            clock: Arc::new(SystemClock),
            scanner: Arc::new(DefaultScanner),
        }
    }
}

impl InMemorySkills {
    /// Returns the same store with `clock`, which dates history and records.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Returns the same store with `scanner`, which judges new texts.
    #[must_use]
    pub fn with_scanner(mut self, scanner: impl Scanner + 'static) -> Self {
        self.scanner = Arc::new(scanner);
        self
    }

    /// Returns the same store with a skill that the user made, as if it had always been there:
    /// neither checked nor scanned nor in the history.
    #[must_use]
    pub fn with_skill(self, name: SkillName, content: impl Into<String>) -> Self {
        let mut skill = Skill::default();
        skill.files.insert(SkillFile::main(), content.into());
        self.lock().skills.insert(name, skill);
        self
    }

    /// Returns the text of `file` of the skill called `name`, if there is one.
    pub fn text(&self, name: &SkillName, file: &SkillFile) -> Option<String> {
        self.lock().skills.get(name)?.files.get(file).cloned()
    }

    /// Returns the names of the skills in the archive, sorted.
    pub fn archived(&self) -> Vec<SkillName> {
        self.lock().archive.keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Library> {
        self.library.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn scan(&self, action: &SkillAction) -> Result<(), SkillError> {
        let (SkillAction::Create { content, .. } | SkillAction::Write { content, .. }) = action
        else {
            return Ok(());
        };
        let findings = self.scanner.scan(content, Scope::Strict);
        let findings = findings.map_err(|err| SkillError::ScanFailed(err.into()))?;
        let findings: Vec<Finding> = findings.into_iter().filter(Finding::blocks).collect();
        if findings.is_empty() { Ok(()) } else { Err(SkillError::Blocked { findings }) }
    }

    fn pin(&self, library: &mut Library, change: &SkillChange) -> Result<(), SkillError> {
        let SkillAction::Pin(is_pinned) = change.action else { return Ok(()) };
        check_pin(change)?;
        self.record_of(library, &change.skill).pinned = is_pinned;
        Ok(())
    }

    /// Makes `step` of the skill called `name`, with an entry in the history if it is a change.
    fn take(
        &self,
        library: &mut Library,
        name: SkillName,
        step: Step,
        author: (Origin, String),
    ) -> SkillCommit {
        let (origin, summary) = author;
        let mut commit = foreseen(&name, &step, &origin);
        if step.before == step.after {
            return commit;
        }
        self.place(library, &name, &step, &origin);
        let commits = library.commits.entry(name).or_default();
        let id = RevisionId::new(format!("s{}", commits.len().saturating_add(1)));
        let versions = (commit.before, commit.after);
        let revision = Revision::new(id.clone(), self.clock.now(), origin, summary, versions);
        commits.push(Commit { revision, step });
        commit.revision = Some(id);
        commit
    }

    /// Puts the skill where `step` has it: on the shelf, in the archive, or nowhere.
    fn place(&self, library: &mut Library, name: &SkillName, step: &Step, origin: &Origin) {
        match (&step.before, &step.after) {
            (None, Some(after)) => {
                library.skills.insert(name.clone(), after.clone());
                if library.archive.remove(name).is_some() {
                    let record = self.record_of(library, name);
                    record.state = SkillState::Active;
                    record.archived_at = None;
                }
            }
            (_, Some(after)) => {
                library.skills.insert(name.clone(), after.clone());
            }
            (Some(before), None) if origin.is_automatic() => {
                library.skills.remove(name);
                library.archive.insert(name.clone(), before.clone());
                let now = iso_8601(self.clock.now());
                let record = self.record_of(library, name);
                record.state = SkillState::Archived;
                record.archived_at = Some(now);
            }
            (_, None) => {
                library.skills.remove(name);
            }
        }
    }

    /// Begins the record of a new skill anew: what an earlier one of its name was says nothing.
    fn begin_record(&self, library: &mut Library, name: &SkillName, origin: &Origin) {
        library.records.remove(name);
        library.archive.remove(name);
        self.record_of(library, name).created_by =
            origin.is_automatic().then(|| "agent".to_owned());
    }

    fn record_of<'a>(&self, library: &'a mut Library, name: &SkillName) -> &'a mut SkillRecord {
        library.records.entry(name.clone()).or_insert_with(|| SkillRecord {
            created_at: Some(iso_8601(self.clock.now())),
            ..SkillRecord::default()
        })
    }
}

#[async_trait]
impl SkillStore for InMemorySkills {
    async fn list(&self) -> Result<SkillList, SkillError> {
        Ok(SkillList { skills: self.lock().summaries(), ..SkillList::default() })
    }

    async fn read(&self, id: &str, file: &SkillFile) -> Result<SkillText, SkillError> {
        self.lock().read(id, file)
    }

    async fn commit(&self, change: SkillChange) -> Result<SkillCommit, SkillError> {
        self.scan(&change.action)?;
        let mut library = self.lock();
        let step = library.plan(&change)?;
        self.pin(&mut library, &change)?;
        if matches!(change.action, SkillAction::Create { .. }) {
            self.begin_record(&mut library, &change.skill, &change.origin);
        }
        let summary = summary(&change.action);
        Ok(self.take(&mut library, change.skill, step, (change.origin, summary)))
    }

    async fn preview(&self, change: &SkillChange) -> Result<Option<SkillCommit>, SkillError> {
        self.scan(&change.action)?;
        let step = self.lock().plan(change)?;
        check_pin(change)?;
        Ok(Some(foreseen(&change.skill, &step, &change.origin)))
    }

    async fn history(&self, skill: &SkillName, limit: usize) -> Result<Vec<Revision>, SkillError> {
        let library = self.lock();
        let commits = library.commits.get(skill).into_iter().flat_map(|it| it.iter().rev());
        Ok(commits.take(limit).map(|commit| commit.revision.clone()).collect())
    }

    async fn undo(
        &self,
        skill: &SkillName,
        revision: &RevisionId,
        origin: Origin,
    ) -> Result<SkillCommit, SkillError> {
        let mut library = self.lock();
        let step = library.plan_undo(skill, revision, &origin)?;
        let summary = format!("undo {revision}");
        Ok(self.take(&mut library, skill.clone(), step, (origin, summary)))
    }

    async fn record(&self, skill: &SkillName) -> Result<Option<SkillRecord>, SkillError> {
        Ok(self.lock().records.get(skill).cloned())
    }

    async fn note(&self, skill: &SkillName, what: SkillUse) -> Result<(), SkillError> {
        let now = Some(iso_8601(self.clock.now()));
        let mut library = self.lock();
        let record = self.record_of(&mut library, skill);
        match what {
            SkillUse::Viewed => {
                record.view_count = record.view_count.saturating_add(1);
                record.use_count = record.use_count.saturating_add(1);
                record.last_viewed_at.clone_from(&now);
                record.last_used_at = now;
            }
            SkillUse::Changed => {
                record.patch_count = record.patch_count.saturating_add(1);
                record.last_patched_at = now;
            }
        }
        Ok(())
    }
}

fn check_pin(change: &SkillChange) -> Result<(), SkillError> {
    if matches!(change.action, SkillAction::Pin(_)) && change.origin.is_automatic() {
        return Err(SkillError::OffLimits { reason: "only the user pins and unpins".to_owned() });
    }
    Ok(())
}

/// Returns the commit that `step` will be, without its revision.
fn foreseen(name: &SkillName, step: &Step, origin: &Origin) -> SkillCommit {
    let skill = step.after.as_ref().or(step.before.as_ref());
    let path = skill.map(|it| it.path(name)).unwrap_or_default();
    let mut commit = SkillCommit::new(name.clone(), path);
    (commit.before, commit.after) = step.versions();
    if step.before != step.after {
        commit.diff = step.diff();
        commit.archived = step.after.is_none() && origin.is_automatic();
    }
    commit
}

fn summary(action: &SkillAction) -> String {
    match action {
        SkillAction::Create { .. } => "create".to_owned(),
        SkillAction::Write { file, .. } => format!("write {file}"),
        SkillAction::Remove { file, .. } => format!("remove {file}"),
        SkillAction::Delete { absorbed_into: Some(heir), .. } => format!("delete into {heir}"),
        SkillAction::Delete { .. } => "delete".to_owned(),
        SkillAction::Pin(true) => "pin".to_owned(),
        SkillAction::Pin(false) => "unpin".to_owned(),
    }
}

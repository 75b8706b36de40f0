//! The store: what it is made of, and its way onto the blocking threads.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use hermes_core::{
    clock::{Clock, SystemClock, iso_8601},
    memory::{Revision, RevisionId},
    origin::Origin,
    skill::{
        SkillChange, SkillCommit, SkillError, SkillFile, SkillList, SkillName, SkillRecord,
        SkillStore, SkillText, SkillUse,
    },
    threat::{DefaultScanner, Scanner},
};
use tokio::runtime::Handle;

use super::{backend, layout::Survey, usage::Usage};
use crate::ledger::Ledger;

/// Skills in the folder `skills/` of a home, which hermes-agent may share.
///
/// A skill is a folder with a `SKILL.md`, at any depth; the folders above it are its category. The
/// folders that hold no skills, and those that hold the files of one, are in [`index`](crate::index).
///
/// # What never happens
///
/// - A change is seen in part. It is checked and scanned first, written to a journal, and then made
///   by one rename; a process that is killed leaves the old or the new state.
/// - A change overwrites a version that its writer has not seen, where it names one; an automatic
///   one must name one.
/// - An automatic change touches what the agent did not make, what is pinned, came with the program
///   or from a hub, or what cannot be told. Its deletes go to `skills/.archive/`.
/// - A change follows a link out of the skills folder. Skills behind links, and those in
///   [`external`](Self::external) folders, can be read only.
///
/// # What it writes beside the skills
///
/// `.usage.json` in hermes-agent's shape, and `.journal/` of its own: every change with the texts
/// before and after, and the folders of deleted skills. The latest [`revisions`](Self::revisions) of
/// all skills together can be taken back; older ones are forgotten, once there are twice as many,
/// and with them the deleted folders. What is archived stays.
///
/// Cloning it is cheap. Several stores on one folder, in one process or many, see each other's
/// changes and wait for each other. The work runs on tokio's threads for blocking work; a change that
/// has begun is made whole even if its future is dropped.
///
/// # Examples
///
/// ```
/// use hermes_core::{
///     origin::Origin,
///     skill::{SkillAction, SkillChange, SkillFile, SkillStore},
/// };
/// use hermes_skills::FsSkills;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let home = tempfile::tempdir()?;
/// let skills = FsSkills::new(home.path());
/// let content = "---\nname: deploy\ndescription: Deploys the shop.\n---\nPush, then apply.\n";
/// let create = SkillAction::Create { category: None, content: content.to_owned() };
///
/// let commit = skills.commit(SkillChange::new("deploy".parse()?, create, Origin::user())).await?;
///
/// assert!(home.path().join("skills/deploy/SKILL.md").exists());
/// let revision = commit.revision.ok_or("nothing changed")?;
/// skills.undo(&commit.skill, &revision, Origin::user()).await?;
/// assert!(skills.read("deploy", &SkillFile::main()).await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct FsSkills {
    disk: Arc<Disk>,
}

/// The parts of a store, for the blocking side.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    pub(super) home: PathBuf,
    pub(super) root: PathBuf,
    pub(super) external: Vec<PathBuf>,
    pub(super) scanner: Arc<dyn Scanner>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) patience: Duration,
    /// How many changes are kept, at least one.
    pub(super) revisions: usize,
}

impl FsSkills {
    const DEFAULT_PATIENCE: Duration = Duration::from_secs(10);
    const DEFAULT_REVISIONS: usize = 1_000;

    /// Names the skills under `home`, in its folder `skills`. Nothing is read or created yet.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        let disk = Disk {
            root: home.join("skills"),
            home,
            external: Vec::new(),
            scanner: Arc::new(DefaultScanner),
            clock: Arc::new(SystemClock),
            patience: Self::DEFAULT_PATIENCE,
            revisions: Self::DEFAULT_REVISIONS,
        };
        Self { disk: Arc::new(disk) }
    }

    /// Adds a folder of skills that can be read but not changed: a library of the product's own or of
    /// a team, say. It is the folder of the skills itself, where [`new`](Self::new) takes a home that
    /// has one called `skills`; one that does not exist has none. A skill of the home hides one of the
    /// same name in it. None by default.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_core::skill::{SkillFile, SkillStore};
    /// use hermes_skills::{FsSkills, frontmatter::NewSkill};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (home, team) = (tempfile::tempdir()?, tempfile::tempdir()?);
    /// let folder = team.path().join("ops/rollback");
    /// std::fs::create_dir_all(&folder)?;
    /// let text = NewSkill::new("rollback", "Takes a release back.").render("Run rollback.sh.\n");
    /// std::fs::write(folder.join("SKILL.md"), text)?;
    ///
    /// let skills = FsSkills::new(home.path()).external(team.path());
    ///
    /// let skill = skills.read("rollback", &SkillFile::main()).await?;
    /// assert_eq!(skill.category.as_deref(), Some("ops"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn external(self, folder: impl Into<PathBuf>) -> Self {
        self.with(|disk| disk.external.push(folder.into()))
    }

    /// Sets what judges new texts; one that fails refuses them. [`DefaultScanner`] by default.
    #[must_use]
    pub fn scanner(self, scanner: impl Scanner + 'static) -> Self {
        self.with(|disk| disk.scanner = Arc::new(scanner))
    }

    /// Sets the clock that dates history, records and archived folders. The machine's by default.
    #[must_use]
    pub fn clock(self, clock: impl Clock + 'static) -> Self {
        self.with(|disk| disk.clock = Arc::new(clock))
    }

    /// Sets how long a change waits for another one to end. 10 seconds by default.
    #[must_use]
    pub fn patience(self, patience: Duration) -> Self {
        self.with(|disk| disk.patience = patience)
    }

    /// Sets how many changes, of all skills together, can be seen and taken back at least; 1,000 by
    /// default, one at the least.
    ///
    /// There are never more than twice as many. Stores on one folder should agree on it: the one
    /// that keeps fewest decides.
    #[must_use]
    pub fn revisions(self, revisions: usize) -> Self {
        self.with(|disk| disk.revisions = revisions.max(1))
    }

    /// Returns the folder that holds the skills.
    pub fn root(&self) -> &Path {
        &self.disk.root
    }

    fn with(self, edit: impl FnOnce(&mut Disk)) -> Self {
        let mut disk = Arc::unwrap_or_clone(self.disk);
        edit(&mut disk);
        Self { disk: Arc::new(disk) }
    }

    #[cfg(test)]
    pub(super) fn run_here(&self, change: &SkillChange) -> Result<SkillCommit, SkillError> {
        self.disk.commit(change)
    }

    /// Runs `work` where it may block; in place if there is no runtime.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Disk) -> Result<T, SkillError> + Send + 'static,
    ) -> Result<T, SkillError> {
        let disk = Arc::clone(&self.disk);
        match Handle::try_current() {
            Ok(runtime) => runtime.spawn_blocking(move || work(&disk)).await.map_err(backend)?,
            Err(_) => work(&disk),
        }
    }
}

impl Disk {
    pub(super) fn survey(&self) -> Result<Survey, SkillError> {
        Survey::of(&self.root, &self.external).map_err(backend)
    }

    pub(super) fn ledger(&self) -> Ledger {
        Ledger::of(&self.root)
    }

    pub(super) fn usage(&self) -> Usage {
        Usage::of(&self.root, self.patience)
    }

    /// Returns the time as records have it.
    pub(super) fn now(&self) -> String {
        iso_8601(self.clock.now())
    }

    /// Returns the time as 14 digits, as names of archived folders have it.
    pub(super) fn stamp(&self) -> String {
        self.now().chars().filter(char::is_ascii_digit).take(14).collect()
    }
}

#[async_trait]
impl SkillStore for FsSkills {
    async fn list(&self) -> Result<SkillList, SkillError> {
        self.run(Disk::list).await
    }

    async fn read(&self, id: &str, file: &SkillFile) -> Result<SkillText, SkillError> {
        let (id, file) = (id.to_owned(), file.clone());
        self.run(move |disk| disk.read(&id, &file)).await
    }

    async fn commit(&self, change: SkillChange) -> Result<SkillCommit, SkillError> {
        self.run(move |disk| disk.commit(&change)).await
    }

    async fn preview(&self, change: &SkillChange) -> Result<Option<SkillCommit>, SkillError> {
        let change = change.clone();
        self.run(move |disk| disk.preview(&change).map(Some)).await
    }

    async fn history(&self, skill: &SkillName, limit: usize) -> Result<Vec<Revision>, SkillError> {
        let skill = skill.clone();
        self.run(move |disk| disk.history(&skill, limit)).await
    }

    async fn undo(
        &self,
        skill: &SkillName,
        revision: &RevisionId,
        origin: Origin,
    ) -> Result<SkillCommit, SkillError> {
        let (skill, revision) = (skill.clone(), revision.clone());
        self.run(move |disk| disk.undo(&skill, &revision, origin)).await
    }

    async fn record(&self, skill: &SkillName) -> Result<Option<SkillRecord>, SkillError> {
        let skill = skill.clone();
        self.run(move |disk| disk.usage().record(skill.as_str()).map_err(backend)).await
    }

    async fn note(&self, skill: &SkillName, what: SkillUse) -> Result<(), SkillError> {
        let skill = skill.clone();
        self.run(move |disk| {
            let counters: &[(&str, &str)] = match what {
                SkillUse::Viewed => {
                    &[("view_count", "last_viewed_at"), ("use_count", "last_used_at")]
                }
                _ => &[("patch_count", "last_patched_at")],
            };
            disk.usage().count(skill.as_str(), &disk.now(), counters).map_err(backend)
        })
        .await
    }
}

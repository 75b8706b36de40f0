//! Making a change: journal, one step, and everything taken back if it fails.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use hermes_core::{
    durable,
    skill::{SkillChange, SkillCommit, SkillError, SkillName},
    version::diff,
};
use serde_json::Value;

use super::{
    backend, files,
    fs::Disk,
    layout::MAIN_FILE,
    plan::{Plan, Step},
};
use crate::ledger::{Done, Entry};

/// What hermes-agent remembers of the skills for its prompt; it builds it anew if it is gone.
const PROMPT_SNAPSHOT: &str = ".skills_prompt_snapshot.json";

impl Disk {
    pub(super) fn commit(&self, change: &SkillChange) -> Result<SkillCommit, SkillError> {
        let _lock = self.ledger().lock(self.patience).map_err(backend)?;
        if self.revisions.saturating_mul(2) <= self.recover()? {
            // Nothing depends on it; the next change tries again.
            let _ = self.ledger().trim(self.revisions);
        }
        let plan = self.plan(change)?;
        self.carry_out(plan)
    }

    /// Returns the commit that `change` would be now, without its revision.
    pub(super) fn preview(&self, change: &SkillChange) -> Result<SkillCommit, SkillError> {
        self.plan(change).map(|plan| foreseen(&plan))
    }

    /// Makes a planned change. The caller holds the lock.
    pub(super) fn carry_out(&self, plan: Plan) -> Result<SkillCommit, SkillError> {
        let mut commit = foreseen(&plan);
        if matches!(plan.step, Step::Nothing) {
            return Ok(commit);
        }
        let entry = self.make(plan).map_err(backend)?;
        commit.revision = Some(entry.id);
        // Where it cannot be removed, hermes-agent still sees by the times that it is out of date.
        let _ = fs::remove_file(self.home.join(PROMPT_SNAPSHOT));
        Ok(commit)
    }

    fn make(&self, plan: Plan) -> io::Result<Entry> {
        let Plan { entry, step, bytes, .. } = plan;
        let ledger = self.ledger();
        for bytes in [&bytes.0, &bytes.1].into_iter().flatten() {
            ledger.keep(bytes)?;
        }
        let entry = ledger.begin(entry)?;
        let made = self.take(&entry, &step).and_then(|()| {
            self.settle(&entry).inspect_err(|_| {
                // The first error is the one to report.
                let _ = self.take_back(&entry, &step);
            })
        });
        match made {
            Ok(()) => {
                // The state of the skill says the same as this line.
                let _ = ledger.end(&entry);
                Ok(entry)
            }
            Err(err) => {
                let _ = ledger.void(&entry);
                let _ = ledger.clear_stage();
                Err(err)
            }
        }
    }

    /// Makes the one step of a change. If it fails, nothing has changed.
    fn take(&self, entry: &Entry, step: &Step) -> io::Result<()> {
        match step {
            Step::Nothing | Step::Record => Ok(()),
            Step::Make { folder, content } => {
                let stage = self.ledger().stage(&entry.id);
                durable::replace(&stage.join(MAIN_FILE), content)?;
                move_folder(&stage, folder)
            }
            Step::Write { file, content, mode } => write(file, content, *mode),
            Step::Remove { file } => {
                fs::remove_file(file)?;
                self.tidy(file.parent(), entry)
            }
            Step::Move { from, to } => {
                move_folder(from, to)?;
                match entry.done {
                    Done::MoveOut { archived: false, .. } => self.tidy(from.parent(), entry),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Takes a step back whose record could not be written.
    fn take_back(&self, entry: &Entry, step: &Step) -> io::Result<()> {
        match step {
            Step::Make { folder, .. } => {
                let stage = self.ledger().stage(&entry.id);
                move_folder(folder, &stage)?;
                fs::remove_dir_all(stage)?;
                self.tidy(folder.parent(), entry)
            }
            Step::Move { from, to } => move_folder(to, from),
            _ => Ok(()),
        }
    }

    /// Removes a folder that has become empty, unless it is the root or the skill's own.
    fn tidy(&self, folder: Option<&Path>, entry: &Entry) -> io::Result<()> {
        let Some(folder) = folder.filter(|it| **it != self.root) else { return Ok(()) };
        if folder == self.root.join(&entry.path) {
            return durable::sync_folder(folder);
        }
        match fs::remove_dir(folder) {
            Ok(()) => folder.parent().map_or(Ok(()), durable::sync_folder),
            Err(_) => durable::sync_folder(folder),
        }
    }

    /// Makes the usage record say what a change means for it. Doing so twice is doing it once.
    fn settle(&self, entry: &Entry) -> io::Result<()> {
        let (usage, now, name) = (self.usage(), self.now(), entry.skill.as_str());
        match &entry.done {
            Done::Create if entry.origin.is_automatic() => {
                usage.drop_record(name, &now)?;
                usage.change(name, &now, |record| {
                    record.insert("created_by".to_owned(), "agent".into());
                })
            }
            // What an earlier skill of that name was says nothing about this one.
            Done::Create | Done::MoveOut { archived: false, .. } => usage.drop_record(name, &now),
            Done::MoveOut { archived: true, .. } => usage.change(name, &now, |record| {
                record.insert("state".to_owned(), "archived".into());
                record.insert("archived_at".to_owned(), now.clone().into());
            }),
            Done::MoveIn { record: None, .. } if usage.raw(name).is_none() => Ok(()),
            Done::MoveIn { record, .. } => usage.change(name, &now, |current| {
                if let Some(Value::Object(record)) = record {
                    current.clone_from(record);
                }
                current.insert("state".to_owned(), "active".into());
                current.insert("archived_at".to_owned(), Value::Null);
            }),
            Done::Pin { pinned } => usage.change(name, &now, |record| {
                record.insert("pinned".to_owned(), (*pinned).into());
            }),
            Done::Write { .. } | Done::Remove { .. } => Ok(()),
        }
    }

    /// Brings to an end what a killed process left open, and returns how many changes there were
    /// besides. The caller holds the lock.
    pub(super) fn recover(&self) -> Result<usize, SkillError> {
        let ledger = self.ledger();
        if ledger.is_empty() {
            return Ok(0);
        }
        let account = ledger.account().map_err(backend)?;
        for entry in &account.open {
            if let Done::Write { file } = &entry.done {
                let file = self.root.join(&entry.path).join(file.as_str());
                file.parent().map(files::sweep);
            }
            if self.is_made(entry) {
                self.settle(entry).and_then(|()| ledger.end(entry)).map_err(backend)?;
            } else {
                ledger.void(entry).map_err(backend)?;
            }
        }
        ledger.clear_stage().map_err(backend)?;
        Ok(account.made.len())
    }

    /// Returns whether the skills folder is as it is after `entry`.
    fn is_made(&self, entry: &Entry) -> bool {
        let folder = self.root.join(&entry.path);
        let version = |path: PathBuf| fs::read(path).ok().map(hermes_core::version::Version::of);
        match &entry.done {
            Done::Create => version(folder.join(MAIN_FILE)) == entry.after,
            Done::Write { file } | Done::Remove { file } => {
                version(folder.join(file.as_str())) == entry.after
            }
            Done::MoveOut { to, .. } => self.root.join(to).exists() && !folder.exists(),
            Done::MoveIn { from, .. } => !self.root.join(from).exists() && folder.exists(),
            Done::Pin { pinned } => self.is_pinned(&entry.skill) == *pinned,
        }
    }

    fn is_pinned(&self, name: &SkillName) -> bool {
        let record = self.usage().record(name.as_str());
        record.ok().flatten().is_some_and(|it| it.pinned)
    }
}

/// Returns the commit that `plan` will be, without its revision.
fn foreseen(plan: &Plan) -> SkillCommit {
    let mut commit = SkillCommit::new(plan.entry.skill.clone(), plan.entry.path.clone());
    commit.before = plan.entry.before;
    commit.after = plan.entry.after;
    commit.warnings.clone_from(&plan.warnings);
    if !matches!(plan.step, Step::Nothing) {
        commit.diff = text_diff(plan);
        commit.archived = matches!(plan.entry.done, Done::MoveOut { archived: true, .. });
    }
    commit
}

fn move_folder(from: &Path, to: &Path) -> io::Result<()> {
    let parent = to.parent().unwrap_or(Path::new("."));
    let is_new = !parent.exists();
    fs::create_dir_all(parent)?;
    let moved = fs::rename(from, to).and_then(|()| durable::sync_folder(parent));
    if moved.is_err() && is_new {
        // It is left only if something is in it by now.
        let _ = fs::remove_dir(parent);
    }
    moved?;
    from.parent().map_or(Ok(()), durable::sync_folder)
}

fn write(file: &Path, content: &[u8], mode: Option<u32>) -> io::Result<()> {
    let missing = file.ancestors().skip(1).take_while(|it| !it.exists());
    let missing: Vec<&Path> = missing.collect();
    let written = durable::replace(file, content).and_then(|()| files::set_mode(file, mode));
    if written.is_err() {
        for folder in missing {
            let _ = fs::remove_dir(folder);
        }
    }
    written
}

/// Returns what changed in the file, empty if it is no text.
fn text_diff(plan: &Plan) -> String {
    let text = |bytes: &Option<Vec<u8>>| {
        let bytes = bytes.clone().unwrap_or_default();
        String::from_utf8(bytes).ok()
    };
    match (text(&plan.bytes.0), text(&plan.bytes.1)) {
        (Some(before), Some(after)) => diff(&before, &after),
        _ => String::new(),
    }
}

//! The history of a skill, and taking a change back.

use hermes_core::{
    memory::{Revision, RevisionId},
    origin::Origin,
    skill::{SkillCommit, SkillError, SkillFile, SkillName},
    version::Version,
};
use serde_json::Value;

use super::{
    backend, files,
    find::folder,
    fs::Disk,
    invalid,
    layout::{Place, Survey},
    off_limits,
    owner::check_writable,
    plan::{Plan, Step},
};
use crate::ledger::{Done, Entry};

impl Disk {
    pub(super) fn history(
        &self,
        skill: &SkillName,
        limit: usize,
    ) -> Result<Vec<Revision>, SkillError> {
        if self.ledger().is_empty() {
            return Ok(Vec::new());
        }
        let _lock = self.ledger().lock(self.patience).map_err(backend)?;
        self.recover()?;
        let made = self.ledger().account().map_err(backend)?.made;
        let ours = made.iter().rev().filter(|entry| entry.skill == *skill);
        Ok(ours.take(limit).map(Entry::revision).collect())
    }

    pub(super) fn undo(
        &self,
        skill: &SkillName,
        revision: &RevisionId,
        origin: Origin,
    ) -> Result<SkillCommit, SkillError> {
        let _lock = self.ledger().lock(self.patience).map_err(backend)?;
        self.recover()?;
        let made = self.ledger().account().map_err(backend)?.made;
        let ours: Vec<&Entry> = made.iter().filter(|entry| entry.skill == *skill).collect();
        let place = ours.iter().position(|entry| entry.id == *revision);
        let (entry, later) = match place.map(|it| ours.split_at(it)) {
            Some((_, [entry, later @ ..])) => (*entry, later),
            _ => return Err(SkillError::NoRevision(revision.clone())),
        };
        let survey = self.survey()?;
        let is_whole = matches!(entry.done, Done::Create | Done::MoveIn { .. });
        if is_whole && has_standing(later) {
            return Err(self.conflict(&survey, entry));
        }
        let mut plan = self.plan_undo(&survey, entry, origin)?;
        plan.entry.undoes = Some(revision.clone());
        self.carry_out(plan)
    }

    fn plan_undo(
        &self,
        survey: &Survey,
        entry: &Entry,
        origin: Origin,
    ) -> Result<Plan, SkillError> {
        if let Done::MoveOut { to, record, .. } = &entry.done {
            return self.plan_return(survey, entry, (to, record.clone()), origin);
        }
        let place = folder(survey, &entry.skill)?;
        check_writable(place)?;
        if origin.is_automatic() {
            self.check_owner(survey, place)?;
        }
        match &entry.done {
            Done::Pin { pinned } => {
                if origin.is_automatic() {
                    return Err(off_limits("only the user pins and unpins skills"));
                }
                let record = self.record_of(survey, place)?;
                if record.is_some_and(|it| it.pinned) != *pinned {
                    return Err(self.conflict(survey, entry));
                }
                let done = Done::Pin { pinned: !pinned };
                let entry = self.entry((place.name.clone(), place.path.clone()), done, origin);
                Ok(Plan::new(entry, Step::Record))
            }
            Done::Write { file } | Done::Remove { file } => {
                self.plan_rewrite(survey, place, (entry, file), origin)
            }
            _ => self.plan_away(survey, place, entry, origin),
        }
    }

    /// Plans to write a file as it was before `entry`, or to take it away if it was not there.
    fn plan_rewrite(
        &self,
        survey: &Survey,
        place: &Place,
        (entry, file): (&Entry, &SkillFile),
        origin: Origin,
    ) -> Result<Plan, SkillError> {
        let current = files::read(place, file)?;
        if current.as_ref().map(|it| it.version) != entry.after {
            return Err(self.conflict(survey, entry));
        }
        let path = files::locate(place, file)?;
        let skill = (place.name.clone(), place.path.clone());
        let before = entry.before.map(|version| self.kept(version)).transpose()?;
        let (done, step) = match &before {
            Some(bytes) => (
                Done::Write { file: file.clone() },
                Step::Write { file: path, content: bytes.clone(), mode: entry.mode },
            ),
            None => (Done::Remove { file: file.clone() }, Step::Remove { file: path }),
        };
        let entry = self.entry(skill, done, origin);
        Ok(Plan::new(entry, step).with_bytes(current.map(|it| it.bytes), before))
    }

    /// Plans to take away a skill that `entry` made or brought back.
    fn plan_away(
        &self,
        survey: &Survey,
        place: &Place,
        entry: &Entry,
        origin: Origin,
    ) -> Result<Plan, SkillError> {
        let current = files::read(place, &SkillFile::main())?;
        if current.as_ref().map(|it| it.version) != entry.after || place.path != entry.path {
            return Err(self.conflict(survey, entry));
        }
        if survey.has_below(&place.path) {
            return Err(invalid("the skill's folder holds other skills by now"));
        }
        let archived = origin.is_automatic();
        let to = self.place_for(&place.name, archived);
        let record = if archived { None } else { self.usage().raw(place.name.as_str()) };
        let step = Step::Move { from: place.folder.clone(), to: self.root.join(&to) };
        let done = Done::MoveOut { to, archived, heir: None, record };
        let entry = self.entry((place.name.clone(), place.path.clone()), done, origin);
        Ok(Plan::new(entry, step).with_bytes(current.map(|it| it.bytes), None))
    }

    /// Plans to bring a skill back from where `entry` put it.
    fn plan_return(
        &self,
        survey: &Survey,
        entry: &Entry,
        (from, record): (&str, Option<Value>),
        origin: Origin,
    ) -> Result<Plan, SkillError> {
        if origin.is_automatic() && !self.is_agents_own(&entry.skill, record.as_ref()) {
            return Err(off_limits(format!("skill {} was not made by the agent", entry.skill)));
        }
        let (source, target) = (self.root.join(from), self.root.join(&entry.path));
        let is_taken = survey.called(entry.skill.as_str()).next().is_some() || target.exists();
        if is_taken || !source.is_dir() {
            return Err(self.conflict(survey, entry));
        }
        let bytes = entry.before.map(|version| self.kept(version)).transpose()?;
        let done = Done::MoveIn { from: from.to_owned(), record };
        let skill = (entry.skill.clone(), entry.path.clone());
        let entry = self.entry(skill, done, origin);
        let step = Step::Move { from: source, to: target };
        Ok(Plan::new(entry, step).with_bytes(None, bytes))
    }

    fn is_agents_own(&self, name: &SkillName, record: Option<&Value>) -> bool {
        let current = self.usage().record(name.as_str()).ok().flatten();
        let record = match record {
            Some(record) => serde_json::from_value(record.clone()).ok(),
            None => current,
        };
        record.is_some_and(|it: hermes_core::skill::SkillRecord| it.is_agent_made() && !it.pinned)
    }

    fn kept(&self, version: Version) -> Result<Vec<u8>, SkillError> {
        let missing = || backend(format!("the text of version {version} is not kept any more"));
        self.ledger().blob(version).ok_or_else(missing)
    }

    fn conflict(&self, survey: &Survey, entry: &Entry) -> SkillError {
        let file = match &entry.done {
            Done::Write { file } | Done::Remove { file } => file.clone(),
            _ => SkillFile::main(),
        };
        let place = folder(survey, &entry.skill).ok();
        let stored = place.and_then(|place| files::read(place, &file).ok().flatten());
        let diff = entry.after.and_then(|version| self.diff_since(version, stored.as_ref()));
        SkillError::Conflict { current: stored.map(|it| it.version), diff }
    }
}

/// Returns whether one of `later` changes, oldest first, changed a file and was not taken back.
fn has_standing(later: &[&Entry]) -> bool {
    let mut undone: Vec<&RevisionId> = Vec::new();
    for entry in later.iter().rev() {
        if undone.contains(&&entry.id) || matches!(entry.done, Done::Pin { .. }) {
            continue;
        }
        match &entry.undoes {
            Some(id) => undone.push(id),
            None => return true,
        }
    }
    false
}

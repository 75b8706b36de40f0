//! The state of [`InMemorySkills`](super::InMemorySkills) and the rules of its changes, without
//! clock, scanner and lock.

use std::collections::BTreeMap;

use super::head::{self, Head};
use crate::{
    memory::{Revision, RevisionId},
    origin::Origin,
    skill::{
        SkillAction, SkillChange, SkillError, SkillFile, SkillName, SkillRecord, SkillSummary,
        SkillText,
    },
    version::{self, Expected, Version, Versioned},
};

#[derive(Debug, Default)]
pub(super) struct Library {
    pub(super) skills: BTreeMap<SkillName, Skill>,
    pub(super) archive: BTreeMap<SkillName, Skill>,
    pub(super) records: BTreeMap<SkillName, SkillRecord>,
    pub(super) commits: BTreeMap<SkillName, Vec<Commit>>,
}

/// A skill: its category and the texts of its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Skill {
    pub(super) category: Option<String>,
    pub(super) files: BTreeMap<SkillFile, String>,
}

/// An entry of the history, with what it takes to undo it.
#[derive(Debug)]
pub(super) struct Commit {
    pub(super) revision: Revision,
    pub(super) step: Step,
}

/// A skill before and after a change of one file, or of the skill as a whole.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The only file that changes; all of them if there is none.
    pub(super) file: Option<SkillFile>,
    pub(super) before: Option<Skill>,
    pub(super) after: Option<Skill>,
}

impl Skill {
    pub(super) fn path(&self, name: &SkillName) -> String {
        match &self.category {
            Some(category) => format!("{category}/{name}"),
            None => name.to_string(),
        }
    }

    fn head(&self) -> Option<Head> {
        head::parse(self.files.get(&SkillFile::main())?).ok()
    }

    fn version(&self, file: &SkillFile) -> Option<Version> {
        self.files.get(file).map(Version::of)
    }
}

impl Step {
    /// Returns the text of the changed file, which is the main one if all of them change.
    fn text<'a>(&self, skill: Option<&'a Skill>) -> Option<&'a str> {
        let main = SkillFile::main();
        skill?.files.get(self.file.as_ref().unwrap_or(&main)).map(String::as_str)
    }

    /// Returns the versions of the changed file before and after.
    pub(super) fn versions(&self) -> (Option<Version>, Option<Version>) {
        let version = |skill| self.text(skill).map(Version::of);
        (version(self.before.as_ref()), version(self.after.as_ref()))
    }

    /// Returns the diff of the changed file.
    pub(super) fn diff(&self) -> String {
        let text = |skill| self.text(skill).unwrap_or_default();
        version::diff(text(self.before.as_ref()), text(self.after.as_ref()))
    }

    /// Returns the step that takes this one back, from `current`, if its result is still there.
    fn undone(&self, current: Option<&Skill>) -> Option<Self> {
        let Some(file) = &self.file else {
            let is_there = current == self.after.as_ref();
            return is_there.then(|| Self {
                file: None,
                before: self.after.clone(),
                after: self.before.clone(),
            });
        };
        let current = current?;
        if current.files.get(file).map(String::as_str) != self.text(self.after.as_ref()) {
            return None;
        }
        let mut after = current.clone();
        match self.text(self.before.as_ref()) {
            Some(text) => after.files.insert(file.clone(), text.to_owned()),
            None => after.files.remove(file),
        };
        Some(Self { file: Some(file.clone()), before: Some(current.clone()), after: Some(after) })
    }
}

impl Library {
    /// Returns all skills in one line each, sorted by category and name.
    pub(super) fn summaries(&self) -> Vec<SkillSummary> {
        let summary = |(name, skill): (&SkillName, &Skill)| {
            let description = skill.head().map(|head| head.description).unwrap_or_default();
            let summary = SkillSummary::new(name.clone(), description);
            match &skill.category {
                Some(category) => summary.in_category(category),
                None => summary,
            }
        };
        let mut summaries: Vec<SkillSummary> = self.skills.iter().map(summary).collect();
        summaries.sort_by(|left, right| {
            (&left.category, &left.name).cmp(&(&right.category, &right.name))
        });
        summaries
    }

    pub(super) fn read(&self, id: &str, file: &SkillFile) -> Result<SkillText, SkillError> {
        let (name, skill) = self.resolve(id)?;
        let text = skill.files.get(file).ok_or_else(|| no_file(name, skill, file))?;
        let text = Versioned::new(text.clone(), Version::of(text));
        let mut found = SkillText::new(name.clone(), file.clone(), text);
        found.category.clone_from(&skill.category);
        found.files = skill.files.keys().filter(|it| *it != file).cloned().collect();
        Ok(found)
    }

    /// Finds the skill that `id` means: a folder, a path, or the name in a head.
    fn resolve(&self, id: &str) -> Result<(&SkillName, &Skill), SkillError> {
        let by_place =
            self.skills.iter().find(|(name, skill)| name.as_str() == id || skill.path(name) == id);
        if let Some(found) = by_place {
            return Ok(found);
        }
        let is_called = |skill: &Skill| skill.head().is_some_and(|head| head.name == id);
        let by_head: Vec<_> = self.skills.iter().filter(|(_, skill)| is_called(skill)).collect();
        match by_head.as_slice() {
            [found] => Ok(*found),
            [] => Err(self.not_found(id)),
            several => {
                let matches = several.iter().map(|(name, skill)| skill.path(name)).collect();
                Err(SkillError::Ambiguous { id: id.to_owned(), matches })
            }
        }
    }

    /// Returns what `change` would do, or why it may not.
    pub(super) fn plan(&self, change: &SkillChange) -> Result<Step, SkillError> {
        let SkillChange { skill: name, action, origin } = change;
        if let SkillAction::Create { category, content } = action {
            let category = category.as_ref().map(|it| it.as_str().to_owned());
            return self.plan_create(name, category, content);
        }
        let skill = self.skills.get(name).ok_or_else(|| self.not_found(name.as_str()))?;
        self.check_owner(name, origin)?;
        match action {
            SkillAction::Write { file, content, expected } => {
                check_version((name, skill), file, *expected, origin)?;
                check_content(file, content)?;
                let mut after = skill.clone();
                after.files.insert(file.clone(), content.clone());
                Ok(file_step(file, skill, after))
            }
            SkillAction::Remove { file, expected } => {
                if file.is_main() {
                    return Err(invalid("SKILL.md cannot be removed; delete the skill instead"));
                }
                check_version((name, skill), file, *expected, origin)?;
                let mut after = skill.clone();
                after.files.remove(file).ok_or_else(|| no_file(name, skill, file))?;
                Ok(file_step(file, skill, after))
            }
            SkillAction::Delete { expected, absorbed_into } => {
                check_version((name, skill), &SkillFile::main(), *expected, origin)?;
                self.check_delete(name, absorbed_into.as_ref(), origin)?;
                Ok(Step { file: None, before: Some(skill.clone()), after: None })
            }
            SkillAction::Create { .. } | SkillAction::Pin(_) => {
                Ok(file_step(&SkillFile::main(), skill, skill.clone()))
            }
        }
    }

    fn plan_create(
        &self,
        name: &SkillName,
        category: Option<String>,
        content: &str,
    ) -> Result<Step, SkillError> {
        if let Some(skill) = self.skills.get(name) {
            return Err(SkillError::Exists { path: skill.path(name) });
        }
        check_content(&SkillFile::main(), content)?;
        let files = BTreeMap::from([(SkillFile::main(), content.to_owned())]);
        Ok(Step { file: None, before: None, after: Some(Skill { category, files }) })
    }

    /// Returns the step that takes `revision` back, or why that is not possible.
    pub(super) fn plan_undo(
        &self,
        name: &SkillName,
        revision: &RevisionId,
        origin: &Origin,
    ) -> Result<Step, SkillError> {
        let mut commits = self.commits.get(name).into_iter().flatten();
        let commit = commits
            .find(|it| it.revision.id == *revision)
            .ok_or_else(|| SkillError::NoRevision(revision.clone()))?;
        self.check_owner(name, origin)?;
        let current = self.skills.get(name);
        commit.step.undone(current).ok_or_else(|| SkillError::Conflict {
            current: current.and_then(|it| it.version(&SkillFile::main())),
            diff: None,
        })
    }

    /// Refuses automatic changes of what the agent did not make, and of what is pinned.
    fn check_owner(&self, name: &SkillName, origin: &Origin) -> Result<(), SkillError> {
        if !origin.is_automatic() {
            return Ok(());
        }
        let record = self.records.get(name);
        if record.is_some_and(|it| it.pinned) {
            return Err(off_limits(format!("skill {name} is pinned")));
        }
        if !record.is_some_and(SkillRecord::is_agent_made) {
            return Err(off_limits(format!("skill {name} was not made by the agent")));
        }
        Ok(())
    }

    fn check_delete(
        &self,
        name: &SkillName,
        absorbed_into: Option<&SkillName>,
        origin: &Origin,
    ) -> Result<(), SkillError> {
        if self.records.get(name).is_some_and(|it| it.pinned) {
            return Err(off_limits(format!("skill {name} is pinned; unpin it first")));
        }
        match absorbed_into {
            None if origin.is_automatic() => {
                Err(invalid("name the skill that holds its content in absorbed_into"))
            }
            Some(heir) if heir == name => Err(invalid("a skill cannot absorb itself")),
            Some(heir) if !self.skills.contains_key(heir) => Err(self.not_found(heir.as_str())),
            _ => Ok(()),
        }
    }

    fn not_found(&self, id: &str) -> SkillError {
        const NAMES: usize = 10;
        let mut names: Vec<String> = self.skills.keys().map(ToString::to_string).collect();
        let likeness = |name: &String| strsim::normalized_damerau_levenshtein(id, name);
        names.sort_by(|left, right| likeness(right).total_cmp(&likeness(left)));
        names.truncate(NAMES);
        SkillError::NotFound { id: id.to_owned(), names }
    }
}

fn check_version(
    (name, skill): (&SkillName, &Skill),
    file: &SkillFile,
    expected: Expected,
    origin: &Origin,
) -> Result<(), SkillError> {
    let current = skill.version(file);
    if origin.is_automatic() && current.is_some() && expected == Expected::Any {
        return Err(SkillError::Unread { skill: name.clone(), file: file.clone() });
    }
    if !expected.accepts(current) {
        return Err(SkillError::Conflict { current, diff: None });
    }
    Ok(())
}

fn check_content(file: &SkillFile, content: &str) -> Result<(), SkillError> {
    if !file.is_main() {
        return Ok(());
    }
    head::parse(content).map(drop).map_err(|reason| SkillError::Invalid { reason })
}

fn file_step(file: &SkillFile, before: &Skill, after: Skill) -> Step {
    Step { file: Some(file.clone()), before: Some(before.clone()), after: Some(after) }
}

fn no_file(name: &SkillName, skill: &Skill, file: &SkillFile) -> SkillError {
    let files = skill.files.keys().cloned().collect();
    SkillError::NoFile { skill: name.clone(), file: file.clone(), files }
}

fn invalid(reason: &str) -> SkillError {
    SkillError::Invalid { reason: reason.to_owned() }
}

fn off_limits(reason: String) -> SkillError {
    SkillError::OffLimits { reason }
}

//! Deciding what a change would do, before anything is touched.

use std::path::PathBuf;

use hermes_core::{
    origin::Origin,
    skill::{Category, SkillAction, SkillChange, SkillError, SkillFile, SkillName},
    threat::{Finding, Scope},
    version::{Expected, Version},
};

use super::{
    backend,
    check::{check_change, check_text},
    files::{self, Stored},
    find::folder,
    fs::Disk,
    invalid,
    layout::{Place, Survey},
    off_limits,
    owner::check_writable,
};
use crate::ledger::{Done, Entry, FOLDER};

/// A change that may be made: its entry in the journal, and the one step that makes it.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) entry: Entry,
    pub(super) step: Step,
    /// The bytes of the changed file before and after.
    pub(super) bytes: (Option<Vec<u8>>, Option<Vec<u8>>),
    pub(super) warnings: Vec<String>,
}

/// What makes a change.
#[derive(Debug)]
pub(super) enum Step {
    /// It is already as wanted.
    Nothing,
    /// Makes a skill with this `SKILL.md`.
    Make { folder: PathBuf, content: Vec<u8> },
    /// Writes a file, with these permission bits if it is new.
    Write { file: PathBuf, content: Vec<u8>, mode: Option<u32> },
    /// Takes a file away.
    Remove { file: PathBuf },
    /// Moves a skill's folder.
    Move { from: PathBuf, to: PathBuf },
    /// Only the usage record changes.
    Record,
}

impl Plan {
    pub(super) fn new(entry: Entry, step: Step) -> Self {
        Self { entry, step, bytes: (None, None), warnings: Vec::new() }
    }

    pub(super) fn with_bytes(mut self, before: Option<Vec<u8>>, after: Option<Vec<u8>>) -> Self {
        self.entry.before = before.as_deref().map(Version::of);
        self.entry.after = after.as_deref().map(Version::of);
        self.bytes = (before, after);
        self
    }
}

impl Disk {
    pub(super) fn plan(&self, change: &SkillChange) -> Result<Plan, SkillError> {
        let survey = self.survey()?;
        if let SkillAction::Create { category, content } = &change.action {
            return self.plan_create(&survey, change, category.as_ref(), content);
        }
        let place = folder(&survey, &change.skill)?;
        if let SkillAction::Pin(pinned) = &change.action {
            return self.plan_pin(place, *pinned, change.origin.clone());
        }
        check_writable(place)?;
        if change.origin.is_automatic() {
            self.check_owner(&survey, place)?;
        }
        match &change.action {
            SkillAction::Write { file, content, expected } => {
                let current = self.current(place, file, *expected, &change.origin)?;
                self.plan_write(place, (file, content), current, change.origin.clone())
            }
            SkillAction::Remove { file, expected } => {
                if file.is_main() {
                    return Err(invalid(
                        "SKILL.md is the skill itself and cannot be removed; delete the skill \
                         instead",
                    ));
                }
                let current = self.current(place, file, *expected, &change.origin)?;
                self.plan_remove(place, file, current, change.origin.clone())
            }
            SkillAction::Delete { expected, absorbed_into } => {
                let main = SkillFile::main();
                self.check_delete(&survey, place, absorbed_into.as_ref(), &change.origin)?;
                let current = self.current(place, &main, *expected, &change.origin)?;
                Ok(self.plan_delete(place, absorbed_into.clone(), current, change.origin.clone()))
            }
            _ => Err(invalid("this store does not know that change")),
        }
    }

    pub(super) fn entry(&self, place: (SkillName, String), done: Done, origin: Origin) -> Entry {
        Entry::new(self.clock.now(), origin, place, done)
    }

    fn plan_create(
        &self,
        survey: &Survey,
        change: &SkillChange,
        category: Option<&Category>,
        content: &str,
    ) -> Result<Plan, SkillError> {
        let name = &change.skill;
        name.as_str().parse::<SkillName>().map_err(|err| invalid(err.to_string()))?;
        let path = match category {
            Some(category) => format!("{category}/{name}"),
            None => name.to_string(),
        };
        self.check_new(survey, name, category, &path)?;
        let content = content.trim_start_matches('\u{feff}');
        check_text(&SkillFile::main(), name.as_str(), content)?;
        let warnings = self.scan(content)?;
        let step = Step::Make { folder: self.root.join(&path), content: content.into() };
        let entry = self.entry((name.clone(), path), Done::Create, change.origin.clone());
        let plan = Plan::new(entry, step).with_bytes(None, Some(content.into()));
        Ok(Plan { warnings, ..plan })
    }

    /// Reads `file`, and checks that the writer has seen it as it is.
    fn current(
        &self,
        place: &Place,
        file: &SkillFile,
        expected: Expected,
        origin: &Origin,
    ) -> Result<Option<Stored>, SkillError> {
        let current = files::read(place, file)?;
        let version = current.as_ref().map(|it| it.version);
        if origin.is_automatic() && version.is_some() && expected == Expected::Any {
            return Err(SkillError::Unread { skill: place.name.clone(), file: file.clone() });
        }
        if expected.accepts(version) {
            return Ok(current);
        }
        let diff = match expected {
            Expected::Is(seen) => self.diff_since(seen, current.as_ref()),
            _ => None,
        };
        Err(SkillError::Conflict { current: version, diff })
    }

    pub(super) fn diff_since(&self, seen: Version, current: Option<&Stored>) -> Option<String> {
        let seen = String::from_utf8(self.ledger().blob(seen)?).ok()?;
        let current = current.map_or(Some(""), Stored::text)?;
        Some(hermes_core::version::diff(&seen, current))
    }

    fn plan_write(
        &self,
        place: &Place,
        (file, content): (&SkillFile, &str),
        current: Option<Stored>,
        origin: Origin,
    ) -> Result<Plan, SkillError> {
        let binary = || SkillError::Binary { skill: place.name.clone(), file: file.clone() };
        let before = match &current {
            Some(stored) => Some(stored.text().ok_or_else(binary)?),
            None => None,
        };
        let has_mark = before.is_some_and(|it| it.starts_with('\u{feff}'));
        let content = if file.is_main() && !has_mark {
            content.trim_start_matches('\u{feff}')
        } else {
            content
        };
        let mut warnings = check_change(place, file, before, content)?;
        warnings.extend(self.scan(content)?);
        let done = Done::Write { file: file.clone() };
        let entry = self.entry((place.name.clone(), place.path.clone()), done, origin);
        let step = if before == Some(content) {
            Step::Nothing
        } else {
            let path = files::locate(place, file)?;
            Step::Write { file: path, content: content.into(), mode: None }
        };
        let plan = Plan::new(entry, step)
            .with_bytes(current.map(|it| it.bytes), Some(content.as_bytes().to_vec()));
        Ok(Plan { warnings, ..plan })
    }

    fn plan_remove(
        &self,
        place: &Place,
        file: &SkillFile,
        current: Option<Stored>,
        origin: Origin,
    ) -> Result<Plan, SkillError> {
        let Some(stored) = current else {
            let main = std::iter::once(SkillFile::main());
            let files = main.chain(files::list(place)).collect();
            return Err(SkillError::NoFile {
                skill: place.name.clone(),
                file: file.clone(),
                files,
            });
        };
        let path = files::locate(place, file)?;
        let done = Done::Remove { file: file.clone() };
        let mut entry = self.entry((place.name.clone(), place.path.clone()), done, origin);
        entry.mode = files::mode(&path);
        Ok(Plan::new(entry, Step::Remove { file: path }).with_bytes(Some(stored.bytes), None))
    }

    fn plan_delete(
        &self,
        place: &Place,
        heir: Option<SkillName>,
        current: Option<Stored>,
        origin: Origin,
    ) -> Plan {
        let archived = origin.is_automatic();
        let to = self.place_for(&place.name, archived);
        let record = if archived { None } else { self.usage().raw(place.name.as_str()) };
        let step = Step::Move { from: place.folder.clone(), to: self.root.join(&to) };
        let done = Done::MoveOut { to, archived, heir, record };
        let entry = self.entry((place.name.clone(), place.path.clone()), done, origin);
        Plan::new(entry, step).with_bytes(current.map(|it| it.bytes), None)
    }

    /// Returns a free place for the folder of a skill that goes, relative to the root.
    pub(super) fn place_for(&self, name: &SkillName, archived: bool) -> String {
        let stamp = self.stamp();
        let is_free = |path: &String| std::fs::symlink_metadata(self.root.join(path)).is_err();
        let mut places = (0_u64..).map(|turn| match (archived, turn) {
            (true, 0) => format!(".archive/{name}"),
            (true, turn) => {
                let stamp = stamp.parse::<u64>().unwrap_or(0).saturating_add(turn - 1);
                format!(".archive/{name}-{stamp:014}")
            }
            (false, turn) => format!("{FOLDER}/deleted/{stamp}-{turn}-{name}"),
        });
        places.find(is_free).unwrap_or_default()
    }

    fn plan_pin(&self, place: &Place, pinned: bool, origin: Origin) -> Result<Plan, SkillError> {
        if origin.is_automatic() {
            return Err(off_limits("only the user pins and unpins skills"));
        }
        let record = self.usage().record(place.name.as_str()).map_err(backend)?;
        let is_pinned = record.is_some_and(|it| it.pinned);
        let step = if is_pinned == pinned { Step::Nothing } else { Step::Record };
        let bytes = files::read(place, &SkillFile::main())?.map(|it| it.bytes);
        let done = Done::Pin { pinned };
        let entry = self.entry((place.name.clone(), place.path.clone()), done, origin);
        Ok(Plan::new(entry, step).with_bytes(bytes.clone(), bytes))
    }

    /// Scans a text, and returns what the host should know of it.
    fn scan(&self, text: &str) -> Result<Vec<String>, SkillError> {
        let findings = self.scanner.scan(text, Scope::Strict);
        let findings = findings.map_err(|err| SkillError::ScanFailed(Box::new(err)))?;
        let (blocking, noted): (Vec<Finding>, Vec<Finding>) =
            findings.into_iter().partition(Finding::blocks);
        if blocking.is_empty() {
            Ok(noted.iter().map(ToString::to_string).collect())
        } else {
            Err(SkillError::Blocked { findings: blocking })
        }
    }
}

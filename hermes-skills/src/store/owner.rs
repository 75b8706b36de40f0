//! Whose a skill is: what automatic changes may touch.

use std::{fs, io};

use hermes_core::skill::{SkillError, SkillRecord};
use serde_json::Value;

use super::{
    backend,
    find::head,
    fs::Disk,
    layout::{Access, Place, Survey},
    off_limits,
};

/// Refuses changes of what lies outside the skills folder, whoever asks.
pub(super) fn check_writable(place: &Place) -> Result<(), SkillError> {
    match place.access {
        Access::Own => Ok(()),
        Access::Linked => Err(off_limits(format!(
            "skill {} is reached through a link and can only be read here; change it where it \
             lies",
            place.name
        ))),
        Access::External => {
            Err(off_limits(format!("skill {} is in a folder that can only be read", place.name)))
        }
    }
}

impl Disk {
    /// Refuses automatic changes of everything that the agent has not made, and of what is pinned.
    pub(super) fn check_owner(&self, survey: &Survey, place: &Place) -> Result<(), SkillError> {
        let name = &place.name;
        let known = names(place);
        if self.is_bundled(&known)? {
            return Err(off_limits(format!("skill {name} came with the program")));
        }
        if self.is_from_hub(place, &known)? {
            return Err(off_limits(format!("skill {name} was installed from a hub")));
        }
        let record = self.record_of(survey, place)?.unwrap_or_default();
        if record.pinned {
            return Err(off_limits(format!("skill {name} is pinned by the user")));
        }
        if !record.is_agent_made() {
            return Err(off_limits(format!("skill {name} was not made by the agent itself")));
        }
        Ok(())
    }

    /// Returns the record of the skill at `place`: that of its folder's name or, for skills that
    /// hermes-agent keeps under the name in their head, that of that name.
    ///
    /// A pin under either name counts.
    pub(super) fn record_of(
        &self,
        survey: &Survey,
        place: &Place,
    ) -> Result<Option<SkillRecord>, SkillError> {
        let usage = self.usage();
        let own = usage.record(place.name.as_str()).map_err(backend)?;
        let mut others = names(place).into_iter().skip(1);
        let Some(other) = others.next().filter(|name| survey.called(name).next().is_none()) else {
            return Ok(own);
        };
        let other = usage.record(&other).map_err(backend)?;
        let is_pinned = other.as_ref().is_some_and(|it| it.pinned);
        let mut record = own.or(other);
        if let Some(record) = &mut record {
            record.pinned |= is_pinned;
        }
        Ok(record)
    }

    /// Returns whether `.bundled_manifest`, lines of `name:hash`, has one of `names`.
    fn is_bundled(&self, names: &[String]) -> Result<bool, SkillError> {
        let manifest = self.side_file(".bundled_manifest")?.unwrap_or_default();
        let mut listed = manifest.lines().filter_map(|line| line.split(':').next());
        Ok(listed.any(|name| names.iter().any(|it| it == name.trim())))
    }

    /// Returns whether `.hub/lock.json` has the skill, by a name or by its folder.
    fn is_from_hub(&self, place: &Place, names: &[String]) -> Result<bool, SkillError> {
        let Some(lock) = self.side_file(".hub/lock.json")? else { return Ok(false) };
        let unreadable = || off_limits("the list of skills from hubs cannot be read".to_owned());
        let lock: Value = serde_json::from_str(&lock).map_err(|_| unreadable())?;
        let installed = lock.get("installed").and_then(Value::as_object).ok_or_else(unreadable)?;
        Ok(installed.iter().any(|(name, entry)| {
            let path = entry.get("install_path").and_then(Value::as_str);
            names.contains(name) || path.is_some_and(|it| it.trim_matches('/') == place.path)
        }))
    }

    fn side_file(&self, name: &str) -> Result<Option<String>, SkillError> {
        match fs::read_to_string(self.root.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(err) => Err(backend(err)),
        }
    }
}

/// Returns the names of the skill at `place`, that of its folder first.
fn names(place: &Place) -> Vec<String> {
    let mut names = vec![place.name.to_string()];
    let in_head = head(place).ok().and_then(|doc| doc.name);
    names.extend(in_head.filter(|name| *name != place.name.as_str()));
    names
}

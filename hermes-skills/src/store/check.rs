//! What a change must be like to be made.

use hermes_core::{
    origin::Origin,
    skill::{Category, SkillError, SkillFile, SkillName},
};

use super::{
    backend,
    find::head,
    fs::Disk,
    invalid,
    layout::{Place, Survey, is_excluded},
    off_limits,
};
use crate::frontmatter::{MAX_TEXT_CHARS, SkillDoc};

/// The most bytes of a text that is written: 1 MiB.
const MAX_BYTES: usize = 1 << 20;

impl Disk {
    /// Refuses a new skill where something is, where it could not be told apart, and where nobody
    /// would find it.
    pub(super) fn check_new(
        &self,
        survey: &Survey,
        name: &SkillName,
        category: Option<&Category>,
        path: &str,
    ) -> Result<(), SkillError> {
        if let Some(place) = survey.called(name.as_str()).next() {
            return Err(SkillError::Exists { path: place.path.clone() });
        }
        let is_called =
            |it: &&Place| head(it).is_ok_and(|doc| doc.name.as_deref() == Some(name.as_str()));
        if let Some(place) = survey.places.iter().find(is_called) {
            return Err(SkillError::Exists { path: place.path.clone() });
        }
        if survey.has_below(name.as_str()) {
            return Err(invalid(format!(
                "{name} is a category that holds skills; choose another name, or pass {name} as the \
                 category of a new skill"
            )));
        }
        if let Some(word) = path.split('/').find(|part| is_excluded(part)) {
            return Err(invalid(format!("skills in a folder called {word} are not found")));
        }
        if let Some(category) = category {
            self.check_category(survey, category)?;
        }
        let folder = self.root.join(path);
        let is_free = match std::fs::symlink_metadata(&folder) {
            Ok(it) if it.is_dir() => std::fs::read_dir(&folder).map_err(backend)?.next().is_none(),
            Ok(_) => false,
            Err(_) => true,
        };
        if is_free { Ok(()) } else { Err(SkillError::Exists { path: path.to_owned() }) }
    }

    fn check_category(&self, survey: &Survey, category: &Category) -> Result<(), SkillError> {
        let name = category.as_str();
        if survey.places.iter().any(|place| place.path == name) {
            return Err(invalid(format!(
                "{name} is a skill and cannot be a category; choose another category or none"
            )));
        }
        match std::fs::symlink_metadata(self.root.join(name)) {
            Ok(it) if !it.is_dir() => Err(SkillError::Escapes { place: name.to_owned() }),
            _ => Ok(()),
        }
    }

    pub(super) fn check_delete(
        &self,
        survey: &Survey,
        place: &Place,
        heir: Option<&SkillName>,
        origin: &Origin,
    ) -> Result<(), SkillError> {
        let name = &place.name;
        if self.record_of(survey, place).is_ok_and(|it| it.is_some_and(|it| it.pinned)) {
            return Err(off_limits(format!(
                "skill {name} is pinned and cannot be deleted; the user can unpin it"
            )));
        }
        match heir {
            None if origin.is_automatic() => {
                return Err(invalid(
                    "say in absorbed_into which other skill now holds the content; without one a \
                     skill is not deleted automatically",
                ));
            }
            Some(heir) if heir == name => {
                return Err(invalid("absorbed_into must name another skill than the deleted one"));
            }
            Some(heir) if survey.called(heir.as_str()).next().is_none() => {
                return Err(invalid(format!(
                    "absorbed_into names {heir}, which is no skill; name an existing one"
                )));
            }
            _ => {}
        }
        if survey.has_below(&place.path) {
            return Err(invalid(format!(
                "the folder of {name} holds other skills; delete or move those first"
            )));
        }
        let metadata = std::fs::symlink_metadata(&place.folder).map_err(backend)?;
        if metadata.is_dir() {
            Ok(())
        } else {
            Err(SkillError::Escapes { place: place.path.clone() })
        }
    }
}

/// Checks a text that replaces `before`; what is wrong only as it was before is a warning.
pub(super) fn check_change(
    place: &Place,
    file: &SkillFile,
    before: Option<&str>,
    content: &str,
) -> Result<Vec<String>, SkillError> {
    let folder = place.name.as_str();
    let old_name = before.filter(|_| file.is_main()).and_then(|it| SkillDoc::parse(it).name);
    let new_name = SkillDoc::parse(content).name;
    match old_name.filter(|old| old != folder && Some(old) == new_name.as_ref()) {
        Some(old) => {
            check_text(file, &old, content)?;
            Ok(vec![format!("{}: its head calls it {old:?}, its folder {folder:?}", place.path)])
        }
        None => check_text(file, folder, content).map(|()| Vec::new()),
    }
}

pub(super) fn check_text(file: &SkillFile, name: &str, content: &str) -> Result<(), SkillError> {
    if file.is_main() {
        SkillDoc::validate(content, name).map_err(|err| invalid(err.to_string()))?;
    }
    let (chars, bytes) = (content.chars().count(), content.len());
    if MAX_TEXT_CHARS < chars {
        return Err(invalid(format!(
            "{file} would have {chars} characters, at most {MAX_TEXT_CHARS} are allowed; split it \
             into several files"
        )));
    }
    if MAX_BYTES < bytes {
        return Err(invalid(format!(
            "{file} would have {bytes} bytes, at most {MAX_BYTES} are allowed; split it into several \
             files"
        )));
    }
    Ok(())
}

//! Reading: the list, and one file of the skill that a name means.

use hermes_core::{
    durable,
    skill::{SkillError, SkillFile, SkillList, SkillName, SkillSummary, SkillText, SkillWarning},
    version::Versioned,
};

use super::{
    files,
    fs::Disk,
    layout::{Place, Survey},
};
use crate::frontmatter::{DocWarning, SkillDoc};

/// The most bytes of the description of a category.
const MAX_ABOUT_BYTES: u64 = 1 << 20;
/// The most names that an error offers.
const MAX_NAMES: usize = 20;

impl Disk {
    pub(super) fn list(&self) -> Result<SkillList, SkillError> {
        let survey = self.survey()?;
        let mut list = SkillList::default();
        for place in &survey.places {
            match head(place) {
                Ok(doc) => {
                    list.warnings.extend(warnings(place, &doc));
                    list.skills.push(summary(place, &doc));
                }
                Err(reason) => list.warnings.push(SkillWarning::new(&place.path, reason)),
            }
        }
        list.skills.sort_by(|left, right| {
            (&left.category, &left.name).cmp(&(&right.category, &right.name))
        });
        for (category, file) in &survey.categories {
            let read = durable::read(file, MAX_ABOUT_BYTES).map(String::from_utf8);
            let Ok(Ok(text)) = read else { continue };
            let about = SkillDoc::parse(&text).description;
            if !about.is_empty() && !list.categories.iter().any(|(it, _)| it == category) {
                list.categories.push((category.clone(), about));
            }
        }
        list.categories.sort();
        list.warnings.extend(survey.warnings);
        Ok(list)
    }

    pub(super) fn read(&self, id: &str, file: &SkillFile) -> Result<SkillText, SkillError> {
        let survey = self.survey()?;
        let place = find(&survey, id)?;
        let others = || {
            let all = std::iter::once(SkillFile::main()).chain(files::list(place));
            all.filter(|it| it != file).collect()
        };
        let skill = place.name.clone();
        let Some(stored) = files::read(place, file)? else {
            return Err(SkillError::NoFile { skill, file: file.clone(), files: others() });
        };
        let version = stored.version;
        let text = String::from_utf8(stored.bytes)
            .map_err(|_| SkillError::Binary { skill: skill.clone(), file: file.clone() })?;
        let mut found = SkillText::new(skill, file.clone(), Versioned::new(text, version));
        found.category = place.category().map(str::to_owned);
        found.files = others();
        found.folder = Some(place.folder.clone());
        Ok(found)
    }
}

/// Returns the skill whose folder is called `name`.
pub(super) fn folder<'a>(survey: &'a Survey, name: &SkillName) -> Result<&'a Place, SkillError> {
    let places: Vec<&Place> = survey.called(name.as_str()).collect();
    one(&places, name.as_str()).unwrap_or_else(|| Err(not_found(survey, name.as_str())))
}

/// Returns the skill that `id` means: its path, its folder's name, or the name in its head.
///
/// A path is as the list has it, `category/name`; `:` does for `/`, and `./name` means the skill
/// directly below the root.
pub(super) fn find<'a>(survey: &'a Survey, id: &str) -> Result<&'a Place, SkillError> {
    let path = id.trim().trim_end_matches('/').replacen(':', "/", 1);
    let is_path = path.contains('/');
    let path = path.strip_prefix("./").unwrap_or(&path);
    if is_path {
        let exact = survey.places.iter().find(|place| place.path == path);
        return exact.ok_or_else(|| not_found(survey, id));
    }
    let by_folder: Vec<&Place> = survey.called(path).collect();
    if let Some(found) = one(&by_folder, id) {
        return found;
    }
    let is_called = |place: &&Place| {
        let doc = head(place);
        doc.is_ok_and(|doc| doc.name.as_deref() == Some(path))
    };
    let by_head: Vec<&Place> = survey.places.iter().filter(is_called).collect();
    one(&by_head, id).unwrap_or_else(|| Err(not_found(survey, id)))
}

fn one<'a>(places: &[&'a Place], id: &str) -> Option<Result<&'a Place, SkillError>> {
    match places {
        [] => None,
        [place] => Some(Ok(place)),
        several => {
            let path = |place: &&Place| match place.category() {
                Some(_) => place.path.clone(),
                None => format!("./{}", place.path),
            };
            let matches = several.iter().map(path).collect();
            Some(Err(SkillError::Ambiguous { id: id.to_owned(), matches }))
        }
    }
}

fn not_found(survey: &Survey, id: &str) -> SkillError {
    let mut names: Vec<String> = survey.places.iter().map(|it| it.name.to_string()).collect();
    names.dedup();
    let likeness = |name: &String| strsim::normalized_damerau_levenshtein(id, name);
    names.sort_by(|left, right| likeness(right).total_cmp(&likeness(left)));
    names.truncate(MAX_NAMES);
    SkillError::NotFound { id: id.to_owned(), names }
}

/// Reads the head of the skill at `place`, or says why that is not possible.
pub(super) fn head(place: &Place) -> Result<SkillDoc, String> {
    let stored = files::read(place, &SkillFile::main()).map_err(|err| chain(&err))?;
    let stored = stored.ok_or("its SKILL.md is gone")?;
    let text = stored.text().ok_or("its SKILL.md is not UTF-8 text")?;
    Ok(SkillDoc::parse(text))
}

fn chain(err: &SkillError) -> String {
    match std::error::Error::source(err) {
        Some(source) => format!("{err}: {source}"),
        None => err.to_string(),
    }
}

fn summary(place: &Place, doc: &SkillDoc) -> SkillSummary {
    let mut summary = SkillSummary::new(place.name.clone(), &doc.description);
    summary.category = place.category().map(str::to_owned);
    summary.platforms.clone_from(&doc.platforms);
    summary.tags.clone_from(&doc.tags);
    summary.conditions.clone_from(&doc.conditions);
    summary
}

fn warnings(place: &Place, doc: &SkillDoc) -> Vec<SkillWarning> {
    let said = doc.warnings.iter().filter(|it| !matches!(it, DocWarning::MissingName));
    let mut warnings: Vec<SkillWarning> =
        said.map(|it| SkillWarning::new(&place.path, it.to_string())).collect();
    if let Some(name) = doc.name.as_deref().filter(|name| *name != place.name.as_str()) {
        let reason = format!("its head calls it {name:?}; it is listed under its folder's name");
        warnings.push(SkillWarning::new(&place.path, reason));
    }
    warnings
}

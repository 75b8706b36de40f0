//! The three tools through which a model reads and writes skills.

mod list;
mod manage;
mod view;

mod args;
mod pending;
mod plan;
mod refusal;
mod request;

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    sync::{Arc, PoisonError, RwLock},
};

use hermes_core::{
    skill::{SkillError, SkillFile, SkillList, SkillName, SkillStore, SkillSummary, SkillWarning},
    threat::{DefaultScanner, Scanner, Scope},
};

pub(crate) use self::pending::SkillReplay;
pub use self::{list::SkillsList, manage::SkillManage, view::SkillView};
use crate::{frontmatter::SkillDoc, index::runs_on};

/// Names of skills that are not offered. A clone shares them, so that a host can keep one and change
/// it while the agent runs.
///
/// Names are those of folders or, where they differ, those in the heads. Hidden skills are in neither
/// the prompt's index nor the list, and cannot be viewed or changed through the tools.
///
/// # Examples
///
/// ```
/// use hermes_skills::HiddenSkills;
///
/// let hidden = HiddenSkills::new(["old-deploy"]);
/// let kept = hidden.clone();
///
/// kept.set(["release"]);
/// assert_eq!(hidden.names(), ["release"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct HiddenSkills(Arc<RwLock<BTreeSet<String>>>);

impl HiddenSkills {
    /// Hides the skills of these names.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self(Arc::new(RwLock::new(names)))
    }

    /// Hides the skills of these names instead of those hidden so far.
    pub fn set<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) {
        let names = names.into_iter().map(Into::into).collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = names;
    }

    /// Returns the names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// A store as the tools and the index show it: without what is hidden and what does not run here.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    pub(crate) store: Arc<dyn SkillStore>,
    hidden: HiddenSkills,
    scanner: Arc<dyn Scanner>,
}

/// The most characters of a folder's name that is shown.
const MAX_NAME: usize = 64;

impl Library {
    pub(crate) fn new(store: Arc<dyn SkillStore>, hidden: HiddenSkills) -> Self {
        Self { store, hidden, scanner: Arc::new(DefaultScanner) }
    }

    /// Sets what judges texts before they are shown.
    pub(crate) fn judging(mut self, scanner: Arc<dyn Scanner>) -> Self {
        self.scanner = scanner;
        self
    }

    /// Returns what blocks `text`, if anything does. A scanner that fails blocks.
    fn objection(&self, text: &str, scope: Scope) -> Option<String> {
        match self.scanner.first_block(text, scope) {
            Ok(finding) => finding.map(|it| it.to_string()),
            Err(err) => Some(err.to_string()),
        }
    }

    /// Leaves out what has a name that is not to be shown, with a warning each: names are read by the
    /// model as descriptions are, and folders come from anywhere.
    fn leave_out_by_name(&self, list: &mut SkillList) {
        let mut warned = BTreeSet::new();
        let SkillList { skills, categories, warnings, .. } = list;
        let mut is_shown = |name: &str| {
            let Some(reason) = self.unfit(name) else { return true };
            if warned.insert(name.to_owned()) {
                warnings.push(SkillWarning::new(name, format!("its name is not shown: {reason}")));
            }
            false
        };
        skills.retain(|skill| {
            let mut names = skill.category.iter().map(String::as_str).chain([skill.name.as_str()]);
            names.all(&mut is_shown)
        });
        categories.retain(|(category, _)| is_shown(category));
    }

    /// Returns why a name is not to be shown.
    fn unfit(&self, name: &str) -> Option<String> {
        if name.split('/').any(|part| MAX_NAME < part.chars().count()) {
            return Some(format!("it has more than {MAX_NAME} characters"));
        }
        if name.chars().any(char::is_control) {
            return Some("it has control characters".to_owned());
        }
        let words = name.replace(['-', '_', '/', '.'], " ");
        let objection = self.objection(name, Scope::Strict);
        objection.or_else(|| self.objection(&words, Scope::Strict))
    }

    /// Returns the skills that can be offered. A description that a scan blocks is left out, with a
    /// warning.
    pub(crate) async fn offered(&self) -> Result<SkillList, SkillError> {
        let mut list = self.store.list().await?;
        let hidden = self.hidden_folders(&list).await;
        list.skills.retain(|skill| !hidden.contains(skill.name.as_str()) && runs_here(skill));
        self.leave_out_by_name(&mut list);
        for skill in &mut list.skills {
            if let Some(finding) = self.objection(&skill.description, Scope::Strict) {
                skill.description.clear();
                let place = skill.category.iter().map(String::as_str).chain([skill.name.as_str()]);
                let place = place.collect::<Vec<_>>().join("/");
                let reason = format!("its description is not shown: {finding}");
                list.warnings.push(SkillWarning::new(place, reason));
            }
        }
        for (category, about) in &mut list.categories {
            if let Some(finding) = self.objection(about, Scope::Strict) {
                about.clear();
                let reason = format!("the description of the category is not shown: {finding}");
                list.warnings.push(SkillWarning::new(&**category, reason));
            }
        }
        Ok(list)
    }

    /// Returns whether the skill called `name` is hidden, by that name or by the one in its head.
    pub(crate) async fn is_hidden(&self, name: &SkillName) -> bool {
        let hidden = self.hidden.names();
        let is_listed = |name: &str| hidden.iter().any(|it| it == name);
        if hidden.is_empty() {
            return false;
        }
        if is_listed(name.as_str()) {
            return true;
        }
        let Ok(main) = self.store.read(name.as_str(), &SkillFile::main()).await else {
            return false;
        };
        SkillDoc::parse(&main.text.value).name.is_some_and(|name| is_listed(&name))
    }

    /// Returns the folders of the hidden skills, whichever of its names each is hidden by.
    async fn hidden_folders(&self, list: &SkillList) -> BTreeSet<String> {
        let mut folders = BTreeSet::new();
        for name in self.hidden.names() {
            let is_folder = list.skills.iter().any(|skill| skill.name.as_str() == name);
            if !is_folder && let Ok(found) = self.store.read(&name, &SkillFile::main()).await {
                folders.insert(found.skill.to_string());
            }
            folders.insert(name);
        }
        folders
    }
}

fn runs_here(skill: &SkillSummary) -> bool {
    runs_on(&skill.platforms, std::env::consts::OS)
}

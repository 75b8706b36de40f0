//! The sections of the prompt that are read from context files.

use std::path::Path;

use async_trait::async_trait;
use tokio::runtime::Handle;

use super::{
    ContextFiles,
    clean::{clean, without_head},
    find::{Candidate, Project},
    read::read,
};
use crate::{
    prompt::{PromptSource, Section, Slot},
    threat::Scanner,
};

/// Who the agent is, made by [`ContextFiles::soul_section`].
#[derive(Clone, Debug)]
pub struct SoulSection(pub(super) ContextFiles);

#[async_trait]
impl PromptSource for SoulSection {
    fn slot(&self) -> Slot {
        Slot::Identity
    }

    fn needs_tool(&self) -> Option<&str> {
        None
    }

    async fn render(&self, _: &[&str]) -> Section {
        let files = self.0.clone();
        aside(move || soul(&files)).await
    }
}

/// What the project asks of the agent, made by [`ContextFiles::project_section`].
#[derive(Clone, Debug)]
pub struct ProjectSection(pub(super) ContextFiles);

#[async_trait]
impl PromptSource for ProjectSection {
    fn slot(&self) -> Slot {
        Slot::Context
    }

    fn needs_tool(&self) -> Option<&str> {
        None
    }

    async fn render(&self, _: &[&str]) -> Section {
        let files = self.0.clone();
        aside(move || project(&files)).await
    }
}

const INTRO: &str = "# Project context\n\nThese files come with the project you work in. Follow what they say about it, as far as the user does not say otherwise.";

fn soul(files: &ContextFiles) -> Section {
    let mut section = Section::default();
    if let Some(path) = &files.soul {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let candidate = Candidate { path: path.clone(), name: name.into_owned(), has_head: false };
        let limit = files.max_chars;
        let text = taken(&candidate, (None, limit), &*files.scanner, &mut section.warnings);
        section.text = text.unwrap_or_default();
    }
    if section.text.is_empty() {
        section.text.clone_from(&files.identity);
    }
    section
}

fn project(files: &ContextFiles) -> Section {
    let mut section = Section::default();
    let project = match Project::of(&files.working) {
        Ok(project) => project,
        Err(err) => {
            let place = files.working.display();
            return section.with_warning(format!("no context files of {place} were read: {err}"));
        }
    };
    for group in project.groups() {
        let mut budget = files.max_chars;
        let mut texts = Vec::new();
        for candidate in &group {
            let bounds = (Some(project.root()), budget);
            if let Some(text) = taken(candidate, bounds, &*files.scanner, &mut section.warnings) {
                budget = budget.saturating_sub(text.chars().count());
                texts.push(format!("## {}\n\n{text}", candidate.name));
            }
        }
        if !texts.is_empty() {
            section.text = format!("{INTRO}\n\n{}", texts.join("\n\n"));
            return section;
        }
    }
    section
}

/// Returns what may be shown of a file within a root and a limit of characters, `None` if it is not
/// there, blank or left out; what the host should know goes to `warnings`.
pub(super) fn taken(
    candidate: &Candidate,
    (root, limit): (Option<&Path>, usize),
    scanner: &dyn Scanner,
    warnings: &mut Vec<String>,
) -> Option<String> {
    let name = &candidate.name;
    let left_out = |reason: String| format!("{name} was left out: {reason}");
    let read = read(&candidate.path, root).map_err(left_out);
    let text = read.map_err(|warning| warnings.push(warning)).ok()??;
    let text = if candidate.has_head { without_head(&text) } else { &text };
    if text.trim().is_empty() {
        return None;
    }
    let fit = match name_is_fit(name, scanner) {
        Ok(()) if limit == 0 => Err("the files before it fill the section".to_owned()),
        Ok(()) => clean(text, limit, scanner),
        Err(reason) => Err(reason),
    };
    match fit.map_err(left_out) {
        Ok(clean) => {
            warnings.extend(clean.remarks.iter().map(|remark| format!("{name}: {remark}")));
            Some(clean.text)
        }
        Err(warning) => {
            warnings.push(warning);
            None
        }
    }
}

/// Names reach the prompt as well, and whoever made the files chose them.
fn name_is_fit(name: &str, scanner: &dyn Scanner) -> Result<(), String> {
    match scanner.first_block(&name.replace(['/', '_', '-'], " "), crate::threat::Scope::Context) {
        Ok(None) => Ok(()),
        Ok(Some(finding)) => Err(format!("its name has {finding}")),
        Err(err) => Err(crate::agent::describe(&err)),
    }
}

/// Runs `work` where waiting for a disk holds nobody up, if there is a runtime.
pub(super) async fn aside(work: impl FnOnce() -> Section + Send + 'static) -> Section {
    let Ok(runtime) = Handle::try_current() else { return work() };
    let done = runtime.spawn_blocking(work).await;
    done.unwrap_or_else(|err| {
        Section::default().with_warning(format!("context files were not read: {err}"))
    })
}

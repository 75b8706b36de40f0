//! Changes of skills that wait for a person: what is kept of them, and how they are made.

use async_trait::async_trait;
use hermes_core::{
    change::{Change, ChangeAction, ChangeTarget},
    origin::Origin,
    pending::{Draft, HeldWrite, Replay, ReplayError, Subsystem},
    serde_json::Value,
    skill::{SkillAction, SkillChange, SkillCommit, SkillError, SkillFile, SkillUse},
    version::Expected,
};

use super::{
    Library,
    plan::{Basis, Planned, Unplanned},
    request::Request,
};
use crate::frontmatter::SkillDoc;

/// Returns what is kept of a change by `origin`: the call, and the version it goes by. `commit` is
/// what it would bring now, where the store can tell.
pub(super) fn draft(
    request: &Request,
    planned: &Planned,
    commit: Option<&SkillCommit>,
    origin: Origin,
) -> Draft {
    let base = match commit {
        Some(commit) => commit.before.map_or(Expected::Absent, Expected::Is),
        None => expected(&planned.action),
    };
    let payload = request.payload(&planned.skill);
    Draft::new(Subsystem::Skills, origin, payload).on(base).summarised(gist(planned, commit))
}

fn expected(action: &SkillAction) -> Expected {
    match action {
        SkillAction::Create { .. } => Expected::Absent,
        SkillAction::Write { expected, .. }
        | SkillAction::Remove { expected, .. }
        | SkillAction::Delete { expected, .. } => *expected,
        _ => Expected::Any,
    }
}

/// Returns a change in one line for a person.
fn gist(planned: &Planned, commit: Option<&SkillCommit>) -> String {
    let Planned { skill, file, action, kind, .. } = planned;
    match (action, kind) {
        (SkillAction::Create { content, .. }, _) => {
            const SHOWN: usize = 140;
            let about = SkillDoc::parse(content).description;
            let about: String = about.chars().take(SHOWN).collect();
            format!("create {skill}: {about} ({} characters)", content.chars().count())
        }
        (SkillAction::Delete { absorbed_into: Some(heir), .. }, _) => {
            format!("delete {skill}, absorbed into {heir}")
        }
        (SkillAction::Delete { .. }, _) => format!("delete {skill}"),
        (SkillAction::Remove { .. }, _) => format!("remove {file} of {skill}"),
        (_, ChangeAction::Create) => format!("add {file} to {skill}"),
        _ => {
            let lines = commit.map(|commit| format!(" ({})", size(&commit.diff)));
            format!("change {file} of {skill}{}", lines.unwrap_or_default())
        }
    }
}

/// Returns how many lines a diff adds and takes away.
fn size(diff: &str) -> String {
    let lines = |sign| diff.lines().filter(|line| line.starts_with(sign)).count();
    format!("+{} -{} lines", lines('+'), lines('-'))
}

/// Returns the change that `commit` is, or would be.
pub(super) fn change_between(commit: &SkillCommit, file: &SkillFile, kind: ChangeAction) -> Change {
    let kind = match kind {
        ChangeAction::Delete if commit.archived => ChangeAction::Archive,
        kind => kind,
    };
    let (name, file) = (commit.skill.to_string(), file.to_string());
    Change::applied(ChangeTarget::Skill { name, file }, kind).with_versions(
        commit.before,
        commit.after,
        commit.diff.clone(),
    )
}

/// Makes held changes of skills.
#[derive(Debug)]
pub(crate) struct SkillReplay {
    library: Library,
}

impl SkillReplay {
    pub(crate) fn new(library: Library) -> Self {
        Self { library }
    }

    async fn plan(
        &self,
        write: &HeldWrite,
        base: Expected,
    ) -> Result<(Planned, SkillChange), ReplayError> {
        let payload = Value::Object(write.draft.payload.clone());
        let request = Request::parse(&payload).map_err(|it| refused(it.into()))?;
        let planned = self.library.plan(&request, Basis::Fixed(base)).await.map_err(refused)?;
        let change = planned.change(write.draft.origin.clone());
        Ok((planned, change))
    }
}

#[async_trait]
impl Replay for SkillReplay {
    fn subsystem(&self) -> Subsystem {
        Subsystem::Skills
    }

    async fn preview(&self, write: &HeldWrite, base: Expected) -> Result<Change, ReplayError> {
        let (planned, change) = self.plan(write, base).await?;
        let commit = self.library.store.preview(&change).await;
        if let Some(commit) = commit.map_err(|err| refused(err.into()))? {
            return Ok(change_between(&commit, &planned.file, planned.kind));
        }
        let current = self.library.store.read(planned.skill.as_str(), &planned.file).await.ok();
        let current = current.map(|it| it.text.version);
        if !expected(&planned.action).accepts(current) {
            return Err(ReplayError::Moved { current, diff: None });
        }
        let commit = SkillCommit::new(planned.skill.clone(), "");
        let change = change_between(&commit, &planned.file, planned.kind);
        Ok(change.with_versions(current, None, ""))
    }

    async fn apply(&self, write: &HeldWrite, base: Expected) -> Result<Change, ReplayError> {
        let (planned, change) = self.plan(write, base).await?;
        let commit = self.library.store.commit(change).await;
        let commit = commit.map_err(|err| refused(err.into()))?;
        if planned.is_counted(&commit) {
            // The change is made; that it is not counted harms nobody.
            let _ = self.library.store.note(&commit.skill, SkillUse::Changed).await;
        }
        Ok(change_between(&commit, &planned.file, planned.kind))
    }
}

fn refused(err: Unplanned) -> ReplayError {
    match err {
        Unplanned::Store(SkillError::Conflict { current, diff }) => {
            ReplayError::Moved { current, diff }
        }
        Unplanned::Store(err) => ReplayError::Refused(err.into()),
        Unplanned::Call(refusal) => ReplayError::Refused(refusal.error().into()),
    }
}

#[cfg(test)]
mod tests;

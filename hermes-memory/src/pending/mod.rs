//! Changes of memory that wait for a person: what is kept of them, and how they are made.

use std::sync::Arc;

use async_trait::async_trait;
use hermes_core::{
    change::{Change, ChangeAction, ChangeTarget},
    memory::{MemoryBackend, MemoryChange, MemoryCommit, MemoryEdit, MemoryError, Target},
    pending::{Draft, HeldWrite, Replay, ReplayError, Subsystem},
    serde_json::{Map, Value, json},
    version::{Expected, Version},
};

use crate::{
    extension::Targets,
    file::summary,
    tool::{
        args::{self, Form},
        change_between,
    },
};

/// A change that is to wait.
#[derive(Debug)]
pub(crate) struct Wish<'a> {
    pub(crate) form: Form,
    pub(crate) change: MemoryChange,
    /// What it would bring now, where the backend can tell.
    pub(crate) commit: Option<&'a MemoryCommit>,
}

/// Returns what is kept of `wish`. The payload is what hermes-agent keeps: the arguments of the call,
/// null where one is not given, and `batch` for several edits.
pub(crate) fn draft(wish: Wish<'_>) -> Draft {
    let Wish { form, change, commit } = wish;
    let MemoryChange { target, edits, expected, origin, .. } = change;
    let payload = match (form, edits.as_slice()) {
        (Form::Single, [edit]) => {
            let (action, content, old_text) = parts(edit);
            json!({
                "action": action, "target": target.as_str(), "content": content,
                "old_text": old_text,
            })
        }
        (_, edits) => {
            json!({"action": "batch", "target": target.as_str(), "operations": edits})
        }
    };
    let payload = match payload {
        Value::Object(payload) => payload,
        _ => Map::new(),
    };
    let base = commit.map_or(expected, |commit| Expected::Is(commit.before.version));
    let line = format!("{}: {}", target.label(), summary(&edits));
    Draft::new(Subsystem::Memory, origin, payload).on(base).summarised(line)
}

fn parts(edit: &MemoryEdit) -> (&'static str, Option<&str>, Option<&str>) {
    match edit {
        MemoryEdit::Add { content } => ("add", Some(content), None),
        MemoryEdit::Replace { old_text, content } => ("replace", Some(content), Some(old_text)),
        MemoryEdit::Remove { old_text } => ("remove", None, Some(old_text)),
        _ => ("", None, None),
    }
}

/// Makes held changes of memory.
#[derive(Debug)]
pub(crate) struct MemoryReplay {
    backend: Arc<dyn MemoryBackend>,
}

impl MemoryReplay {
    pub(crate) fn new(backend: Arc<dyn MemoryBackend>) -> Self {
        Self { backend }
    }

    /// Reads what `write` asks for.
    ///
    /// What only adds overwrites nothing, so it goes by no version, and several such writes can be
    /// made one after the other.
    async fn change(&self, write: &HeldWrite, base: Expected) -> Result<MemoryChange, ReplayError> {
        let payload = Value::Object(write.draft.payload.clone());
        let request = args::read(&payload, Targets::default())
            .map_err(|mistake| ReplayError::Refused(mistake.message.into()))?;
        let only_adds = request.edits.iter().all(|it| matches!(it, MemoryEdit::Add { .. }));
        let expected = match base {
            _ if only_adds => Expected::Any,
            Expected::Any => Expected::Is(self.current(request.target).await?),
            base => base,
        };
        let origin = write.draft.origin.clone();
        Ok(MemoryChange::new(request.target, request.edits, origin).expecting(expected))
    }

    async fn current(&self, target: Target) -> Result<Version, ReplayError> {
        Ok(self.backend.read(target).await.map_err(refused)?.version)
    }
}

#[async_trait]
impl Replay for MemoryReplay {
    fn subsystem(&self) -> Subsystem {
        Subsystem::Memory
    }

    async fn preview(&self, write: &HeldWrite, base: Expected) -> Result<Change, ReplayError> {
        let change = self.change(write, base).await?;
        let target = change.target;
        if let Some(commit) = self.backend.preview(&change).await.map_err(refused)? {
            return Ok(change_between(&commit, target));
        }
        let current = self.current(target).await?;
        if !change.expected.accepts(Some(current)) {
            return Err(ReplayError::Moved { current: Some(current), diff: None });
        }
        let change = Change::applied(ChangeTarget::Memory(target), ChangeAction::Update);
        Ok(change.with_versions(Some(current), None, ""))
    }

    async fn apply(&self, write: &HeldWrite, base: Expected) -> Result<Change, ReplayError> {
        let change = self.change(write, base).await?;
        let target = change.target;
        let commit = self.backend.commit(change).await.map_err(refused)?;
        Ok(change_between(&commit, target))
    }
}

fn refused(err: MemoryError) -> ReplayError {
    match err {
        MemoryError::Conflict { current, .. } => {
            ReplayError::Moved { current: Some(current), diff: None }
        }
        err => ReplayError::Refused(err.into()),
    }
}

#[cfg(test)]
mod tests;

//! `skill_manage`: makes, changes and removes skills.

use std::sync::Arc;

use async_trait::async_trait;
use hermes_core::{
    change::{Change, ChangeAction, ChangeTarget},
    review::{Proposal, Verdict},
    serde_json::{Map, Value, json},
    skill::{
        SkillAction, SkillChange, SkillCommit, SkillError, SkillFile, SkillName, SkillStore,
        SkillText, SkillUse, seen_key,
    },
    tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec},
    version::{Expected, Version},
};

use super::{
    HiddenSkills, Library,
    refusal::{Refusal, blocked, unread},
    request::{ACTIONS, Request, Wish},
};
use crate::patch::{self, PatchOptions, Patched};

/// The tool `skill_manage`.
///
/// # Which version a change goes by
///
/// The one that the conversation was last shown, by `skill_view` or by its own change. Where that is
/// not the current one, nothing is written and the model is told to look again. Where the
/// conversation was never shown the file, an automatic origin is refused; a user's is taken at its
/// word, and the change goes by the version that is there now: what is replaced stays in the
/// history, and a change by somebody else in between is still noticed. Deletes go by the current
/// version for everybody, because an automatic one only archives.
#[derive(Clone, Debug)]
pub struct SkillManage {
    library: Library,
}

/// What came of a change, before it is told.
struct Made {
    commit: SkillCommit,
    file: SkillFile,
    action: ChangeAction,
    message: String,
    extra: Map<String, Value>,
}

impl SkillManage {
    /// Creates the tool on `store`.
    pub fn new(store: Arc<dyn SkillStore>, hidden: HiddenSkills) -> Self {
        Self { library: Library::new(store, hidden) }
    }

    async fn run(&self, arguments: &Value, context: &ToolContext) -> Result<ToolOutput, Refusal> {
        let Request { name, wish } = Request::parse(arguments)?;
        let made = match wish {
            Wish::Create { category, content } => {
                self.create(&name, SkillAction::Create { category, content }, context).await?
            }
            Wish::Edit { content } => {
                self.write(&name, (SkillFile::main(), content), context).await?
            }
            Wish::Patch { file, old, new, all } => {
                self.patch(&name, file, (&old, &new, all), context).await?
            }
            Wish::WriteFile { file, content } => {
                self.write(&name, (file, content), context).await?
            }
            Wish::RemoveFile { file } => self.remove(&name, file, context).await?,
            Wish::Delete { heir } => self.delete(&name, heir.as_deref(), context).await?,
        };
        Ok(self.tell(made, context).await)
    }

    async fn create(
        &self,
        name: &str,
        action: SkillAction,
        context: &ToolContext,
    ) -> Result<Made, Refusal> {
        let skill: SkillName = name.parse().map_err(|err: hermes_core::skill::InvalidName| {
            Refusal::rejected(format!("The name {err}."))
        })?;
        let category = match &action {
            SkillAction::Create { category: Some(category), .. } => Some(category.to_string()),
            _ => None,
        };
        let commit = self.commit(skill, action, context).await?;
        let mut extra = Map::new();
        if let Some(category) = category {
            extra.insert("category".to_owned(), category.into());
        }
        let main = format!("{}/SKILL.md", commit.path);
        extra.insert("skill_md".to_owned(), main.into());
        let hint = format!(
            "To add a reference, template or script, call skill_manage(action='write_file', \
             name='{name}', file_path='references/example.md', file_content='...')."
        );
        extra.insert("hint".to_owned(), hint.into());
        Ok(Made {
            commit,
            file: SkillFile::main(),
            action: ChangeAction::Create,
            message: format!("Skill '{name}' created."),
            extra,
        })
    }

    /// Writes a whole file; the main one by the rules of `edit`.
    async fn write(
        &self,
        name: &str,
        (file, text): (SkillFile, String),
        context: &ToolContext,
    ) -> Result<Made, Refusal> {
        let (skill, before) = match self.read(name, &file).await {
            Ok(found) => (found.skill, Some(found.text)),
            Err(SkillError::NoFile { skill, .. }) => (skill, None),
            Err(err) => return Err(err.into()),
        };
        self.check_shown(&skill).await?;
        let (expected, text) = match &before {
            Some(old) => {
                let expected = expected(&skill, &file, old.version, context)?;
                (expected, in_line_ends_of(&old.value, text))
            }
            None => (Expected::Absent, text),
        };
        let action = SkillAction::Write { file: file.clone(), content: text, expected };
        let commit = self.commit(skill.clone(), action, context).await?;
        let message = if file.is_main() {
            format!("Skill '{skill}' updated (full rewrite).")
        } else {
            format!("File '{file}' written to skill '{skill}'.")
        };
        let action = match before {
            Some(_) => ChangeAction::Update,
            None => ChangeAction::Create,
        };
        Ok(Made { commit, file, action, message, extra: Map::new() })
    }

    async fn patch(
        &self,
        name: &str,
        file: SkillFile,
        (old, new, all): (&str, &str, bool),
        context: &ToolContext,
    ) -> Result<Made, Refusal> {
        let found = self.read(name, &file).await?;
        let skill = found.skill.clone();
        self.check_shown(&skill).await?;
        let expected = expected(&skill, &file, found.text.version, context)?;
        let options = PatchOptions::default().replace_all(all);
        let patched = patch::replace(&found.text.value, old, new, &options)
            .map_err(|err| not_patched(&err, &found))?;
        let text = patched.text.clone();
        let action = SkillAction::Write { file: file.clone(), content: text, expected };
        let commit = self.commit(skill.clone(), action, context).await?;
        let extra = patch_notes(&patched);
        let count = patched.replacements;
        let plural = if count == 1 { "" } else { "s" };
        let message = format!("Patched {file} in skill '{skill}' ({count} replacement{plural}).");
        Ok(Made { commit, file, action: ChangeAction::Update, message, extra })
    }

    async fn remove(
        &self,
        name: &str,
        file: SkillFile,
        context: &ToolContext,
    ) -> Result<Made, Refusal> {
        let (skill, expected) = match self.read(name, &file).await {
            Ok(found) => {
                let expected = expected(&found.skill, &file, found.text.version, context)?;
                (found.skill, expected)
            }
            // Nobody can have been shown it; the store refuses whoever must have been.
            Err(SkillError::Binary { skill, .. }) => (skill, Expected::Any),
            Err(err) => return Err(err.into()),
        };
        self.check_shown(&skill).await?;
        let action = SkillAction::Remove { file: file.clone(), expected };
        let commit = self.commit(skill.clone(), action, context).await?;
        let message = format!("File '{file}' removed from skill '{skill}'.");
        Ok(Made { commit, file, action: ChangeAction::Delete, message, extra: Map::new() })
    }

    async fn delete(
        &self,
        name: &str,
        heir: Option<&str>,
        context: &ToolContext,
    ) -> Result<Made, Refusal> {
        let file = SkillFile::main();
        let found = self.read(name, &file).await?;
        let skill = found.skill.clone();
        self.check_shown(&skill).await?;
        let absorbed_into = match heir {
            Some(heir) => Some(self.read(heir, &file).await?.skill),
            None => None,
        };
        let seen = context.seen().version(&found.seen_key());
        let expected = Expected::Is(seen.unwrap_or(found.text.version));
        let action = SkillAction::Delete { expected, absorbed_into: absorbed_into.clone() };
        let commit = self.commit(skill.clone(), action, context).await?;
        let mut extra = Map::new();
        let (action, verb) = if commit.archived {
            extra.insert("_archived".to_owned(), true.into());
            (ChangeAction::Archive, "archived")
        } else {
            (ChangeAction::Delete, "deleted")
        };
        let heir = absorbed_into.map(|it| format!(" ({it} holds its content)")).unwrap_or_default();
        let message = format!("Skill '{skill}' {verb}{heir}.");
        Ok(Made { commit, file, action, message, extra })
    }

    async fn read(&self, name: &str, file: &SkillFile) -> Result<SkillText, SkillError> {
        self.library.store.read(name, file).await
    }

    /// Refuses what the user has hidden.
    async fn check_shown(&self, skill: &SkillName) -> Result<(), Refusal> {
        if self.library.is_hidden(skill).await {
            let error = format!("Skill '{skill}' is disabled. Only the user can enable it.");
            return Err(Refusal::rejected(error));
        }
        Ok(())
    }

    /// Asks whether the change may be made, and makes it.
    async fn commit(
        &self,
        skill: SkillName,
        action: SkillAction,
        context: &ToolContext,
    ) -> Result<SkillCommit, Refusal> {
        let proposal = Proposal::Skill { name: skill.to_string(), action: action.clone() };
        match context.judge(proposal) {
            Verdict::Apply => {}
            Verdict::Reject(reason) => return Err(Refusal::rejected(reason)),
            _ => return Err(Refusal::rejected("the change was not allowed")),
        }
        let text = match &action {
            SkillAction::Create { content, .. } | SkillAction::Write { content, .. } => {
                content.clone()
            }
            _ => String::new(),
        };
        let change = SkillChange::new(skill, action, context.origin().clone());
        self.library.store.commit(change).await.map_err(|err| match err {
            SkillError::Blocked { findings } => blocked(&findings, &text, context),
            other => other.into(),
        })
    }

    /// Notes what was changed, and tells the model and the host.
    async fn tell(&self, made: Made, context: &ToolContext) -> ToolOutput {
        let Made { commit, file, action, message, mut extra } = made;
        for warning in &commit.warnings {
            context.report_progress(format!("skill {}: {warning}", commit.skill));
        }
        self.note(&commit, &file, action, context).await;
        let is_changed = commit.revision.is_some();
        let message = if is_changed {
            message
        } else {
            format!("Nothing was changed: {file} of '{}' already reads so.", commit.skill)
        };
        extra.insert("success".to_owned(), true.into());
        extra.insert("message".to_owned(), message.into());
        extra.insert("path".to_owned(), commit.path.clone().into());
        let output = ToolOutput::done(Value::Object(extra).to_string());
        if !is_changed {
            return output;
        }
        let (name, file) = (commit.skill.to_string(), file.to_string());
        let change = Change::applied(ChangeTarget::Skill { name, file }, action);
        output.with_change(change.with_versions(commit.before, commit.after, commit.diff))
    }

    async fn note(
        &self,
        commit: &SkillCommit,
        file: &SkillFile,
        action: ChangeAction,
        context: &ToolContext,
    ) {
        let key = seen_key(&commit.skill, file);
        match commit.after {
            Some(version) => context.seen().note(key, version),
            None => context.seen().forget(&key),
        }
        let is_gone = commit.after.is_none() && file.is_main();
        let is_new = action == ChangeAction::Create && file.is_main();
        if commit.revision.is_none() || is_gone || is_new {
            return;
        }
        if let Err(err) = self.library.store.note(&commit.skill, SkillUse::Changed).await {
            context
                .report_progress(format!("the change of {} was not counted: {err}", commit.skill));
        }
    }
}

#[async_trait]
impl Tool for SkillManage {
    fn spec(&self) -> ToolSpec {
        let text = |about: &str| json!({ "type": ["string", "null"], "description": about });
        let name = "The skill's name: lower-case letters, digits, '-', '_' and '.', at most 64.";
        ToolSpec::new("skill_manage", include_str!("../prompts/skill_manage.md").trim())
            .with_parameters(json!({
                "type": "object",
                "properties": {
                    "action": {
                        "type": "string", "enum": ACTIONS, "description": "What to do.",
                    },
                    "name": { "type": "string", "description": name },
                    "content": text("create, edit: the whole SKILL.md, frontmatter and body."),
                    "category": text("create: the folder to group it under; left out for none."),
                    "file_path": text(
                        "write_file, remove_file, patch: a file below references/, templates/, \
                         scripts/ or assets/. patch changes SKILL.md if it is left out."
                    ),
                    "file_content": text("write_file: the whole text of the file."),
                    "old_string": text(
                        "patch: the passage to change, quoted with enough around it to be the only one."
                    ),
                    "new_string": text("patch: what to put in its place; \"\" takes it out."),
                    "replace_all": {
                        "type": ["boolean", "null"],
                        "description": "patch: change every occurrence instead of the only one.",
                    },
                    "absorbed_into": text(
                        "delete: the skill that now holds what was worth keeping, if one does."
                    ),
                },
                "required": ["action", "name"],
            }))
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.run(&arguments, context).await.or_else(Refusal::into_output)
    }
}

/// Returns the version that a change of `file`, now at `current`, goes by.
fn expected(
    skill: &SkillName,
    file: &SkillFile,
    current: Version,
    context: &ToolContext,
) -> Result<Expected, Refusal> {
    match context.seen().version(&seen_key(skill, file)) {
        Some(version) => Ok(Expected::Is(version)),
        None if context.origin().is_automatic() => Err(unread(skill.as_str(), file)),
        None => Ok(Expected::Is(current)),
    }
}

/// Returns `content` with the line ends of `before`, if that has carriage returns and it has none.
fn in_line_ends_of(before: &str, content: String) -> String {
    let (carried, all) = (before.matches("\r\n").count(), before.matches('\n').count());
    if all < carried.saturating_mul(2) && !content.contains('\r') {
        return content.replace('\n', "\r\n");
    }
    content
}

fn not_patched(err: &patch::PatchError, found: &SkillText) -> Refusal {
    let file =
        if found.file.is_main() { String::new() } else { format!(", file_path='{}'", found.file) };
    Refusal::rejected(format!("Nothing was changed: {err}")).with(
        "hint",
        format!(
            "Read the text with skill_view(name='{}'{file}) and quote the passage from it. Do not \
             rewrite the whole file instead.",
            found.skill
        ),
    )
}

fn patch_notes(patched: &Patched) -> Map<String, Value> {
    let mut notes = Map::new();
    if let Some(note) = patched.note() {
        notes.insert("note".to_owned(), note.into());
    }
    notes
}

//! `skill_manage`: makes, changes and removes skills.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use hermes_core::{
    change::Change,
    pending::{PendingStore, no_place, no_place_warning, staged},
    review::{Proposal, Verdict},
    serde_json::{Value, json},
    skill::{SkillAction, SkillCommit, SkillError, SkillStore, SkillUse, seen_key},
    tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec},
};

use super::{
    HiddenSkills, Library, pending,
    plan::{Basis, Planned},
    refusal::{Refusal, blocked},
    request::{ACTIONS, Request},
};

/// The name under which the model calls the tool.
const NAME: &str = "skill_manage";
/// How long a cancelled turn waits for a change that has begun: longer than a store waits for a lock.
const CANCEL_GRACE: Duration = Duration::from_secs(15);
/// The reason if a policy has a verdict that this crate does not know.
const NOT_ALLOWED: &str = "the change was not allowed";
/// What a host calls so that held changes have a place.
const SETTING: &str = "`hermes_skills::Skills::pending`";

/// The tool with which a model makes, changes and removes skills: `skill_manage`.
///
/// # What it is called with
///
/// A JSON object with `action`, the skill's `name`, and what the action needs:
///
/// | `action` | with |
/// |---|---|
/// | `create` | `content`, the whole `SKILL.md`; `category`, one folder to group it under |
/// | `edit` | `content`, the whole new `SKILL.md` |
/// | `patch` | `old_string` and `new_string`; `replace_all`; `file_path`, `SKILL.md` if left out |
/// | `write_file` | `file_path` below `references/`, `templates/`, `scripts/` or `assets/`; `file_content` |
/// | `remove_file` | `file_path` |
/// | `delete` | `absorbed_into`, the skill that now holds the content; required of automatic origins |
///
/// It answers with a JSON object that has hermes-agent's keys (`success`, `message` or `error`,
/// `path`, …); a change that was made is a [`Change`] of the call, too.
///
/// # Examples
///
/// Scripted, as in the test of an agent:
///
/// ```
/// use hermes_core::{Agent, serde_json::json, testing::ScriptedProvider};
/// use hermes_skills::{FsSkills, Skills, frontmatter::NewSkill};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let home = tempfile::tempdir()?;
/// let skill = NewSkill::new("deploy", "Deploys the shop.").render("Push, then apply.\n");
/// let patch = json!({
///     "action": "patch", "name": "deploy", "old_string": "apply", "new_string": "apply twice",
/// });
/// let model = ScriptedProvider::new()
///     .call("skill_manage", json!({"action": "create", "name": "deploy", "content": skill}))
///     .call("skill_manage", patch)
///     .say("Kept.");
/// let skills = Skills::new(FsSkills::new(home.path()));
/// let agent = Agent::builder(model).model("scripted").skills(skills).build()?;
///
/// let turn = agent.session().send("Keep how we deploy.").await?;
///
/// let lines = turn.changes.iter().map(|it| it.line()).collect::<Vec<_>>();
/// assert_eq!(lines, ["Skill deploy: created SKILL.md", "Skill deploy: updated SKILL.md"]);
/// # Ok(())
/// # }
/// ```
///
/// # Which version a change goes by
///
/// The one that the conversation was last shown, by `skill_view` or by its own change. Where that is
/// not the current one, nothing is written and the model is told to look again. Where the
/// conversation was never shown the file, an automatic origin is refused; a user's is taken at its
/// word, and the change goes by the version that is there now: what is replaced stays in the
/// history, and a change by somebody else in between is still noticed. Deletes go by the current
/// version for everybody, because an automatic one only archives.
///
/// # What waits for a person
///
/// A change that the policy [holds](Verdict::Hold) is checked as if it was to be made. One that the user
/// asked for is put to the agent's approver, if there is one; any other, and one about which the approver
/// says so, waits where [`Skills::pending`](crate::Skills::pending) has it; the answer says so, and the call carries a
/// held [`Change`](hermes_core::change::Change). Where there is no such place it is rejected.
#[derive(Clone, Debug)]
pub struct SkillManage {
    library: Library,
    pending: Option<Arc<dyn PendingStore>>,
}

impl SkillManage {
    /// Creates the tool on `store`, with nowhere for changes to wait.
    pub fn new(store: Arc<dyn SkillStore>, hidden: HiddenSkills) -> Self {
        Self::of(Library::new(store, hidden), None)
    }

    pub(crate) fn of(library: Library, pending: Option<Arc<dyn PendingStore>>) -> Self {
        Self { library, pending }
    }

    async fn run(&self, arguments: &Value, context: &ToolContext) -> Result<ToolOutput, Refusal> {
        let request = Request::parse(arguments)?;
        let planned = self.library.plan(&request, Basis::Shown(context)).await?;
        let (name, action) = (planned.skill.to_string(), planned.action.clone());
        match context.judge(Proposal::Skill { name, action }) {
            Verdict::Apply => self.make(planned, context).await,
            Verdict::Hold => self.hold(&request, arguments, planned, context).await,
            Verdict::Reject(reason) => Err(Refusal::rejected(reason)),
            _ => Err(Refusal::rejected(NOT_ALLOWED)),
        }
    }

    async fn make(&self, planned: Planned, context: &ToolContext) -> Result<ToolOutput, Refusal> {
        let change = planned.change(context.origin().clone());
        let commit = self.library.store.commit(change).await;
        let commit = commit.map_err(|err| not_made(err, &planned, context))?;
        for warning in &commit.warnings {
            context.warn(format!("skill {}: {warning}", commit.skill));
        }
        self.note(&planned, &commit, context).await;
        Ok(tell(&planned, &commit))
    }

    /// Puts a change to a person, if it could be made: asks one who is there, or keeps it for later.
    async fn hold(
        &self,
        request: &Request,
        arguments: &Value,
        planned: Planned,
        context: &ToolContext,
    ) -> Result<ToolOutput, Refusal> {
        let commit = self.library.store.preview(&planned.change(context.origin().clone())).await;
        let commit = commit.map_err(|err| not_made(err, &planned, context))?;
        if let Some(commit) = commit.as_ref().filter(|it| it.before == it.after) {
            return Ok(tell(&planned, commit));
        }
        let shown = proposed(&planned, commit.as_ref());
        match context.ask(NAME, arguments, shown).await {
            Verdict::Apply => self.make(planned, context).await,
            Verdict::Hold => self.keep(request, &planned, commit, context).await,
            Verdict::Reject(reason) => Err(Refusal::rejected(reason)),
            _ => Err(Refusal::rejected(NOT_ALLOWED)),
        }
    }

    /// Keeps a change for a person.
    async fn keep(
        &self,
        request: &Request,
        planned: &Planned,
        commit: Option<SkillCommit>,
        context: &ToolContext,
    ) -> Result<ToolOutput, Refusal> {
        let Some(store) = &self.pending else {
            let reason = no_place(SETTING);
            context.warn(no_place_warning("A change of a skill", SETTING));
            return Err(Refusal::rejected(reason));
        };
        let origin = context.origin().clone();
        let draft = pending::draft(request, planned, commit.as_ref(), origin);
        let held = store.hold(draft).await.map_err(Refusal::of_pending)?;
        let change = proposed(planned, commit.as_ref());
        let output = ToolOutput::done(Value::Object(staged(&held)).to_string());
        Ok(output.with_change(change.held(held.id.as_str())))
    }

    /// Notes what was changed.
    async fn note(&self, planned: &Planned, commit: &SkillCommit, context: &ToolContext) {
        let key = seen_key(&commit.skill, &planned.file);
        match commit.after {
            Some(version) => context.seen().note(key, version),
            None => context.seen().forget(&key),
        }
        if !planned.is_counted(commit) {
            return;
        }
        if let Err(err) = self.library.store.note(&commit.skill, SkillUse::Changed).await {
            context
                .report_progress(format!("the change of {} was not counted: {err}", commit.skill));
        }
    }
}

/// Returns the change that would be made, as far as the store could tell.
fn proposed(planned: &Planned, commit: Option<&SkillCommit>) -> Change {
    let unknown = SkillCommit::new(planned.skill.clone(), "");
    pending::change_between(commit.unwrap_or(&unknown), &planned.file, planned.kind)
}

/// Tells the model and the host what was changed.
fn tell(planned: &Planned, commit: &SkillCommit) -> ToolOutput {
    let Planned { skill, file, action, .. } = planned;
    let (mut message, mut extra) = (planned.message.clone(), planned.extra.clone());
    let is_changed = commit.revision.is_some();
    match action {
        _ if !is_changed => {
            message = format!("Nothing was changed: {file} of '{skill}' already reads so.");
        }
        SkillAction::Create { category, .. } => {
            if let Some(category) = category {
                extra.insert("category".to_owned(), category.to_string().into());
            }
            extra.insert("skill_md".to_owned(), format!("{}/SKILL.md", commit.path).into());
            let hint = format!(
                "To add a reference, template or script, call skill_manage(action='write_file', \
                 name='{skill}', file_path='references/example.md', file_content='...')."
            );
            extra.insert("hint".to_owned(), hint.into());
        }
        SkillAction::Delete { absorbed_into, .. } => {
            let verb = if commit.archived { "archived" } else { "deleted" };
            if commit.archived {
                extra.insert("_archived".to_owned(), true.into());
            }
            let heir = absorbed_into.as_ref().map(|it| format!(" ({it} holds its content)"));
            message = format!("Skill '{skill}' {verb}{}.", heir.unwrap_or_default());
        }
        _ => {}
    }
    extra.insert("success".to_owned(), true.into());
    extra.insert("message".to_owned(), message.into());
    extra.insert("path".to_owned(), commit.path.clone().into());
    let output = ToolOutput::done(Value::Object(extra).to_string());
    if is_changed {
        output.with_change(pending::change_between(commit, file, planned.kind))
    } else {
        output
    }
}

fn not_made(err: SkillError, planned: &Planned, context: &ToolContext) -> Refusal {
    match err {
        SkillError::Blocked { findings } => blocked(&findings, planned.text(), context),
        other => other.into(),
    }
}

#[async_trait]
impl Tool for SkillManage {
    fn spec(&self) -> ToolSpec {
        let text = |about: &str| json!({ "type": ["string", "null"], "description": about });
        let name = "The skill's name: lower-case letters, digits, '-', '_' and '.', at most 64.";
        ToolSpec::new(NAME, include_str!("../prompts/skill_manage.md").trim())
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
            .with_cancel_grace(CANCEL_GRACE)
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.run(&arguments, context).await.or_else(Refusal::into_output)
    }
}

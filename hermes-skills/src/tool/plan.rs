//! From what a call asks for to the change it means, before anybody is asked or anything written.

use hermes_core::{
    change::ChangeAction,
    origin::Origin,
    serde_json::{Map, Value},
    skill::{
        InvalidName, SkillAction, SkillChange, SkillCommit, SkillError, SkillFile, SkillName,
        SkillText, seen_key,
    },
    tool::ToolContext,
    version::{Expected, Version},
};

use super::{
    Library,
    refusal::{Refusal, unread},
    request::{Request, Wish},
};
use crate::patch::{self, PatchOptions, Patched};

/// Which version a change goes by.
#[derive(Clone, Copy, Debug)]
pub(super) enum Basis<'a> {
    /// The one that the conversation was last shown.
    Shown(&'a ToolContext),
    /// This one, or what is there now for [`Expected::Any`].
    Fixed(Expected),
}

/// A change that can be asked about and made.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) skill: SkillName,
    pub(super) file: SkillFile,
    pub(super) action: SkillAction,
    pub(super) kind: ChangeAction,
    /// What the model is told once it is made.
    pub(super) message: String,
    pub(super) extra: Map<String, Value>,
}

/// Why a call comes to no change.
#[derive(Debug)]
pub(super) enum Unplanned {
    /// The store has no such thing, or another version of it.
    Store(SkillError),
    /// The call itself is wrong.
    Call(Refusal),
}

impl From<SkillError> for Unplanned {
    fn from(err: SkillError) -> Self {
        Self::Store(err)
    }
}

impl From<Refusal> for Unplanned {
    fn from(refusal: Refusal) -> Self {
        Self::Call(refusal)
    }
}

impl From<Unplanned> for Refusal {
    fn from(it: Unplanned) -> Self {
        match it {
            Unplanned::Store(err) => err.into(),
            Unplanned::Call(refusal) => refusal,
        }
    }
}

impl Planned {
    fn new(skill: SkillName, file: SkillFile, action: SkillAction, kind: ChangeAction) -> Self {
        Self { skill, file, action, kind, message: String::new(), extra: Map::new() }
    }

    fn saying(mut self, message: String) -> Self {
        self.message = message;
        self
    }

    /// Returns the new text, empty if there is none.
    pub(super) fn text(&self) -> &str {
        match &self.action {
            SkillAction::Create { content, .. } | SkillAction::Write { content, .. } => content,
            _ => "",
        }
    }

    /// Returns the change as one by `origin`.
    pub(super) fn change(&self, origin: Origin) -> SkillChange {
        SkillChange::new(self.skill.clone(), self.action.clone(), origin)
    }

    /// Returns whether `commit` counts as a change of a skill that goes on.
    pub(super) fn is_counted(&self, commit: &SkillCommit) -> bool {
        let is_gone = commit.after.is_none() && self.file.is_main();
        let is_new = self.kind == ChangeAction::Create && self.file.is_main();
        commit.revision.is_some() && !is_gone && !is_new
    }
}

impl Library {
    pub(super) async fn plan(
        &self,
        request: &Request,
        basis: Basis<'_>,
    ) -> Result<Planned, Unplanned> {
        let Request { name, wish } = request;
        match wish {
            Wish::Create { category, content } => {
                let skill: SkillName = name
                    .parse()
                    .map_err(|err: InvalidName| Refusal::rejected(format!("The name {err}.")))?;
                let message = format!("Skill '{skill}' created.");
                let (category, content) = (category.clone(), content.clone());
                let action = SkillAction::Create { category, content };
                let file = SkillFile::main();
                Ok(Planned::new(skill, file, action, ChangeAction::Create).saying(message))
            }
            Wish::Edit { content } => self.write(name, SkillFile::main(), content, basis).await,
            Wish::Patch { file, old, new, all } => {
                self.patch(name, file, (old, new, *all), basis).await
            }
            Wish::WriteFile { file, content } => {
                self.write(name, file.clone(), content, basis).await
            }
            Wish::RemoveFile { file } => self.remove(name, file, basis).await,
            Wish::Delete { heir } => self.delete(name, heir.as_deref(), basis).await,
        }
    }

    /// Plans to write a whole file; the main one by the rules of `edit`.
    async fn write(
        &self,
        name: &str,
        file: SkillFile,
        text: &str,
        basis: Basis<'_>,
    ) -> Result<Planned, Unplanned> {
        let (skill, before) = match self.store.read(name, &file).await {
            Ok(found) => (found.skill, Some(found.text)),
            Err(SkillError::NoFile { skill, .. }) => (skill, None),
            Err(err) => return Err(err.into()),
        };
        self.check_shown(&skill).await?;
        let expected = basis.expected(&skill, &file, before.as_ref().map(|it| it.version))?;
        let (kind, content) = match &before {
            Some(old) => (ChangeAction::Update, in_line_ends_of(&old.value, text.to_owned())),
            None => (ChangeAction::Create, text.to_owned()),
        };
        let message = if file.is_main() {
            format!("Skill '{skill}' updated (full rewrite).")
        } else {
            format!("File '{file}' written to skill '{skill}'.")
        };
        let action = SkillAction::Write { file: file.clone(), content, expected };
        Ok(Planned::new(skill, file, action, kind).saying(message))
    }

    async fn patch(
        &self,
        name: &str,
        file: &SkillFile,
        (old, new, all): (&str, &str, bool),
        basis: Basis<'_>,
    ) -> Result<Planned, Unplanned> {
        let found = self.store.read(name, file).await?;
        let skill = found.skill.clone();
        self.check_shown(&skill).await?;
        let current = found.text.version;
        let expected = basis.expected(&skill, file, Some(current))?;
        if matches!(basis, Basis::Fixed(_)) && !expected.accepts(Some(current)) {
            return Err(SkillError::Conflict { current: Some(current), diff: None }.into());
        }
        let options = PatchOptions::default().replace_all(all);
        let patched = patch::replace(&found.text.value, old, new, &options)
            .map_err(|err| not_patched(&err, &found))?;
        let count = patched.replacements;
        let plural = if count == 1 { "" } else { "s" };
        let message = format!("Patched {file} in skill '{skill}' ({count} replacement{plural}).");
        let extra = patch_notes(&patched);
        let action = SkillAction::Write { file: file.clone(), content: patched.text, expected };
        let planned = Planned::new(skill, file.clone(), action, ChangeAction::Update);
        Ok(Planned { extra, ..planned.saying(message) })
    }

    async fn remove(
        &self,
        name: &str,
        file: &SkillFile,
        basis: Basis<'_>,
    ) -> Result<Planned, Unplanned> {
        let (skill, expected) = match self.store.read(name, file).await {
            Ok(found) => {
                let expected = basis.expected(&found.skill, file, Some(found.text.version))?;
                (found.skill, expected)
            }
            // Nobody can have been shown it; the store refuses whoever must have been.
            Err(SkillError::Binary { skill, .. }) => (skill, basis.unseen()),
            Err(err) => return Err(err.into()),
        };
        self.check_shown(&skill).await?;
        let message = format!("File '{file}' removed from skill '{skill}'.");
        let action = SkillAction::Remove { file: file.clone(), expected };
        Ok(Planned::new(skill, file.clone(), action, ChangeAction::Delete).saying(message))
    }

    async fn delete(
        &self,
        name: &str,
        heir: Option<&str>,
        basis: Basis<'_>,
    ) -> Result<Planned, Unplanned> {
        let file = SkillFile::main();
        let found = self.store.read(name, &file).await?;
        let skill = found.skill.clone();
        self.check_shown(&skill).await?;
        let absorbed_into = match heir {
            Some(heir) => Some(self.store.read(heir, &file).await?.skill),
            None => None,
        };
        let expected = match basis {
            Basis::Shown(context) => {
                let seen = context.seen().version(&found.seen_key());
                Expected::Is(seen.unwrap_or(found.text.version))
            }
            Basis::Fixed(Expected::Any) => Expected::Is(found.text.version),
            Basis::Fixed(base) => base,
        };
        let action = SkillAction::Delete { expected, absorbed_into };
        Ok(Planned::new(skill, file, action, ChangeAction::Delete))
    }

    /// Refuses what the user has hidden.
    async fn check_shown(&self, skill: &SkillName) -> Result<(), Refusal> {
        if self.is_hidden(skill).await {
            let error = format!("Skill '{skill}' is disabled. Only the user can enable it.");
            return Err(Refusal::rejected(error));
        }
        Ok(())
    }
}

impl Basis<'_> {
    /// Returns the version that a change of `file`, now at `current`, goes by.
    fn expected(
        self,
        skill: &SkillName,
        file: &SkillFile,
        current: Option<Version>,
    ) -> Result<Expected, Refusal> {
        let now = current.map_or(Expected::Absent, Expected::Is);
        let context = match (self, current) {
            (Self::Fixed(Expected::Any), _) | (Self::Shown(_), None) => return Ok(now),
            (Self::Fixed(base), _) => return Ok(base),
            (Self::Shown(context), Some(_)) => context,
        };
        match context.seen().version(&seen_key(skill, file)) {
            Some(version) => Ok(Expected::Is(version)),
            None if context.origin().is_automatic() => Err(unread(skill.as_str(), file)),
            None => Ok(now),
        }
    }

    /// Returns the version that a change of a file goes by which cannot be shown.
    fn unseen(self) -> Expected {
        match self {
            Self::Shown(_) => Expected::Any,
            Self::Fixed(base) => base,
        }
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
    Refusal::rejected(format!("Not edited: {err}")).with(
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

//! What a model is told when a call comes to nothing: always JSON, always with a way on.

use std::collections::BTreeMap;

use hermes_core::{
    pending::PendingError,
    serde_json::{Map, Value, json},
    skill::{SkillError, SkillFile},
    threat::Finding,
    tool::{ToolContext, ToolError, ToolOutput},
};

/// A call that changed nothing.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The model can put it right.
    Rejected(Map<String, Value>),
    /// Only the host can.
    Broken(ToolError),
}

impl Refusal {
    /// Tells the model what is wrong and what to do instead.
    pub(super) fn rejected(error: impl Into<String>) -> Self {
        let mut fields = Map::new();
        fields.insert("success".to_owned(), false.into());
        fields.insert("error".to_owned(), error.into().into());
        Self::Rejected(fields)
    }

    /// Adds a field to what the model is told.
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        if let Self::Rejected(fields) = &mut self {
            fields.insert(key.to_owned(), value.into());
        }
        self
    }

    /// Describes a change that was to wait for a person and could not be kept.
    pub(super) fn of_pending(err: PendingError) -> Self {
        match err {
            PendingError::Full { .. } | PendingError::TooLarge { .. } => {
                Self::rejected(format!("Nothing was saved: {err}. Tell the user."))
            }
            err => {
                Self::broken("The change could not be kept for approval. Nothing was saved.", err)
            }
        }
    }

    /// Returns what the model is told, without the fields beside it.
    pub(super) fn error(&self) -> String {
        match self {
            Self::Rejected(fields) => {
                fields.get("error").and_then(Value::as_str).unwrap_or_default().to_owned()
            }
            Self::Broken(err) => err.to_string(),
        }
    }

    fn broken(error: &str, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        let message = json!({ "success": false, "error": error }).to_string();
        Self::Broken(ToolError::Failed { message, source: Some(Box::new(source)) })
    }

    pub(super) fn into_output(self) -> Result<ToolOutput, ToolError> {
        match self {
            Self::Rejected(fields) => Ok(ToolOutput::rejected(Value::Object(fields).to_string())),
            Self::Broken(err) => Err(err),
        }
    }
}

impl From<SkillError> for Refusal {
    fn from(err: SkillError) -> Self {
        let error = sentence(&err.to_string());
        match err {
            SkillError::NotFound { names, .. } => Self::rejected(error)
                .with("available_skills", names)
                .with("hint", "Use skills_list to see all skills."),
            SkillError::Ambiguous { matches, .. } => Self::rejected(error)
                .with("matches", matches)
                .with(
                    "hint",
                    "It is ambiguous. View one by its path, as listed in matches. To change one, \
                     the user must first rename the others, so that its name is its own.",
                ),
            SkillError::NoFile { skill, files, .. } => Self::rejected(error)
                .with("available_files", grouped(&files))
                .with("hint", format!("Name one of the available files of '{skill}'.")),
            SkillError::Binary { .. } => Self::rejected(format!(
                "{error} It can be neither viewed nor edited as text; remove it first if a text is \
                 to take its place."
            )),
            SkillError::Exists { path } => Self::rejected(format!(
                "A skill at {path} already exists. View it with skill_view and improve it with \
                 action 'patch', or choose another name."
            )),
            SkillError::Unread { skill, file } => unread(skill.as_str(), &file),
            SkillError::Conflict { diff, .. } => Self::rejected(
                "The file has changed since you last read it, so nothing was written. View it again \
                 with skill_view and make the change anew.",
            )
            .with("changed_meanwhile", diff),
            SkillError::OffLimits { .. } => Self::rejected(error)
                .with("hint", "Leave it as it is. What is worth keeping can go into a skill of your own."),
            // What was found is for the host: who knows the rule can write around it.
            SkillError::Blocked { .. } => Self::rejected(
                "Nothing was written: the security scan refused the text. Do not reword it: if it is \
                 needed, tell the user.",
            ),
            SkillError::ScanFailed(_) => Self::broken(
                "The text could not be checked, so it was not written. Do not try again now.",
                err,
            ),
            SkillError::Backend(_) => {
                Self::broken("The skills could not be reached. Nothing was changed.", err)
            }
            _ => Self::rejected(error),
        }
    }
}

/// Tells the model to read before it writes.
pub(super) fn unread(skill: &str, file: &SkillFile) -> Refusal {
    let call = if file.is_main() {
        format!("skill_view(name='{skill}')")
    } else {
        format!("skill_view(name='{skill}', file_path='{file}')")
    };
    Refusal::rejected(format!(
        "{file} of '{skill}' must be read before it is changed. Call {call}, then repeat this call \
         based on what it shows."
    ))
    .with("_read_before_write_required", true)
}

/// Tells the model which lines to leave out, and the host what was found.
pub(super) fn blocked(findings: &[Finding], text: &str, context: &ToolContext) -> Refusal {
    let mut lines: Vec<usize> = Vec::new();
    for finding in findings {
        let line = line_of(text, finding.range.start);
        context.warn(format!("a skill's text was refused, line {line}: {finding}"));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let places: Vec<String> = lines.iter().map(ToString::to_string).collect();
    Refusal::rejected(format!(
        "Nothing was written: the security scan refused line {} of the text. Leave that passage out; \
         a skill states steps and facts, and never carries secrets or orders to an agent. Do not \
         reword it: if it is needed, tell the user.",
        places.join(", ")
    ))
    .with("blocked_lines", lines)
}

fn line_of(text: &str, offset: usize) -> usize {
    text.get(..offset).unwrap_or(text).matches('\n').count().saturating_add(1)
}

/// Returns files by their folder, as the original's results have them.
pub(super) fn grouped(files: &[SkillFile]) -> Value {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.is_main()) {
        let folder = file.as_str().split('/').next().unwrap_or_default();
        groups.entry(folder).or_default().push(file.as_str());
    }
    if groups.is_empty() { Value::Null } else { json!(groups) }
}

/// Returns an error's message as a sentence. A path at its beginning stays as it is.
fn sentence(message: &str) -> String {
    let end = if message.ends_with('.') { "" } else { "." };
    let word = message.split(' ').next().unwrap_or_default();
    if !word.chars().all(char::is_alphabetic) {
        return format!("{message}{end}");
    }
    let mut letters = message.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}{end}", letters.as_str())
}

//! What a `SKILL.md` says about itself: YAML between two lines of three dashes, and the body.
//!
//! Reading and writing differ. [`SkillDoc::parse`] takes whatever lies on disk: one byte order
//! mark, either kind of line ends, values of the wrong type, broken YAML; it never fails, and
//! says in [`SkillDoc::warnings`] what it had to overlook. [`SkillDoc::validate`] accepts only
//! what every other reader will understand as well. Both are pure, take time linear in the text
//! and bound what a hostile frontmatter can cost.
//!
//! # Which YAML
//!
//! The core schema of YAML 1.2, with the spelling kept where versions of YAML disagree: `yes`,
//! `0755`, `1_000`, `1:30` and `2024-01-02` are text, not a boolean, numbers and a date. A name,
//! description, version or licence is always text and reads as it is written, so `version: 1.10`
//! is `"1.10"`. Of two equal keys the later wins.

mod fence;
mod limits;
mod render;
mod repair;
mod validate;
mod yaml;

#[cfg(test)]
mod tests;

use hermes_core::skill::Conditions;
use serde::Serialize;
use serde_json::{Map, Value};

use fence::Split;

pub use limits::{MAX_DESCRIPTION_CHARS, MAX_HEAD_BYTES, MAX_TEXT_CHARS};
pub use render::NewSkill;
pub use validate::SkillDocError;

/// A parsed `SKILL.md`.
///
/// # Examples
///
/// ```
/// use hermes_skills::frontmatter::SkillDoc;
///
/// let doc = SkillDoc::parse("---\nname: demo\ndescription: Use when asked: build\n---\nBody\n");
///
/// assert_eq!(doc.name.as_deref(), Some("demo"));
/// assert_eq!(doc.description, "Use when asked: build");
/// assert_eq!(doc.body, "Body\n");
/// assert!(doc.used_fallback(), "an unquoted colon is not valid YAML");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SkillDoc {
    /// The name, if there is one that is text and fits on a line; otherwise the directory's name
    /// is the skill's.
    pub name: Option<String>,
    /// The description without outer white space, the parts of a list joined by commas; empty if
    /// there is none. It may have several lines.
    pub description: String,
    /// The version, as written.
    pub version: Option<String>,
    /// The licence, as written.
    pub license: Option<String>,
    /// Operating systems the skill is for; empty means all.
    pub platforms: Vec<String>,
    /// Kinds of surroundings the skill is for, such as `docker`; empty means all. Read for
    /// [`fits`](crate::index::fits); the index of [`Skills`](crate::Skills) does not go by it.
    pub environments: Vec<String>,
    /// The tags, from `metadata.hermes.tags` if that is there, else from `tags`.
    pub tags: Vec<String>,
    /// Names of skills that go with this one, found like [`tags`](Self::tags).
    pub related_skills: Vec<String>,
    /// Beside which tools the skill is offered, from `metadata.hermes`.
    pub conditions: Conditions,
    /// The whole frontmatter, unknown keys included.
    pub metadata: Map<String, Value>,
    /// What follows the frontmatter and the blank lines after it, line ends as in the file.
    pub body: String,
    /// What had to be overlooked, in the order of discovery.
    pub warnings: Vec<DocWarning>,
}

/// Something in a `SKILL.md` that had to be overlooked to read it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DocWarning {
    /// The text does not begin with three dashes.
    #[error("there is no frontmatter: the first line is not `---`")]
    NoHead,
    /// No closing line comes within [`MAX_HEAD_BYTES`].
    #[error("the frontmatter is not closed by a line `---`")]
    Unclosed,
    /// The frontmatter is not valid YAML; its fields were read one by one.
    #[error("the frontmatter is not valid YAML: {detail}")]
    Malformed {
        /// What is wrong and where; lines are counted from the beginning of the file.
        detail: String,
    },
    /// The frontmatter is valid YAML, but a list or a single value.
    #[error("the frontmatter is not a list of `key: value` lines")]
    NotMapping,
    /// A value that must be text is a list or mapping, or a name has control characters.
    #[error("the value of `{key}` is not a line of text")]
    NotText {
        /// The key of the value.
        key: &'static str,
    },
    /// There is no name, so the directory's name has to do.
    #[error("there is no name")]
    MissingName,
    /// There is no description, so the model will not know what the skill is for.
    #[error("there is no description")]
    MissingDescription,
}

impl SkillDoc {
    /// Reads a `SKILL.md`, whatever state it is in.
    pub fn parse(raw: &str) -> Self {
        let text = raw.strip_prefix('\u{feff}').unwrap_or(raw);
        match fence::split(text) {
            Split::NoHead => Self::without_head(text, DocWarning::NoHead),
            Split::Unclosed => Self::without_head(text, DocWarning::Unclosed),
            Split::Closed { head, body } => Self::with_head(head, body),
        }
    }

    /// Whether the frontmatter was not valid YAML and its fields were read one by one.
    pub fn used_fallback(&self) -> bool {
        self.warnings.iter().any(|warning| matches!(warning, DocWarning::Malformed { .. }))
    }

    /// Returns the description or, where there is none, the first line of the body that is
    /// neither blank nor a heading.
    pub fn description_or_first_line(&self) -> &str {
        if !self.description.is_empty() {
            return &self.description;
        }
        let lines = self.body.lines().map(str::trim);
        lines
            .filter(|line| !line.is_empty())
            .find(|line| !line.starts_with('#'))
            .unwrap_or_default()
    }

    fn without_head(text: &str, warning: DocWarning) -> Self {
        Self { body: text.to_owned(), warnings: vec![warning], ..Self::default() }
    }

    fn with_head(head: &str, body: &str) -> Self {
        let mut warnings = Vec::new();
        let metadata = match yaml::parse(head) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => {
                warnings.push(DocWarning::NotMapping);
                Map::new()
            }
            Err(detail) => {
                warnings.push(DocWarning::Malformed { detail });
                repair::fields(head)
            }
        };
        let mut doc = Self { body: body.to_owned(), metadata, warnings, ..Self::default() };
        doc.fill(head);
        doc
    }

    fn fill(&mut self, head: &str) {
        self.name = self.text("name", head).filter(|name| !name.is_empty());
        if self.name.as_deref().is_some_and(is_no_name) {
            self.name = None;
            self.warnings.push(DocWarning::NotText { key: "name" });
        } else if self.name.is_none() {
            self.warnings.push(DocWarning::MissingName);
        }
        self.description = self.text("description", head).unwrap_or_default();
        if self.description.is_empty() {
            self.warnings.push(DocWarning::MissingDescription);
        }
        self.version = self.text("version", head);
        self.license = self.text("license", head);
        self.platforms = list(self.metadata.get("platforms"));
        self.environments = list(self.metadata.get("environments"));
        self.tags = list(self.nested("tags").or_else(|| self.metadata.get("tags")));
        self.related_skills =
            list(self.nested("related_skills").or_else(|| self.metadata.get("related_skills")));
        self.conditions.requires_tools = list(self.nested("requires_tools"));
        self.conditions.requires_toolsets = list(self.nested("requires_toolsets"));
        self.conditions.fallback_for_tools = list(self.nested("fallback_for_tools"));
        self.conditions.fallback_for_toolsets = list(self.nested("fallback_for_toolsets"));
    }

    /// Returns `metadata.hermes.<key>` unless it is null or empty.
    fn nested(&self, key: &str) -> Option<&Value> {
        let value = self.metadata.get("metadata")?.get("hermes")?.get(key)?;
        let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        (!is_empty).then_some(value)
    }

    fn text(&mut self, key: &'static str, head: &str) -> Option<String> {
        match self.metadata.get(key)? {
            Value::Null => None,
            Value::String(text) => Some(text.trim().to_owned()),
            Value::Bool(_) | Value::Number(_) => {
                let value = self.metadata.get(key)?;
                Some(spelling(key, value, head).unwrap_or_else(|| value.to_string()))
            }
            other => {
                let items: Vec<String> =
                    other.as_array().into_iter().flatten().filter_map(item).collect();
                self.warnings.push(DocWarning::NotText { key });
                (key != "name").then(|| items.join(", "))
            }
        }
    }
}

/// Whether a text cannot be a name: it would not stay on its line, or is half a list.
fn is_no_name(text: &str) -> bool {
    text.starts_with(['[', '{']) || text.chars().any(char::is_control)
}

/// Returns how the value of a top-level key is spelled, as `1.10` for the number 1.1.
fn spelling(key: &str, value: &Value, head: &str) -> Option<String> {
    head.lines().rev().find_map(|line| {
        let text = line.strip_prefix(key)?.trim_start().strip_prefix(':')?;
        let text = text.split(" #").next().unwrap_or(text).trim();
        let is_bare = !text.starts_with(['!', '&']);
        (is_bare && yaml::parse_part(text).as_ref() == Ok(value)).then(|| text.to_owned())
    })
}

/// Reads a list of texts. One text counts as its parts between commas, a mapping as its keys.
fn list(value: Option<&Value>) -> Vec<String> {
    let items: Vec<String> = match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.iter().filter_map(item).collect(),
        Some(Value::Object(fields)) => fields.keys().cloned().collect(),
        Some(Value::String(text)) => split_list(text).collect(),
        Some(other) => item(other).into_iter().collect(),
    };
    items.into_iter().filter(|item| !item.is_empty()).collect()
}

fn item(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Splits a list that is written as text, with or without brackets and quotes.
fn split_list(text: &str) -> impl Iterator<Item = String> {
    let outer = |letter: char| letter.is_whitespace() || matches!(letter, '[' | ']' | '"' | '\'');
    let items = text.trim_matches(outer).split(',').map(|item| unquote(item.trim()).to_owned());
    items.filter(|item| !item.is_empty())
}

/// Removes quotes around a text, and a quote at its beginning that is never closed.
fn unquote(text: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            return inner.strip_suffix(quote).unwrap_or(inner).trim();
        }
    }
    text
}

//! What a `SKILL.md` must look like to be written.

use serde_json::Value;

use super::{
    DocWarning, MAX_DESCRIPTION_CHARS, MAX_TEXT_CHARS, SkillDoc,
    fence::{self, Split},
};

/// Why a text cannot become the `SKILL.md` of a skill.
///
/// The messages are for the model that wrote it, and say what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkillDocError {
    /// There is nothing but white space.
    #[error("the content is empty: give the whole SKILL.md, frontmatter and body")]
    Empty,
    /// The text is longer than [`MAX_TEXT_CHARS`].
    #[error(
        "the content has {chars} characters, at most {limit} are allowed: move details to files \
         under references/"
    )]
    TooLong {
        /// The length in characters.
        chars: usize,
        /// The most that is allowed.
        limit: usize,
    },
    /// The first line is not three dashes.
    #[error("there is no frontmatter: begin with a line `---`, then `name:` and `description:`")]
    NoHead,
    /// No closing line comes within [`MAX_HEAD_BYTES`](super::MAX_HEAD_BYTES).
    #[error("the frontmatter is not closed: put a line `---` between it and the body")]
    Unclosed,
    /// The frontmatter is not valid YAML.
    #[error(
        "the frontmatter is not valid YAML: {detail}; put text that contains a colon or begins \
         with a special character in double quotes"
    )]
    Malformed {
        /// What is wrong and where; lines are counted from the beginning of the file.
        detail: String,
    },
    /// The frontmatter is a list or a single value.
    #[error("the frontmatter must consist of `key: value` lines")]
    NotMapping,
    /// `name` is missing or empty.
    #[error("the frontmatter has no name: add `name: {expected}`")]
    MissingName {
        /// The name of the skill's directory.
        expected: String,
    },
    /// `name` differs from the name of the directory.
    #[error("the frontmatter names the skill {found:?}: write `name: {expected}`")]
    WrongName {
        /// The name in the frontmatter.
        found: String,
        /// The name of the skill's directory.
        expected: String,
    },
    /// `description` is missing or empty.
    #[error("the frontmatter has no description: say in a sentence when to use the skill")]
    MissingDescription,
    /// The description is longer than [`MAX_DESCRIPTION_CHARS`].
    #[error("the description has {chars} characters, at most {limit} are allowed: shorten it")]
    DescriptionTooLong {
        /// The length in characters.
        chars: usize,
        /// The most that is allowed.
        limit: usize,
    },
    /// A value that must be text is something else; quotes make it text.
    #[error("the value of `{key}` is not text: put it in double quotes")]
    NotText {
        /// The key of the value.
        key: &'static str,
    },
    /// Nothing follows the frontmatter.
    #[error("there is nothing after the frontmatter: write the instructions below it")]
    BlankBody,
}

impl SkillDoc {
    /// Reads a `SKILL.md` that is about to be written into the directory `dir_name`.
    ///
    /// Line ends may be of either kind and byte order marks may precede the text; everything else
    /// must be in order. The name must equal `dir_name`, so that a skill has one identity, and
    /// must read as text in any version of YAML: `name: 2024` needs quotes.
    ///
    /// # Errors
    ///
    /// Returns the first thing that is wrong, as the variants of [`SkillDocError`] describe it.
    pub fn validate(raw: &str, dir_name: &str) -> Result<Self, SkillDocError> {
        let text = raw.trim_start_matches('\u{feff}');
        check_frame(text)?;
        let doc = Self::parse(text);
        doc.check_yaml()?;
        doc.check_name(dir_name)?;
        doc.check_description()?;
        if doc.body.trim().is_empty() {
            return Err(SkillDocError::BlankBody);
        }
        Ok(doc)
    }

    fn check_yaml(&self) -> Result<(), SkillDocError> {
        for warning in &self.warnings {
            match warning {
                DocWarning::Malformed { detail } => {
                    return Err(SkillDocError::Malformed { detail: detail.clone() });
                }
                DocWarning::NotMapping => return Err(SkillDocError::NotMapping),
                _ => {}
            }
        }
        Ok(())
    }

    fn check_name(&self, dir_name: &str) -> Result<(), SkillDocError> {
        let expected = dir_name.to_owned();
        match self.metadata.get("name") {
            None | Some(Value::Null) => Err(SkillDocError::MissingName { expected }),
            Some(Value::String(found)) if found.trim().is_empty() => {
                Err(SkillDocError::MissingName { expected })
            }
            Some(Value::String(found)) if found == dir_name => Ok(()),
            Some(Value::String(found)) => {
                Err(SkillDocError::WrongName { found: found.clone(), expected })
            }
            Some(_) => Err(SkillDocError::NotText { key: "name" }),
        }
    }

    fn check_description(&self) -> Result<(), SkillDocError> {
        if matches!(self.metadata.get("description"), Some(Value::Array(_) | Value::Object(_))) {
            return Err(SkillDocError::NotText { key: "description" });
        }
        if self.description.is_empty() {
            return Err(SkillDocError::MissingDescription);
        }
        let chars = self.description.chars().count();
        if MAX_DESCRIPTION_CHARS < chars {
            return Err(SkillDocError::DescriptionTooLong { chars, limit: MAX_DESCRIPTION_CHARS });
        }
        Ok(())
    }
}

fn check_frame(text: &str) -> Result<(), SkillDocError> {
    if text.trim().is_empty() {
        return Err(SkillDocError::Empty);
    }
    let chars = text.chars().count();
    if MAX_TEXT_CHARS < chars {
        return Err(SkillDocError::TooLong { chars, limit: MAX_TEXT_CHARS });
    }
    match fence::split(text) {
        Split::NoHead => Err(SkillDocError::NoHead),
        Split::Unclosed => Err(SkillDocError::Unclosed),
        Split::Closed { head, .. }
            if !head.lines().next().unwrap_or_default().trim().is_empty() =>
        {
            Err(SkillDocError::NoHead)
        }
        Split::Closed { .. } => Ok(()),
    }
}

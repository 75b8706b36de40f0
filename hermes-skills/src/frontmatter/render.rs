//! Writing the frontmatter of a new skill.

use std::fmt::Write as _;

/// The fields of a new `SKILL.md`, rendered so that every YAML reader gives them back.
///
/// Text is always quoted, so neither a colon nor ` #` nor a leading `[` can change what it means.
/// An existing file is never rendered anew, which would lose its comments; it is patched.
///
/// # Examples
///
/// ```
/// use hermes_skills::frontmatter::{NewSkill, SkillDoc};
///
/// let text = NewSkill::new("fix-ci", "Use when: C # builds fail").tags(["ci"]).render("# Fix CI\n");
///
/// let doc = SkillDoc::validate(&text, "fix-ci")?;
/// assert_eq!(doc.description, "Use when: C # builds fail");
/// assert_eq!(doc.tags, ["ci"]);
/// # Ok::<(), hermes_skills::frontmatter::SkillDocError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a new skill does nothing until it is rendered"]
pub struct NewSkill {
    name: String,
    description: String,
    version: String,
    license: Option<String>,
    platforms: Vec<String>,
    tags: Vec<String>,
    related_skills: Vec<String>,
}

impl NewSkill {
    /// Starts a skill with the two fields that every skill has. The version is `0.1.0`.
    ///
    /// Nothing is checked here; [`SkillDoc::validate`](super::SkillDoc::validate) checks the result.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            version: "0.1.0".to_owned(),
            license: None,
            platforms: Vec::new(),
            tags: Vec::new(),
            related_skills: Vec::new(),
        }
    }

    /// Sets the version. `0.1.0` by default.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets the licence. None is stated by default.
    pub fn license(mut self, license: impl Into<String>) -> Self {
        self.license = Some(license.into());
        self
    }

    /// Sets the operating systems, such as `macos`. All by default.
    pub fn platforms<T: Into<String>>(mut self, platforms: impl IntoIterator<Item = T>) -> Self {
        self.platforms = platforms.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the tags. None by default.
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the names of skills that go with this one. None by default.
    pub fn related_skills<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.related_skills = names.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the text of the `SKILL.md`: frontmatter, a blank line, and `body`.
    pub fn render(&self, body: &str) -> String {
        let mut text = String::from("---\n");
        push_line(&mut text, "name", &quoted(&self.name));
        push_line(&mut text, "description", &quoted(&self.description));
        push_line(&mut text, "version", &quoted(&self.version));
        if let Some(license) = &self.license {
            push_line(&mut text, "license", &quoted(license));
        }
        push_list(&mut text, "platforms", &self.platforms);
        if !self.tags.is_empty() || !self.related_skills.is_empty() {
            text.push_str("metadata:\n  hermes:\n");
            push_list(&mut text, "    tags", &self.tags);
            push_list(&mut text, "    related_skills", &self.related_skills);
        }
        text.push_str("---\n\n");
        text.push_str(body.trim_start_matches(['\r', '\n']));
        text
    }
}

fn push_line(text: &mut String, key: &str, value: &str) {
    text.push_str(key);
    text.push_str(": ");
    text.push_str(value);
    text.push('\n');
}

fn push_list(text: &mut String, key: &str, items: &[String]) {
    if !items.is_empty() {
        let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
        push_line(text, key, &format!("[{}]", items.join(", ")));
    }
}

/// Returns `text` as a double-quoted YAML scalar on one line.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ if needs_escape(letter) => push_escape(&mut quoted, letter),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

fn needs_escape(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn push_escape(quoted: &mut String, letter: char) {
    // Writing to a string cannot fail.
    let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
}

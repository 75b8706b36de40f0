//! Names that become folders, files and prompt lines, checked once.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of a skill, which is the name of its folder.
///
/// New names are 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`, starting with a letter or digit and not
/// ending with `.`: that is what [`FromStr`] takes. Names found on disk may be older than the rule; [`SkillName::existing`]
/// takes whatever is safe as one folder and one prompt line.
///
/// # Examples
///
/// ```
/// use hermes_core::skill::SkillName;
///
/// let name: SkillName = "k8s-deploy".parse()?;
/// assert_eq!(name.as_str(), "k8s-deploy");
/// assert!("../etc".parse::<SkillName>().is_err());
/// assert!(SkillName::existing("My Skill").is_ok());
/// # Ok::<(), hermes_core::skill::InvalidName>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillName(String);

/// The name of a group of skills: one folder, by the same rule as [`SkillName`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Category(String);

/// A file of a skill, relative to the skill's folder, with `/` between its parts.
///
/// It is `SKILL.md`, or lies below `references/`, `templates/`, `scripts/` or `assets/`. It has no
/// `.` and `..` parts, is not absolute, and has no character that ends or turns a line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillFile(String);

/// A text that is not a name of the kind asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {what}")]
#[non_exhaustive]
pub struct InvalidName {
    /// The text.
    pub text: String,
    /// What it should have been, with the rule.
    pub what: &'static str,
}

const NAME_RULE: &str =
    "a name: use 1 to 64 of a-z, 0-9, '.', '_' and '-', starting with a letter or digit";
const FOLDER_RULE: &str = "a folder name: no separators, no control characters, not '.' or '..'";
const FILE_RULE: &str = "a file of a skill: use SKILL.md or a path below references/, templates/, \
                         scripts/ or assets/, without '..'";
const MAX_NAME: usize = 64;

impl SkillName {
    /// Takes a name found on disk: any text that is safe as one folder and one prompt line.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] if it is not.
    pub fn existing(text: &str) -> Result<Self, InvalidName> {
        let is_safe = !text.trim().is_empty()
            && text != "."
            && text != ".."
            && text.len() <= 255
            && !text.contains(['/', '\\'])
            && !text.chars().any(breaks_line);
        if is_safe {
            return Ok(Self(text.to_owned()));
        }
        Err(InvalidName { text: text.to_owned(), what: FOLDER_RULE })
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SkillName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        plain_name(text).map(Self)
    }
}

impl Category {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Category {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        plain_name(text).map(Self)
    }
}

impl SkillFile {
    /// The folders that supporting files lie in.
    pub const FOLDERS: [&str; 4] = ["references", "templates", "scripts", "assets"];

    /// Returns the main file, `SKILL.md`.
    pub fn main() -> Self {
        Self("SKILL.md".to_owned())
    }

    /// Returns whether it is the main file.
    pub fn is_main(&self) -> bool {
        self.0 == "SKILL.md"
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SkillFile {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let invalid = || InvalidName { text: text.to_owned(), what: FILE_RULE };
        let is_plain = !text.starts_with('/')
            && !text.ends_with('/')
            && !text.contains('\\')
            && !text.chars().any(breaks_line);
        let parts: Vec<&str> = text.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
        if !is_plain || parts.contains(&"..") || parts.iter().any(|it| 255 < it.len()) {
            return Err(invalid());
        }
        match parts.as_slice() {
            ["SKILL.md"] => Ok(Self::main()),
            [folder, _, ..] if Self::FOLDERS.contains(folder) => Ok(Self(parts.join("/"))),
            _ => Err(invalid()),
        }
    }
}

/// Returns whether a character would end a prompt line or show it in another order.
fn breaks_line(it: char) -> bool {
    it.is_control() || matches!(it, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn plain_name(text: &str) -> Result<String, InvalidName> {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let starts_well = text.bytes().next().is_some_and(is_word);
    let is_plain = text.bytes().all(|byte| is_word(byte) || matches!(byte, b'.' | b'_' | b'-'));
    if starts_well && is_plain && text.len() <= MAX_NAME && !text.ends_with('.') {
        return Ok(text.to_owned());
    }
    Err(InvalidName { text: text.to_owned(), what: NAME_RULE })
}

macro_rules! text_newtype {
    ($($type:ident: $parse:expr),*) => {$(
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                $parse(&text).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

text_newtype!(SkillName: SkillName::existing, Category: str::parse, SkillFile: str::parse);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_file(text: &str, expected: Option<&str>) {
        assert_eq!(text.parse::<SkillFile>().ok().as_ref().map(SkillFile::as_str), expected);
    }

    #[test]
    fn names_follow_the_rule() {
        for good in ["a", "9.x", "k8s_deploy-2"] {
            assert!(good.parse::<SkillName>().is_ok(), "{good}");
        }
        for bad in ["", "-a", "A", "a/b", "a\n", "a.", "..", &"a".repeat(65)] {
            assert!(bad.parse::<SkillName>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn names_on_disk_are_one_folder_and_one_line() {
        for good in ["My Skill", "日本", "a.", "Émile"] {
            assert!(SkillName::existing(good).is_ok(), "{good}");
        }
        for bad in ["", " ", ".", "..", "a/b", "a\\b", "a\nb", "a\u{2029}b", "a\u{202e}b"] {
            assert!(SkillName::existing(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn files_stay_in_their_folders() {
        check_file("SKILL.md", Some("SKILL.md"));
        check_file("references/./a//b.md", Some("references/a/b.md"));
        check_file("references", None);
        check_file("other/a.md", None);
        check_file("references/../../x", None);
        check_file("/references/a", None);
        check_file("references\\a", None);
        check_file("references/a\n", None);
        check_file("references/a\u{2028}b", None);
        check_file("references/日本.md", Some("references/日本.md"));
    }
}

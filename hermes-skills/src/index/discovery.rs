//! Which folders hold skills, and which skills are shown where.
//!
//! A skill is a folder with a file `SKILL.md`, at any depth below the root. The rules here take
//! names and return decisions; walking the disk is the store's work.

use hermes_core::skill::SkillFile;

/// Folders in which nothing is ever looked for: version control, what automation has put away,
/// our own records, and what package managers and test runners leave behind.
pub const EXCLUDED_FOLDERS: [&str; 16] = [
    ".git",
    ".github",
    ".hub",
    ".archive",
    ".curator_backups",
    ".journal",
    ".venv",
    "venv",
    "node_modules",
    "site-packages",
    "__pycache__",
    ".tox",
    ".nox",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
];

/// What a folder below the skills root is, which decides where the search goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// It has a `SKILL.md`.
    Skill,
    /// It has none, so its children are skills or further categories.
    Category,
}

impl Folder {
    /// Returns whether the search for skills enters the child folder of that name.
    ///
    /// Inside a skill, `references`, `templates`, `scripts` and `assets` hold its files, and a
    /// `SKILL.md` in there is data. A category may have such a name.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_skills::index::Folder;
    ///
    /// assert!(Folder::Category.enters("scripts"));
    /// assert!(!Folder::Skill.enters("scripts"));
    /// assert!(!Folder::Category.enters(".archive"));
    /// ```
    pub fn enters(self, child: &str) -> bool {
        let is_support = self == Self::Skill && SkillFile::FOLDERS.contains(&child);
        !is_support && !EXCLUDED_FOLDERS.contains(&child)
    }
}

/// Returns the category under which the prompt's index shows the skill in `folder`, a path relative
/// to the root with `/` between its parts.
///
/// That is the path above the folder; for a folder directly below the root its own name, and
/// `general` for a `SKILL.md` in the root itself.
///
/// # Examples
///
/// ```
/// use hermes_skills::index::{index_category, list_category};
///
/// assert_eq!(index_category("devops/cloud/k8s"), "devops/cloud");
/// assert_eq!(list_category("devops/cloud/k8s"), Some("devops"));
/// assert_eq!((index_category("k8s"), list_category("k8s")), ("k8s", None));
/// ```
pub fn index_category(folder: &str) -> &str {
    match folder.rsplit_once('/') {
        Some((category, _)) => category,
        None if folder.is_empty() => "general",
        None => folder,
    }
}

/// Returns the category that the tool `skills_list` names for the skill in `folder`: the first part
/// of the path, `None` directly below the root.
pub fn list_category(folder: &str) -> Option<&str> {
    folder.split_once('/').map(|(category, _)| category)
}

/// Returns whether a skill for `platforms` runs on `system`, both in the words of
/// [`std::env::consts::OS`] or of hermes-agent (`macos`, `darwin`, `windows`, `win32`, `linux`).
///
/// No platforms means all. An unknown word fits nothing but a system of that name.
///
/// # Examples
///
/// ```
/// use hermes_skills::index::runs_on;
///
/// assert!(runs_on(&["darwin".to_owned()], "macos"));
/// assert!(!runs_on(&["darwin".to_owned()], "linux"));
/// ```
pub fn runs_on(platforms: &[String], system: &str) -> bool {
    let system = canonical(system);
    platforms.is_empty() || platforms.iter().any(|platform| canonical(platform) == system)
}

fn canonical(platform: &str) -> String {
    let platform = platform.trim().to_lowercase();
    match platform.as_str() {
        "darwin" | "macosx" | "osx" => "macos".to_owned(),
        "win32" | "win" => "windows".to_owned(),
        _ => platform,
    }
}

/// Returns whether a skill for `environments` is offered in surroundings that are `present`.
///
/// Any one is enough, none wanted means all, and a word that nobody can test (known are `kanban`,
/// `docker` and `s6`) counts as present.
///
/// For hosts that make an index of their own: [`Skills`](crate::Skills) knows nothing of the surroundings
/// and offers such skills everywhere.
///
/// # Examples
///
/// ```
/// use hermes_skills::index::fits;
///
/// let environments = ["docker".to_owned()];
///
/// assert!(fits(&environments, &["docker"]));
/// assert!(!fits(&environments, &[]));
/// ```
pub fn fits(environments: &[String], present: &[&str]) -> bool {
    let holds = |environment: &String| {
        let environment = environment.trim().to_lowercase();
        !["kanban", "docker", "s6"].contains(&environment.as_str())
            || present.contains(&environment.as_str())
    };
    environments.is_empty() || environments.iter().any(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn support_folders_are_closed_only_inside_a_skill() {
        for folder in ["references", "templates", "scripts", "assets"] {
            assert!(Folder::Category.enters(folder), "{folder}");
            assert!(!Folder::Skill.enters(folder), "{folder}");
        }
        assert!(Folder::Skill.enters("sub"));
        assert!(Folder::Category.enters(".hidden"));
    }

    #[test]
    fn excluded_folders_are_never_entered() {
        for folder in EXCLUDED_FOLDERS {
            assert!(!Folder::Category.enters(folder) && !Folder::Skill.enters(folder), "{folder}");
        }
    }

    #[test]
    fn the_index_and_the_list_name_categories_differently() {
        let check = |folder, index, list| {
            assert_eq!((index_category(folder), list_category(folder)), (index, list));
        };
        check("", "general", None);
        check("a", "a", None);
        check("x/a", "x", Some("x"));
        check("x/y/a", "x/y", Some("x"));
    }

    #[test]
    fn platforms_have_two_spellings() {
        assert!(runs_on(&[], "linux"));
        assert!(runs_on(&texts(&["macos", "Linux"]), "linux"));
        assert!(runs_on(&texts(&["macos"]), "darwin"));
        assert!(runs_on(&texts(&["windows"]), "win32"));
        assert!(!runs_on(&texts(&["macos"]), "linux"));
        assert!(!runs_on(&texts(&["solaris"]), "linux"));
    }

    #[test]
    fn surroundings_that_cannot_be_tested_count_as_present() {
        assert!(fits(&[], &[]));
        assert!(fits(&texts(&["quantum"]), &[]));
        assert!(fits(&texts(&["s6", "quantum"]), &[]));
        assert!(!fits(&texts(&["docker"]), &[]));
        assert!(fits(&texts(&["docker", "s6"]), &["s6"]));
    }
}

//! Which files of a project speak to the agent, and where they are looked for.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The kinds of files, the one that wins first; the names of each, likewise.
const KINDS: [&[&str]; 4] = [
    &[".hermes.md", "HERMES.md"],
    &["AGENTS.md", "agents.md"],
    &["CLAUDE.md", "claude.md"],
    &[".cursorrules"],
];
/// Where the rules of the last kind lie, one file each.
const RULES: &str = ".cursor/rules";
/// How many of them are read.
const MAX_RULES: usize = 32;

/// Where files are looked for: a folder, and those above it up to the root of its repository.
#[derive(Debug)]
pub(super) struct Project {
    /// The working directory first, the root last.
    folders: Vec<PathBuf>,
    root: PathBuf,
}

/// A file that may be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// What it is called in prompts and warnings.
    pub(super) name: String,
    /// Whether a YAML head is for other programs.
    pub(super) has_head: bool,
}

impl Project {
    /// Finds the root of the repository that `working` lies in; outside of one it is its own root.
    ///
    /// # Errors
    ///
    /// If the folder is not there.
    pub(super) fn of(working: &Path) -> io::Result<Self> {
        let working = fs::canonicalize(working)?;
        if !working.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let root = working.ancestors().find(|folder| folder.join(".git").exists());
        let root = root.unwrap_or(&working).to_path_buf();
        let is_inside = |folder: &&Path| folder.starts_with(&root);
        let folders = working.ancestors().take_while(is_inside).map(Path::to_path_buf).collect();
        Ok(Self { folders, root })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn working(&self) -> &Path {
        self.folders.first().unwrap_or(&self.root)
    }

    /// Returns groups of candidates in the order in which they win: by kind, then the nearest
    /// folder. The files of a group belong together.
    pub(super) fn groups(&self) -> impl Iterator<Item = Vec<Candidate>> {
        let kinds = KINDS.into_iter();
        kinds.flat_map(move |names| {
            let folders = self.folders.iter().enumerate();
            folders.flat_map(move |(up, folder)| groups(folder, &"../".repeat(up), names))
        })
    }
}

/// Returns the candidates within `folder`, the one that wins first. `shown` is its path for people.
pub(super) fn within(folder: &Path, shown: &str) -> Vec<Candidate> {
    let names = KINDS.into_iter().flatten();
    names.map(|name| Candidate::new(folder, shown, name)).collect()
}

fn groups(folder: &Path, shown: &str, names: &'static [&'static str]) -> Vec<Vec<Candidate>> {
    if names == [".cursorrules"] {
        let mut group = vec![Candidate::new(folder, shown, ".cursorrules")];
        group.extend(rules(folder).iter().map(|name| Candidate::new(folder, shown, name)));
        return vec![group];
    }
    names.iter().map(|name| vec![Candidate::new(folder, shown, name)]).collect()
}

/// Returns the paths of the rules below `folder`, sorted.
fn rules(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder.join(RULES)) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names
        .filter(|name| Path::new(name).extension().is_some_and(|it| it == "mdc"))
        .map(|name| format!("{RULES}/{name}"))
        .collect();
    names.sort();
    names.truncate(MAX_RULES);
    names
}

impl Candidate {
    fn new(folder: &Path, shown: &str, name: &str) -> Self {
        let has_head = matches!(name, ".hermes.md" | "HERMES.md");
        Self { path: folder.join(name), name: one_line(&format!("{shown}{name}")), has_head }
    }
}

/// Returns `text` without what would break a line: names on disk may hold anything.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { '?' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(project: &Project) -> Vec<Vec<String>> {
        project.groups().map(|group| group.into_iter().map(|it| it.name).collect()).collect()
    }

    #[test]
    fn the_kind_decides_and_then_the_nearest_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();

        let project = Project::of(&folder.path().join("a/b")).unwrap();

        let all = names(&project);
        assert_eq!(all.len(), 21);
        let first: Vec<&str> = all.iter().take(8).flatten().map(String::as_str).collect();
        assert_eq!(
            first,
            [
                ".hermes.md",
                "HERMES.md",
                "../.hermes.md",
                "../HERMES.md",
                "../../.hermes.md",
                "../../HERMES.md",
                "AGENTS.md",
                "agents.md"
            ]
        );
    }

    #[test]
    fn outside_of_a_repository_only_the_folder_itself_counts() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();

        let project = Project::of(&folder.path().join("a/b")).unwrap();

        assert_eq!(names(&project).len(), 7);
        assert!(Project::of(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_worktree_is_a_repository_as_well() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        crate::durable::replace(&folder.path().join(".git"), b"gitdir: elsewhere\n").unwrap();

        let project = Project::of(&folder.path().join("a")).unwrap();

        assert_eq!(project.root(), fs::canonicalize(folder.path()).unwrap());
    }

    #[test]
    fn rules_are_sorted_and_of_one_kind() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.mdc", "a.mdc", "c.md"] {
            crate::durable::replace(&folder.path().join(RULES).join(name), b"x").unwrap();
        }

        assert_eq!(rules(folder.path()), [".cursor/rules/a.mdc", ".cursor/rules/b.mdc"]);
    }
}

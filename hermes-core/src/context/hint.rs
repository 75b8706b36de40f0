//! What folders below the working directory say, beside the results of calls that go there.

use std::{
    collections::BTreeSet,
    fmt,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use serde_json::Value;

use super::{
    find::{Project, one_line, within},
    section::{aside, taken},
};
use crate::{message::Call, prompt::Section, threat::Scanner, tool::Seen, version::Version};

/// Knows what belongs beside the result of a call.
#[async_trait]
pub(crate) trait ResultHint: fmt::Debug + Send + Sync {
    /// Returns the text to add to the result of `call`, blank for none, and what the host should
    /// know. What was shown before is in `seen`, and what is shown now is noted there.
    async fn hint(&self, call: &Call, seen: &Seen) -> Section;
}

/// The context files of folders, each shown once, when a call first goes there.
#[derive(Debug)]
pub(crate) struct FolderHints {
    working: PathBuf,
    scanner: Arc<dyn Scanner>,
}

/// The arguments that name a file or a folder.
const PATHS: [&str; 12] = [
    "path",
    "paths",
    "file",
    "files",
    "file_path",
    "filename",
    "dir",
    "directory",
    "folder",
    "cwd",
    "workdir",
    "root",
];
/// The arguments that hold a shell command, any word of which may be a path.
const COMMANDS: [&str; 3] = ["command", "cmd", "script"];
/// Tools whose paths lie elsewhere than in the project.
const ELSEWHERE: [&str; 6] =
    ["memory", "session_search", "skill_view", "skill_manage", "skills_list", "delegate"];
/// How many paths of one call are followed.
const MAX_PATHS: usize = 32;
/// The longest text that is taken for a path, in bytes.
const MAX_PATH_BYTES: usize = 4_096;
/// How many folders above the one that is named are asked as well.
const MAX_ABOVE: usize = 5;
/// How many characters one folder may say.
const MAX_CHARS: usize = 8_000;
/// How many folders may speak beside one result; the others wait for the next call.
const MAX_HINTS: usize = 4;

impl FolderHints {
    pub(super) fn new(working: PathBuf, scanner: Arc<dyn Scanner>) -> Self {
        Self { working, scanner }
    }
}

#[async_trait]
impl ResultHint for FolderHints {
    async fn hint(&self, call: &Call, seen: &Seen) -> Section {
        if ELSEWHERE.contains(&&*call.name) {
            return Section::default();
        }
        let paths = call.arguments.parse().map(named_paths).unwrap_or_default();
        if paths.is_empty() {
            return Section::default();
        }
        let (working, scanner) = (self.working.clone(), Arc::clone(&self.scanner));
        let seen = seen.clone();
        aside(move || look(&working, &paths, &*scanner, &seen)).await
    }
}

/// Returns the texts in `arguments` that may be paths.
fn named_paths(arguments: &Value) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for (key, value) in arguments.as_object().into_iter().flatten() {
        let is_command = COMMANDS.contains(&key.as_str());
        if !is_command && !PATHS.contains(&key.as_str()) {
            continue;
        }
        let texts = match value {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        for text in texts.iter().filter_map(Value::as_str) {
            if is_command {
                paths.extend(words(text).map(str::to_owned).take(MAX_PATHS));
            } else {
                paths.insert(text.to_owned());
            }
        }
    }
    paths.retain(|path| !path.is_empty() && path.len() <= MAX_PATH_BYTES);
    paths.into_iter().take(MAX_PATHS).collect()
}

/// Returns the words of a command that are no options.
fn words(command: &str) -> impl Iterator<Item = &str> {
    let ends_word = |it: char| it.is_whitespace() || "\"'`;&|<>()=:,$".contains(it);
    command.split(ends_word).filter(|word| !word.is_empty() && !word.starts_with('-'))
}

/// Reads what the folders of `paths` say that was not shown before.
fn look(working: &Path, paths: &BTreeSet<String>, scanner: &dyn Scanner, seen: &Seen) -> Section {
    let mut section = Section::default();
    let Ok(project) = Project::of(working) else { return section };
    let root = project.working();
    let named: BTreeSet<PathBuf> = paths.iter().filter_map(|it| inside(root, it)).collect();
    let mut asked = BTreeSet::new();
    let mut shown = 0;
    for path in &named {
        for folder in folders(root, path) {
            if shown == MAX_HINTS || !asked.insert(folder.clone()) {
                continue;
            }
            let before = section.text.len();
            speak(root, &folder, (&named, scanner, seen), &mut section);
            shown += usize::from(before < section.text.len());
        }
    }
    section
}

/// Adds what `folder` says to `section`, unless it was shown before.
fn speak(
    root: &Path,
    folder: &Path,
    (named, scanner, seen): (&BTreeSet<PathBuf>, &dyn Scanner, &Seen),
    section: &mut Section,
) {
    let relative = folder.strip_prefix(root).unwrap_or(folder).to_string_lossy();
    let shown = one_line(&relative);
    let key = format!("hint:{relative}");
    if seen.version(&key).is_some() {
        return;
    }
    let bounds = (Some(root), MAX_CHARS);
    let warned = section.warnings.len();
    for candidate in within(folder, &format!("{shown}/")) {
        let text = taken(&candidate, bounds, scanner, &mut section.warnings);
        let Some(text) = text else { continue };
        seen.note(key, Version::of(&text));
        // A call that names the file itself has its text already.
        if !named.contains(&candidate.path) {
            let name = &candidate.name;
            let parts = ["\n\n[", name, ", which holds for work in ", &shown, "]\n", &text];
            section.text.extend(parts);
        }
        return;
    }
    if warned < section.warnings.len() {
        // What is wrong is said once as well.
        seen.note(key, Version::of(""));
    }
}

/// Returns the place that `path` names if it is below `root`, without asking the disk.
fn inside(root: &Path, path: &str) -> Option<PathBuf> {
    let mut place = PathBuf::new();
    for part in root.join(path).components() {
        match part {
            Component::ParentDir => _ = place.pop(),
            Component::CurDir => {}
            other => place.push(other),
        }
    }
    (place.starts_with(root) && place != root).then_some(place)
}

/// Returns the folder that `path` is or lies in, if it is there, and those above it below `root`,
/// the nearest first.
fn folders(root: &Path, path: &Path) -> Vec<PathBuf> {
    let nearest = path.ancestors().find(|it| it.is_dir()).unwrap_or(root);
    // A link must not lead out of the project.
    let Ok(nearest) = nearest.canonicalize() else { return Vec::new() };
    let below = |it: &&Path| it.starts_with(root) && *it != root;
    nearest.ancestors().take_while(below).take(MAX_ABOVE + 1).map(Path::to_path_buf).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(arguments: &Value, expected: &[&str]) {
        let found = named_paths(arguments);

        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn paths_are_found_where_tools_have_them() {
        check(&json!({"path": "a/b.rs", "content": "c/d.rs"}), &["a/b.rs"]);
        check(&json!({"paths": ["b", "a"], "file_path": 7}), &["a", "b"]);
        check(&json!({"command": "cat -n 'a/b c' > out"}), &["a/b", "c", "cat", "out"]);
        check(&json!({"path": "x".repeat(5_000)}), &[]);
        check(&json!(["path"]), &[]);
    }

    #[test]
    fn no_path_leads_out_of_the_project() {
        let root = Path::new("/work/p");

        assert_eq!(inside(root, "a/./b"), Some(PathBuf::from("/work/p/a/b")));
        assert_eq!(inside(root, "a/../../q/x"), None);
        assert_eq!(inside(root, "/etc/passwd"), None);
        assert_eq!(inside(root, "/work/p/a"), Some(PathBuf::from("/work/p/a")));
        assert_eq!(inside(root, "."), None);
    }
}

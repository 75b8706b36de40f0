//! A home folder as a case describes it, and what became of its files.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::{check::Checks, read::Node};

/// A temporary home, and copies of its files at certain moments.
pub(crate) struct Home {
    folder: TempDir,
    start: Tree,
    after_step: HashMap<usize, Tree>,
}

/// Everything below a folder: type, and bytes or link target.
type Tree = BTreeMap<PathBuf, (char, Vec<u8>)>;

impl Home {
    /// Sets up what `setup` describes: files, bytes, links and modes.
    pub(crate) fn set_up(setup: Option<&Node<'_>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["memories", "skills"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        if let Some(setup) = setup {
            for (path, text) in setup.opt("files").iter().flat_map(Node::entries) {
                write(&root.join(path), text.str().as_bytes());
            }
            for (path, text) in setup.opt("files_b64").iter().flat_map(Node::entries) {
                write(&root.join(path), &base64(text.str()));
            }
            for (path, target) in setup.opt("symlinks").iter().flat_map(Node::entries) {
                link(&root.join(path), target.str());
            }
            for (path, mode) in setup.opt("modes").iter().flat_map(Node::entries) {
                set_mode(&root.join(path), &mode);
            }
            let agent_made: Vec<&str> = setup
                .opt("provenance")
                .iter()
                .flat_map(Node::entries)
                .filter(|(_, by)| by.str() == "agent")
                .map(|(skill, _)| skill)
                .collect();
            write_provenance(root, &agent_made);
        }
        let start = tree(root);
        Self { folder, start, after_step: HashMap::new() }
    }

    /// Returns the path of the home.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file behind everybody's back.
    pub(crate) fn external_write(&self, path: &str, bytes: &[u8]) {
        write(&self.path().join(path), bytes);
    }

    /// Removes a file or folder behind everybody's back.
    pub(crate) fn external_delete(&self, path: &str) {
        let path = self.path().join(path);
        if fs::symlink_metadata(&path).is_ok_and(|it| it.is_dir()) {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    /// Keeps a copy of everything, as it is after a step.
    pub(crate) fn remember(&mut self, step: usize) {
        self.after_step.insert(step, tree(self.folder.path()));
    }

    /// Checks every expectation about files.
    pub(crate) fn check(&self, expect: &Node<'_>, checks: &mut Checks) {
        for (path, text) in expect.opt("files").iter().flat_map(Node::entries) {
            let actual = fs::read(self.path().join(path)).ok();
            let actual = actual.map(|it| String::from_utf8_lossy(&it).into_owned());
            checks.that(actual.as_deref() == text.opt_str(), format!("{path} is {actual:?}"));
        }
        for (path, texts) in expect.opt("files_contain").iter().flat_map(Node::entries) {
            let actual = fs::read(self.path().join(path)).ok();
            let actual = actual.map(|it| String::from_utf8_lossy(&it).into_owned());
            let holds = actual
                .as_ref()
                .is_some_and(|it| texts.strings().iter().all(|part| it.contains(part)));
            checks.that(holds, format!("{path} is {actual:?}"));
        }
        let is_there = |path: &str| fs::symlink_metadata(self.path().join(path)).is_ok();
        for path in expect.opt("exists").iter().flat_map(Node::strings) {
            checks.that(is_there(path), format!("{path} is not there"));
        }
        for path in expect.opt("absent").iter().flat_map(Node::strings) {
            checks.that(!is_there(path), format!("{path} is there"));
        }
        if let Some(path) = expect.opt("is_symlink") {
            let metadata = fs::symlink_metadata(self.path().join(path.str()));
            let is_link = metadata.is_ok_and(|it| it.is_symlink());
            checks.that(is_link, format!("{} is no link", path.str()));
        }
        for (path, mode) in expect.opt("mode").iter().flat_map(Node::entries) {
            let actual = mode_of(&self.path().join(path));
            checks.that(actual == octal(&mode), format!("{path} has mode {actual:o}"));
        }
        self.check_unchanged(expect, checks);
    }

    fn check_unchanged(&self, expect: &Node<'_>, checks: &mut Checks) {
        let now = tree(self.path());
        if let Some(since) = expect.opt("file_unchanged_since_step") {
            let path = Path::new(since.opt("path").map(|it| it.str()).unwrap_or_default());
            let step = since.opt("step").map(|it| it.usize()).unwrap_or_default();
            let then = self.after_step.get(&step).and_then(|it| it.get(path));
            let holds = then.is_some() && then == now.get(path);
            checks.that(holds, format!("{} has changed since step {step}", path.display()));
        }
        if let Some(path) = expect.opt("file_bytes_unchanged") {
            let path = Path::new(path.str());
            let holds = self.start.contains_key(path) && self.start.get(path) == now.get(path);
            checks.that(holds, format!("{} has changed", path.display()));
        }
        if let Some(folder) = expect.opt("nothing_written_outside") {
            let outside = |tree: &Tree| -> Tree {
                let is_outside = |path: &Path| {
                    !path.starts_with(folder.str())
                        && !path.starts_with("skills/.journal")
                        && path.extension().is_none_or(|it| it != "lock")
                };
                tree.iter()
                    .filter(|(path, _)| is_outside(path))
                    .map(|(p, v)| (p.clone(), v.clone()))
                    .collect()
            };
            let (before, after) = (outside(&self.start), outside(&now));
            checks.that(before == after, format!("written outside {}", folder.str()));
        }
    }
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Marks skills as made by the agent, in the original's usage file.
fn write_provenance(root: &Path, skills: &[&str]) {
    if skills.is_empty() {
        return;
    }
    let record = serde_json::json!({
        "created_by": "agent", "use_count": 0, "view_count": 0, "patch_count": 0,
        "last_used_at": null, "last_viewed_at": null, "last_patched_at": null,
        "created_at": "2026-01-01T00:00:00.000000+00:00", "state": "active", "pinned": false,
        "archived_at": null,
    });
    let all: BTreeMap<&str, _> = skills.iter().map(|skill| (*skill, &record)).collect();
    let text = serde_json::to_string_pretty(&all).unwrap();
    write(&root.join("skills/.usage.json"), text.as_bytes());
}

fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap().file_type();
            let inside = path.strip_prefix(root).unwrap().to_path_buf();
            let entry = if kind.is_symlink() {
                ('l', fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
            } else if kind.is_dir() {
                folders.push(path);
                ('d', Vec::new())
            } else {
                ('f', fs::read(&path).unwrap_or_default())
            };
            tree.insert(inside, entry);
        }
    }
    tree
}

fn octal(mode: &Node<'_>) -> u32 {
    let text = mode.whole().as_str().map_or_else(|| mode.whole().to_string(), str::to_owned);
    u32::from_str_radix(text.trim_start_matches("0o"), 8).unwrap()
}

#[cfg(unix)]
fn link(path: &Path, target: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(target, path).unwrap();
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: &Node<'_>) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(octal(mode))).unwrap();
}

#[cfg(unix)]
fn mode_of(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).map(|it| it.permissions().mode() & 0o7777).unwrap_or_default()
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held) = (0_u32, 0_u32);
    let mut bytes = Vec::new();
    for digit in text.bytes().filter_map(|byte| DIGITS.iter().position(|it| *it == byte)) {
        held = (held << 6) | u32::try_from(digit).unwrap();
        bits += 6;
        if 8 <= bits {
            bits -= 8;
            bytes.push(u8::try_from((held >> bits) & 0xFF).unwrap());
        }
    }
    bytes
}

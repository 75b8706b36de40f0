//! Where the skills of a folder lie: one walk that everything else goes by.

use std::{
    collections::{HashSet, VecDeque},
    fs, io,
    path::{Path, PathBuf},
};

use hermes_core::skill::{SkillName, SkillWarning};

use crate::index::{EXCLUDED_FOLDERS, Folder};

/// The name of the file that makes a folder a skill.
pub(super) const MAIN_FILE: &str = "SKILL.md";

/// The name of the file that says what a category is about.
const CATEGORY_FILE: &str = "DESCRIPTION.md";

/// The most folders that are looked into, so that a link to a disk ends.
const MAX_FOLDERS: usize = 20_000;

/// How deep skills may lie below the root.
const MAX_DEPTH: usize = 16;

/// A folder with a `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The folder's name.
    pub(super) name: SkillName,
    /// The folder relative to its root, with `/` between the parts.
    pub(super) path: String,
    /// The folder.
    pub(super) folder: PathBuf,
    /// The folder with all links followed.
    pub(super) real: PathBuf,
    /// Whose it is.
    pub(super) access: Access,
}

/// Whether a skill can be changed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// It lies in the skills folder itself.
    Own,
    /// It is reached through a link.
    Linked,
    /// It lies in a folder that was added for reading only.
    External,
}

impl Place {
    /// Returns the path of the category, `None` directly below the root.
    pub(super) fn category(&self) -> Option<&str> {
        self.path.rsplit_once('/').map(|(category, _)| category)
    }
}

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The skills, sorted by path; those of the first root come first.
    pub(super) places: Vec<Place>,
    /// The files that say what a category is about, with the category's path.
    pub(super) categories: Vec<(String, PathBuf)>,
    /// Folders that could not be read, and why.
    pub(super) warnings: Vec<SkillWarning>,
}

impl Survey {
    /// Walks `root`, and then the folders that were added for reading only.
    pub(super) fn of(root: &Path, external: &[PathBuf]) -> io::Result<Self> {
        let mut walk = Walk::default();
        walk.run(root, Access::Own)?;
        for folder in external {
            let shown = folder.display().to_string();
            if let Err(err) = walk.run(folder, Access::External) {
                walk.survey.warnings.push(SkillWarning::new(shown, err.to_string()));
            }
        }
        Ok(walk.survey)
    }

    /// Returns the skills whose folder is called `name`.
    pub(super) fn called(&self, name: &str) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(move |place| place.name.as_str() == name)
    }

    /// Returns whether a skill lies below the folder at `path`.
    pub(super) fn has_below(&self, path: &str) -> bool {
        let prefix = format!("{path}/");
        self.places.iter().any(|it| it.access != Access::External && it.path.starts_with(&prefix))
    }
}

/// A folder still to be looked into.
#[derive(Debug)]
struct Stop {
    folder: PathBuf,
    real: PathBuf,
    path: String,
    depth: usize,
    kind: Folder,
    access: Access,
}

#[derive(Debug, Default)]
struct Walk {
    survey: Survey,
    /// Folders that were looked into, links followed: none is entered twice, so circles end.
    seen: HashSet<PathBuf>,
    /// Links come after everything else, so that a skill counts where it really lies.
    links: VecDeque<Stop>,
}

impl Walk {
    fn run(&mut self, root: &Path, access: Access) -> io::Result<()> {
        let real = match root.canonicalize() {
            Ok(real) => real,
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(err) => return Err(err),
        };
        fs::read_dir(&real)?;
        let start = self.survey.places.len();
        self.seen.insert(real.clone());
        let kind = Folder::Category;
        let folder = root.to_path_buf();
        let mut stops = vec![Stop { folder, real, path: String::new(), depth: 0, kind, access }];
        while let Some(stop) = stops.pop() {
            self.look_into(&stop, &mut stops);
            if stops.is_empty() {
                stops.extend(self.next_link(root));
            }
        }
        let found = self.survey.places.split_off(start);
        self.keep(found);
        Ok(())
    }

    /// Adds what one root brought. A name that an earlier root has is hidden by it.
    fn keep(&mut self, mut found: Vec<Place>) {
        found.sort_by(|left, right| left.path.cmp(&right.path));
        found.retain(|place| self.survey.called(place.name.as_str()).next().is_none());
        self.survey.places.append(&mut found);
    }

    fn look_into(&mut self, stop: &Stop, stops: &mut Vec<Stop>) {
        let entries = match fs::read_dir(&stop.folder).and_then(Iterator::collect) {
            Ok(entries) => entries,
            Err(err) => return self.warn(&stop.path, &err.to_string()),
        };
        let entries: Vec<fs::DirEntry> = entries;
        for entry in entries {
            let Ok(name) = entry.file_name().into_string() else {
                self.warn(&stop.path, "it has a name that is not Unicode");
                continue;
            };
            match name.as_str() {
                MAIN_FILE => self.add_place(stop),
                CATEGORY_FILE => {
                    self.survey.categories.push((stop.path.clone(), entry.path()));
                }
                _ => self.add_stop(stop, &entry, &name, stops),
            }
        }
    }

    fn add_place(&mut self, stop: &Stop) {
        if stop.path.is_empty() {
            return self
                .warn("", "a SKILL.md lies in the skills folder itself, in no skill's folder");
        }
        let name = stop.path.rsplit('/').next().unwrap_or_default();
        match SkillName::existing(name) {
            Ok(name) => self.survey.places.push(Place {
                name,
                path: stop.path.clone(),
                folder: stop.folder.clone(),
                real: stop.real.clone(),
                access: stop.access,
            }),
            Err(err) => self.warn(&stop.path, &err.to_string()),
        }
    }

    fn add_stop(&mut self, parent: &Stop, entry: &fs::DirEntry, name: &str, stops: &mut Vec<Stop>) {
        let Ok(kind) = entry.file_type() else { return };
        if !parent.kind.enters(name) || !(kind.is_dir() || kind.is_symlink()) {
            return;
        }
        let prefix = if parent.path.is_empty() { "" } else { "/" };
        let folder = entry.path();
        let mut stop = Stop {
            real: parent.real.join(name),
            path: format!("{}{prefix}{name}", parent.path),
            depth: parent.depth.saturating_add(1),
            kind: kind_of(&folder),
            access: parent.access,
            folder,
        };
        if kind.is_symlink() {
            if stop.access == Access::Own {
                stop.access = Access::Linked;
            }
            self.links.push_back(stop);
        } else if stop.depth <= MAX_DEPTH && self.seen.len() < MAX_FOLDERS {
            if self.seen.insert(stop.real.clone()) {
                stops.push(stop);
            }
        } else {
            self.warn(&stop.path, "it was not looked into: too deep, or too many folders");
        }
    }

    /// Returns the next link that leads to a folder not seen yet.
    fn next_link(&mut self, root: &Path) -> Option<Stop> {
        let root = root.canonicalize().ok()?;
        while let Some(mut stop) = self.links.pop_front() {
            let Ok(real) = stop.folder.canonicalize() else { continue };
            let is_put_away = real
                .strip_prefix(&root)
                .is_ok_and(|it| it.iter().any(|part| is_excluded(&part.to_string_lossy())));
            if !real.is_dir() || root.starts_with(&real) || is_put_away {
                continue;
            }
            if self.seen.insert(real.clone()) {
                stop.real = real;
                return Some(stop);
            }
        }
        None
    }

    fn warn(&mut self, place: &str, reason: &str) {
        self.survey.warnings.push(SkillWarning::new(place, reason));
    }
}

/// Returns whether the search for skills never enters a folder of that name.
pub(super) fn is_excluded(name: &str) -> bool {
    EXCLUDED_FOLDERS.contains(&name)
}

fn kind_of(folder: &Path) -> Folder {
    let is_skill = fs::symlink_metadata(folder.join(MAIN_FILE)).is_ok();
    if is_skill { Folder::Skill } else { Folder::Category }
}

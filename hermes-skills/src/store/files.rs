//! The files of one skill: where they are, and what they hold.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use hermes_core::{
    skill::{SkillError, SkillFile},
    version::Version,
};

use super::{backend, layout::Place};

/// The most bytes of a file that is read as text: 4 MiB.
const MAX_BYTES: u64 = 4 << 20;

/// The most files of a skill that are listed.
const MAX_FILES: usize = 1_000;

/// How deep files may lie below a skill's folder to be listed.
const MAX_DEPTH: usize = 8;

/// What a file holds.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) bytes: Vec<u8>,
    pub(super) version: Version,
}

impl Stored {
    /// Returns the bytes as text, `None` if they are not.
    pub(super) fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }
}

/// Returns where `file` of the skill at `place` is or would be.
///
/// Fails if the way there leads out of the skill's folder.
pub(super) fn locate(place: &Place, file: &SkillFile) -> Result<PathBuf, SkillError> {
    let path = place.folder.join(file.as_str());
    let escapes = || SkillError::Escapes { place: format!("{}/{file}", place.path) };
    let root = place.folder.canonicalize().map_err(backend)?;
    let existing = path.ancestors().find(|it| fs::symlink_metadata(it).is_ok());
    let existing = existing.ok_or_else(escapes)?.canonicalize().map_err(|_| escapes())?;
    if existing.starts_with(&root) { Ok(path) } else { Err(escapes()) }
}

/// Reads `file` of the skill at `place`, `None` if there is none.
pub(super) fn read(place: &Place, file: &SkillFile) -> Result<Option<Stored>, SkillError> {
    let path = locate(place, file)?;
    match fs::metadata(&path) {
        Ok(metadata) if !metadata.is_file() => {
            let reason = format!("{file} is not a file; name a file in it");
            return Err(SkillError::Invalid { reason });
        }
        Ok(metadata) if MAX_BYTES < metadata.len() => {
            let reason = format!("{file} is larger than {MAX_BYTES} bytes");
            return Err(SkillError::Invalid { reason });
        }
        Ok(_) => {}
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(err) => return Err(backend(err)),
    }
    let bytes = fs::read(&path).map_err(backend)?;
    let version = Version::of(&bytes);
    Ok(Some(Stored { bytes, version }))
}

/// Returns the supporting files of the skill at `place`, sorted.
pub(super) fn list(place: &Place) -> Vec<SkillFile> {
    let mut files = Vec::new();
    for folder in SkillFile::FOLDERS {
        collect(place, folder, MAX_DEPTH, &mut files);
    }
    files.sort();
    files
}

fn collect(place: &Place, path: &str, depth: usize, files: &mut Vec<SkillFile>) {
    let Ok(entries) = fs::read_dir(place.folder.join(path)) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Ok(kind) = entry.file_type() else { continue };
        let path = format!("{path}/{name}");
        if MAX_FILES <= files.len() {
            return;
        }
        if is_unfinished(&name) {
            continue;
        }
        if kind.is_dir() && 0 < depth {
            collect(place, &path, depth.saturating_sub(1), files);
        } else if (kind.is_file() || (kind.is_symlink() && entry.path().is_file()))
            && let Ok(file) = path.parse::<SkillFile>()
            && locate(place, &file).is_ok()
        {
            files.push(file);
        }
    }
}

/// Returns whether a file of that name is one that was never finished; see [`durable`].
///
/// [`durable`]: hermes_core::durable
fn is_unfinished(name: &str) -> bool {
    name.starts_with(".hermes-") && Path::new(name).extension().is_some_and(|it| it == "tmp")
}

/// Removes from `folder` what a killed process did not finish. Nobody else may be writing there.
pub(super) fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_unfinished(&entry.file_name().to_string_lossy()) {
            // A leftover is no harm, only litter.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns the permission bits of the file at `path`, where the system has them.
pub(super) fn mode(path: &Path) -> Option<u32> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).ok().map(|it| it.permissions().mode() & 0o7777)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Sets the permission bits of the file at `path`, where the system has them.
pub(super) fn set_mode(path: &Path, mode: Option<u32>) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(mode) = mode {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    let _ = (path, mode);
    Ok(())
}

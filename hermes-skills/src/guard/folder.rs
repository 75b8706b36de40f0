//! A skill folder as a value.

use std::{
    fmt::Write as _,
    fs,
    io::{self, Read as _},
    path::{Component, Path},
};

use sha2::{Digest, Sha256};

/// A skill folder: its files and links, by path.
///
/// # Examples
///
/// ```
/// use hermes_skills::guard::Folder;
///
/// let folder = Folder::new().file("SKILL.md", "text").file("notes/a.md", "text");
///
/// assert_eq!(folder.entries().len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    entries: Vec<Entry>,
}

/// A file or link in a [`Folder`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// Relative to the folder, with `/`.
    pub path: String,
    /// What it holds.
    pub content: Content,
    /// Whether its owner may execute it.
    pub is_executable: bool,
}

/// What an [`Entry`] holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// The bytes of a file.
    Bytes(Vec<u8>),
    /// A file that was not read.
    Unread(Unread),
    /// A symbolic link.
    Link(Link),
}

/// Why a file was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unread {
    /// It is larger than [`Folder::FILE_MAX`]; with its length in bytes.
    TooLarge(u64),
    /// The files before it took up [`Folder::TOTAL_MAX`]; with its length in bytes.
    NoRoom(u64),
    /// It is no file but a pipe, a socket or a device.
    NoFile,
}

/// Where a symbolic link leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Link {
    /// To something in the folder.
    Inside,
    /// Out of the folder, whether there is something at that place or not.
    Outside,
    /// To a place in the folder where nothing is, or in a circle.
    Broken,
}

impl Folder {
    /// The largest file that is read, in bytes.
    pub const FILE_MAX: u64 = 16 * 1024 * 1024;
    /// How much is read of all files together, in bytes.
    pub const TOTAL_MAX: u64 = 256 * 1024 * 1024;
    /// How many files and folders are looked at.
    const ENTRIES_MAX: usize = 10_000;

    /// Creates an empty folder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file that is not executable; `path` is relative, with `/`.
    #[must_use]
    pub fn file(self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        let content = Content::Bytes(bytes.into());
        self.entry(Entry { path: path.into(), content, is_executable: false })
    }

    /// Adds a file that its owner may execute; `path` is relative, with `/`.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_skills::guard::{self, Folder, Unread};
    ///
    /// let folder = Folder::new()
    ///     .file("SKILL.md", "Runs tool.\n")
    ///     .executable("tool", b"\0\x01\x02".as_slice())
    ///     .unread("model.bin", Unread::TooLarge(1 << 30));
    ///
    /// let report = guard::scan(&folder);
    ///
    /// let ids: Vec<_> = report.findings.iter().map(|it| it.id.as_ref()).collect();
    /// assert_eq!(ids, ["oversized_skill", "unread_file", "executable_data"]);
    /// ```
    #[must_use]
    pub fn executable(self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        let content = Content::Bytes(bytes.into());
        self.entry(Entry { path: path.into(), content, is_executable: true })
    }

    /// Adds a file whose bytes are not at hand, and why.
    #[must_use]
    pub fn unread(self, path: impl Into<String>, why: Unread) -> Self {
        let content = Content::Unread(why);
        self.entry(Entry { path: path.into(), content, is_executable: false })
    }

    /// Adds a link.
    #[must_use]
    pub fn link(self, path: impl Into<String>, link: Link) -> Self {
        let content = Content::Link(link);
        self.entry(Entry { path: path.into(), content, is_executable: false })
    }

    fn entry(mut self, entry: Entry) -> Self {
        let place = self.entries.partition_point(|before| before.path <= entry.path);
        self.entries.insert(place, entry);
        self
    }

    /// Reads the folder at `root`. Links are not followed.
    ///
    /// Files of more than [`FILE_MAX`](Self::FILE_MAX), those that come after
    /// [`TOTAL_MAX`](Self::TOTAL_MAX) was read, pipes and devices are [`Content::Unread`], for which
    /// a scan has a finding. Blocks on the disk; call it from a blocking task.
    ///
    /// # Errors
    ///
    /// Fails if a file or folder cannot be read, or if there are more than ten thousand of them:
    /// what has not been looked at must not be called safe.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_skills::guard::Folder;
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let place = std::env::temp_dir().join(format!("folder-read-{}", std::process::id()));
    /// std::fs::create_dir_all(place.join("scripts"))?;
    /// std::fs::write(place.join("SKILL.md"), "# Tidy\n")?;
    /// std::fs::write(place.join("scripts/tidy.sh"), "ls\n")?;
    ///
    /// let folder = Folder::read(&place)?;
    ///
    /// let paths: Vec<&str> = folder.entries().iter().map(|it| it.path.as_str()).collect();
    /// assert_eq!(paths, ["SKILL.md", "scripts/tidy.sh"]);
    /// # std::fs::remove_dir_all(&place)
    /// # }
    /// ```
    pub fn read(root: &Path) -> io::Result<Self> {
        let real_root = fs::canonicalize(root)?;
        let mut folder = Self::default();
        let mut pending = vec![(real_root.clone(), String::new())];
        let mut seen = 0;
        let mut left = Self::TOTAL_MAX;
        while let Some((place, prefix)) = pending.pop() {
            for child in fs::read_dir(&place)? {
                let child = child?;
                seen += 1;
                if Self::ENTRIES_MAX < seen {
                    return Err(io::Error::other("the folder holds too many files"));
                }
                let path = format!("{prefix}{}", child.file_name().to_string_lossy());
                if child.file_type()?.is_dir() {
                    pending.push((child.path(), format!("{path}/")));
                } else {
                    let entry = read_entry((&child.path(), path), &real_root, &mut left)?;
                    folder.entries.push(entry);
                }
            }
        }
        folder.entries.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(folder)
    }

    /// Returns the entries, by path in byte order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the hash of the contents as `sha256:` and 64 hexadecimal digits: of every file, in
    /// byte order of the paths, its path, a NUL and its bytes.
    ///
    /// This is how lock files of hermes-agent name the contents of a skill. Links, files that were
    /// not read and the right to execute are left out, and nothing says where a file ends, so that
    /// whoever makes folders can make two of one hash: compare it to notice that a skill has
    /// changed, and not to trust a folder that is not your own.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for Entry { path, content, .. } in &self.entries {
            let Content::Bytes(bytes) = content else { continue };
            hasher.update(path.as_bytes());
            hasher.update([0]);
            hasher.update(bytes);
        }
        let mut hash = String::from("sha256:");
        for byte in hasher.finalize() {
            let _ = write!(hash, "{byte:02x}");
        }
        hash
    }
}

/// Reads the file or link at `place`, which is `path` in the folder, and takes what it holds from
/// what is `left` to be read.
fn read_entry((place, path): (&Path, String), root: &Path, left: &mut u64) -> io::Result<Entry> {
    let metadata = fs::symlink_metadata(place)?;
    let content = if metadata.is_symlink() {
        Content::Link(match fs::canonicalize(place) {
            Ok(target) if target.starts_with(root) => Link::Inside,
            Ok(_) => Link::Outside,
            Err(_) if climbs(&fs::read_link(place)?, &path) => Link::Outside,
            Err(_) => Link::Broken,
        })
    } else if !metadata.is_file() {
        Content::Unread(Unread::NoFile)
    } else {
        read_file(place, metadata.len(), left)?
    };
    Ok(Entry { path, content, is_executable: !metadata.is_symlink() && is_executable(&metadata) })
}

/// Reads a file of that `length`. If it grows meanwhile, no more than may be read is.
fn read_file(place: &Path, length: u64, left: &mut u64) -> io::Result<Content> {
    if Folder::FILE_MAX < length {
        return Ok(Content::Unread(Unread::TooLarge(length)));
    }
    if *left < length {
        return Ok(Content::Unread(Unread::NoRoom(length)));
    }
    let mut bytes = Vec::new();
    let most = Folder::FILE_MAX.min(*left);
    fs::File::open(place)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    let read = bytes.len() as u64;
    if most < read {
        return Ok(Content::Unread(Unread::TooLarge(read)));
    }
    *left -= read;
    Ok(Content::Bytes(bytes))
}

/// Returns whether the `target` of a link at `path` is out of the folder by its spelling: what it
/// leads to may be missing here and be there on another machine.
fn climbs(target: &Path, path: &str) -> bool {
    let mut depth = path.matches('/').count();
    target.components().any(|part| match part {
        Component::Prefix(_) | Component::RootDir => true,
        Component::CurDir => false,
        Component::Normal(_) => {
            depth += 1;
            false
        }
        Component::ParentDir => match depth.checked_sub(1) {
            Some(up) => {
                depth = up;
                false
            }
            None => true,
        },
    })
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &fs::Metadata) -> bool {
    false
}

//! Files that survive a crash: atomic replacement and advisory locks.
//!
//! Everything here blocks; async callers use [`tokio::task::spawn_blocking`].

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use tempfile::Builder;

/// Replaces the file at `path` by one with `bytes`, or creates it, whole or not at all.
///
/// A symbolic link stays and its target is replaced. The mode of an existing file is kept; a new one
/// is readable by its owner only. The bytes and the folder's entry are flushed to the disk before it
/// returns. Missing folders are created.
///
/// # Errors
///
/// Any error of the file system; the old content is untouched then.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = resolve_link(path)?;
    let folder = target.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_folders(folder)?;
    let mut temporary = Builder::new().prefix(".hermes-").suffix(".tmp").tempfile_in(folder)?;
    temporary.write_all(bytes)?;
    if let Ok(metadata) = fs::metadata(&target) {
        temporary.as_file().set_permissions(metadata.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|err| err.error)?;
    sync_folder(folder)
}

/// Returns the bytes of the file at `path`, of which there may be at most `max_bytes`. Links are followed.
///
/// # Errors
///
/// Any error of the file system; [`io::ErrorKind::InvalidInput`] if it is no plain file, for pipes and
/// devices are waited for without end; [`io::ErrorKind::FileTooLarge`] if it is too long.
pub fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    check_plain(path)?;
    let mut bytes = Vec::new();
    File::open(path)?.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if max_bytes < u64::try_from(bytes.len()).unwrap_or(u64::MAX) {
        let reason = format!("it has more than {max_bytes} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(bytes)
}

fn check_plain(path: &Path) -> io::Result<()> {
    if fs::metadata(path)?.is_file() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"))
}

/// Creates `folder` and those above it where they are missing, and flushes them to the disk.
fn create_folders(folder: &Path) -> io::Result<()> {
    let missing = folder.ancestors().take_while(|it| !it.as_os_str().is_empty() && !it.exists());
    let missing: Vec<&Path> = missing.collect();
    fs::create_dir_all(folder)?;
    for folder in missing.into_iter().filter_map(Path::parent) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        sync_folder(folder)?;
    }
    Ok(())
}

/// Flushes the entries of `folder` to the disk, after files in it were made, moved or removed.
///
/// # Errors
///
/// Any error of the file system. Where folders cannot be flushed it does nothing.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Follows `path` as long as it is a symbolic link, up to 40 links.
fn resolve_link(path: &Path) -> io::Result<PathBuf> {
    const MAX_LINKS: usize = 40;
    let mut target = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "too many symbolic links"))
}

/// An exclusive advisory lock on a file, released when it is dropped.
///
/// The lock file is never removed, so that every process locks the same one.
#[derive(Debug)]
#[must_use = "the lock is released when it is dropped"]
pub struct FileLock {
    /// Held for its drop, which closes the file and so releases the lock.
    _file: File,
}

impl FileLock {
    const PAUSE: Duration = Duration::from_millis(5);

    /// Locks the file at `path`, creating it and its folder, and waits up to `patience` for others.
    ///
    /// # Errors
    ///
    /// - [`io::ErrorKind::TimedOut`] if somebody holds it for longer.
    /// - Any error of the file system.
    pub fn acquire(path: &Path, patience: Duration) -> io::Result<Self> {
        let deadline = Instant::now().checked_add(patience);
        loop {
            if let Some(lock) = Self::try_acquire(path)? {
                return Ok(lock);
            }
            if deadline.is_some_and(|it| it <= Instant::now()) {
                let message = format!("{} is locked by another process", path.display());
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            thread::sleep(Self::PAUSE);
        }
    }

    /// Locks the file at `path`, creating it and its folder, and returns `None` if somebody holds it.
    ///
    /// # Errors
    ///
    /// Any error of the file system.
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        match check_plain(path) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => return Err(err),
            _ => {}
        }
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(err)) => Err(err),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_much_of_a_plain_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        replace(&path, b"four").unwrap();

        assert_eq!(read(&path, 4).unwrap(), b"four");
        assert_eq!(read(&path, 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(folder.path(), 9).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let missing = read(&folder.path().join("b.txt"), 9).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_neither_read_nor_locked() {
        let device = Path::new("/dev/zero");

        assert_eq!(read(device, 9).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(FileLock::try_acquire(device).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_replaced_file_has_the_new_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.txt");

        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();

        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_its_target_keeps_its_mode() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        replace(&target, b"old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o755)).unwrap();
        symlink("target", &link).unwrap();

        replace(&link, b"new").unwrap();

        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[cfg(unix)]
    #[test]
    fn a_failed_write_leaves_the_old_content_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (file, taken) = (folder.path().join("file"), folder.path().join("taken"));
        replace(&file, b"old").unwrap();
        fs::create_dir(&taken).unwrap();

        replace(&taken, b"new").unwrap_err();
        replace(&file.join("below"), b"new").unwrap_err();

        assert_eq!(fs::read(&file).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_circle_of_links_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("link", &link).unwrap();

        assert!(replace(&link, b"x").is_err());
    }

    #[test]
    fn a_held_lock_is_not_given_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.lock");
        let held = FileLock::acquire(&path, Duration::ZERO).unwrap();

        assert!(FileLock::try_acquire(&path).unwrap().is_none());
        let err = FileLock::acquire(&path, Duration::from_millis(10)).unwrap_err();
        assert_eq!(err.kind(), io::ErrorKind::TimedOut);

        drop(held);
        assert!(FileLock::try_acquire(&path).unwrap().is_some());
    }
}

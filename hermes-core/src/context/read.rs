//! Reads one context file, or says why not.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

/// The largest file that is read, in bytes.
pub(super) const MAX_BYTES: u64 = 1 << 20;

/// Returns the text at `path`, `None` if nothing is there, or the reason why it cannot be taken.
///
/// A link may lead to a file within `root` only, if there is a root: a project must not be able to
/// bring the files of its user into a prompt.
pub(super) fn read(path: &Path, root: Option<&Path>) -> Result<Option<String>, String> {
    if let Err(err) = fs::symlink_metadata(path) {
        let is_absent =
            matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        return if is_absent { Ok(None) } else { Err(unreadable(&err)) };
    }
    // Asked before it is opened: opening a pipe would wait for a writer.
    let metadata = fs::metadata(path).map_err(|err| unreadable(&err))?;
    if !metadata.is_file() {
        return Err("it is not a file".to_owned());
    }
    if let Some(root) = root {
        let target = fs::canonicalize(path).map_err(|err| unreadable(&err))?;
        if !target.starts_with(root) {
            return Err("it is a link that leads out of the project".to_owned());
        }
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|err| unreadable(&err))?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|err| unreadable(&err))?;
    if MAX_BYTES < u64::try_from(bytes.len()).unwrap_or(u64::MAX) {
        return Err(format!("it is larger than {MAX_BYTES} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    Ok(Some(plain(&text)))
}

fn unreadable(err: &io::Error) -> String {
    format!("it cannot be read: {err}")
}

/// Returns `text` without byte order mark and control characters, its lines ended by LF.
fn plain(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    text.chars().filter(|it| !it.is_control() || matches!(it, '\n' | '\t')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: Result<&str, &str>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("AGENTS.md");
        crate::durable::replace(&path, bytes).unwrap();

        match (read(&path, None), expected) {
            (Ok(text), Ok(expected)) => assert_eq!(text.as_deref(), Some(expected)),
            (Err(reason), Err(part)) => assert!(reason.contains(part), "{reason}"),
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn marks_and_line_ends_of_other_systems_are_dropped() {
        check("\u{feff}a\r\nb\0\tc\u{7}".as_bytes(), Ok("a\nb\tc"));
        check(b"", Ok(""));
    }

    #[test]
    fn what_is_no_text_or_too_long_has_a_reason() {
        check(b"caf\xe9", Err("UTF-8"));
        check(&vec![b'a'; 1 << 20], Ok(&"a".repeat(1 << 20)));
        check(&vec![b'a'; (1 << 20) + 1], Err("larger"));
    }

    #[test]
    fn what_is_not_there_is_nothing() {
        let folder = tempfile::tempdir().unwrap();

        assert_eq!(read(&folder.path().join("AGENTS.md"), None), Ok(None));
        assert!(read(folder.path(), None).unwrap_err().contains("not a file"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_within_the_root_only() {
        use std::os::unix::fs::symlink;

        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = fs::canonicalize(folder.path()).unwrap();
        crate::durable::replace(&root.join("AGENTS.md"), b"rules").unwrap();
        crate::durable::replace(&other.path().join("key"), b"private").unwrap();
        symlink("AGENTS.md", root.join("inside")).unwrap();
        symlink(other.path().join("key"), root.join("outside")).unwrap();
        symlink("circle", root.join("circle")).unwrap();
        symlink("nothing", root.join("dangling")).unwrap();

        assert_eq!(read(&root.join("inside"), Some(&root)), Ok(Some("rules".to_owned())));
        assert!(read(&root.join("outside"), Some(&root)).unwrap_err().contains("out of the"));
        assert_eq!(read(&root.join("outside"), None), Ok(Some("private".to_owned())));
        assert!(read(&root.join("circle"), Some(&root)).is_err());
        assert!(read(&root.join("dangling"), Some(&root)).is_err());
    }
}

//! Where results go that are too long for the model.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use async_trait::async_trait;

use crate::{durable, version::Version};

/// Keeps results that are too long for the model, so that it can read the part it needs.
///
/// The loop asks it about results over
/// [`max_result_chars`](crate::agent::AgentBuilder::max_result_chars); the model is shown the
/// beginning, the end, and where the whole is. Implement it where the agent's tools read files
/// elsewhere than on this machine; [`SpillFolder`] is for those that read them here.
///
/// # Contract
///
/// - **Readable.** The tools of the agent can read what was kept, at the place that is returned.
/// - **Told.** What cannot be kept is an error. The result is then cut, and the host warned.
/// - **Stable.** The same content gives the same place, so that a repeated result is seen to be one.
#[async_trait]
pub trait ResultSpill: fmt::Debug + Send + Sync {
    /// Keeps `content`, a result of `tool`, and returns where it can be read, for the model: a path.
    ///
    /// # Errors
    ///
    /// Any, if it cannot be kept.
    async fn spill(&self, tool: &str, content: &str) -> io::Result<String>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<S: ResultSpill + ?Sized> ResultSpill for Arc<S> {
    async fn spill(&self, tool: &str, content: &str) -> io::Result<String> {
        (**self).spill(tool, content).await
    }
}

/// Keeps long results as files of one folder, by default 64 MiB of them.
///
/// A file is called after its tool and its content, such as `search-0123456789abcdef.txt`, and
/// readable by its owner only. When there are more bytes than allowed, the oldest of these files are
/// removed; other files in the folder are left alone.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "testing")]
/// # fn main() -> Result<(), hermes_core::agent::BuildError> {
/// use hermes_core::{Agent, testing::ScriptedProvider, tool::SpillFolder};
///
/// let agent = Agent::builder(ScriptedProvider::new())
///     .model("scripted")
///     .spill_results(SpillFolder::new("/var/lib/shop/results").max_bytes(8 << 20))
///     .build()?;
/// # let _ = agent;
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "testing"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct SpillFolder {
    folder: PathBuf,
    max_bytes: u64,
}

impl SpillFolder {
    const DEFAULT_MAX_BYTES: u64 = 64 << 20;

    /// Creates the keeper of files in `folder`, which is created with the first of them. An absolute
    /// path is best, as the model is told it.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), max_bytes: Self::DEFAULT_MAX_BYTES }
    }

    /// Sets how many bytes the files may have together. A result that has more is not kept.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    fn write(&self, name: &str, content: &[u8]) -> io::Result<PathBuf> {
        let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
        if self.max_bytes < size {
            let message =
                format!("a result of {size} bytes is over the limit of {}", self.max_bytes);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        let path = self.folder.join(name);
        durable::replace(&path, content)?;
        self.make_room(&path);
        Ok(path)
    }

    /// Removes the oldest files until the rest is within the limit. `new` stays in any case.
    fn make_room(&self, new: &Path) {
        let mut files = spilled(&self.folder);
        files.sort_by_key(|file| (file.path == *new, file.modified));
        let mut total = files.iter().fold(0, |sum: u64, file| sum.saturating_add(file.size));
        for file in files {
            if total <= self.max_bytes {
                return;
            }
            // Another run may have removed it at the same moment, which is no error.
            let _ = fs::remove_file(&file.path);
            total = total.saturating_sub(file.size);
        }
    }
}

#[async_trait]
impl ResultSpill for SpillFolder {
    async fn spill(&self, tool: &str, content: &str) -> io::Result<String> {
        let (this, content) = (self.clone(), content.to_owned());
        let name = file_name(tool, &content);
        let written = tokio::task::spawn_blocking(move || this.write(&name, content.as_bytes()));
        let path = written.await.map_err(io::Error::other)??;
        Ok(path.display().to_string())
    }
}

/// A file that was spilled earlier.
struct Spilled {
    path: PathBuf,
    size: u64,
    modified: SystemTime,
}

const DIGITS: usize = 16;

/// Returns a name that is safe on every file system and the same for the same content.
fn file_name(tool: &str, content: &str) -> String {
    const MAX_LEN: usize = 40;
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let tool = tool.chars().map(|it| if is_plain(it) { it } else { '_' }).take(MAX_LEN);
    let tool: String = tool.collect();
    let version = Version::of(content).to_string();
    format!("{tool}-{}.txt", version.get(..DIGITS).unwrap_or_default())
}

/// Returns whether a file was called so by [`file_name`].
fn is_spilled(name: &str) -> bool {
    let name = name.strip_suffix(".txt").and_then(|it| it.split_once('-'));
    name.is_some_and(|(_, digits)| {
        digits.len() == DIGITS && digits.bytes().all(|it| it.is_ascii_hexdigit())
    })
}

fn spilled(folder: &Path) -> Vec<Spilled> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.filter(|file| file.file_name().to_str().is_some_and(is_spilled));
    let files = files.filter_map(|file| {
        let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Some(Spilled { path: file.path(), size: metadata.len(), modified })
    });
    files.collect()
}

/// Cuts `text` to `limit` characters from its middle, with a marker; `None` if it is not longer.
pub(crate) fn cut_middle(text: &str, limit: usize) -> Option<String> {
    if text.len() <= limit {
        return None;
    }
    let count = text.chars().count();
    if count <= limit {
        return None;
    }
    let head = limit / 5 * 3;
    let tail = limit.saturating_sub(head);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count.saturating_sub(tail)).collect();
    let dropped = count.saturating_sub(limit);
    Some(format!("{start}\n[… {dropped} of {count} characters left out …]\n{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let files = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<_> = files.map(|it| it.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_middle_of_a_long_text_is_cut() {
        let text = format!("{}{}", "a".repeat(80), "é".repeat(80));

        let cut = cut_middle(&text, 10).unwrap();

        assert_eq!(cut, "aaaaaa\n[… 150 of 160 characters left out …]\néééé");
        assert_eq!(cut_middle(&text, 160), None);
    }

    #[test]
    fn names_are_safe_and_follow_from_the_content() {
        let name = file_name("../etc/ü-x", "abc");

        assert_eq!(name, "___etc___x-ba7816bf8f01cfea.txt");
        assert_eq!(file_name("../etc/ü-x", "abc"), name);
        assert!(is_spilled(&name));
        assert!(!is_spilled("notes.txt") && !is_spilled("a-b.txt") && !is_spilled(".hermes-x.tmp"));
        assert!(file_name(&"x".repeat(300), "").len() < 64);
    }

    #[tokio::test]
    async fn the_oldest_make_room_and_other_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        durable::replace(&folder.path().join("notes.txt"), &[b'x'; 100]).unwrap();
        let spill = SpillFolder::new(folder.path()).max_bytes(25);

        let mut kept = Vec::new();
        for content in ["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"] {
            kept.push(spill.spill("t", content).await.unwrap());
            // File times are as coarse as the kernel's clock.
            std::thread::sleep(std::time::Duration::from_millis(20));
        }

        assert_eq!(fs::read_to_string(&kept[2]).unwrap(), "cccccccccc");
        let mut expected = vec![file_name("t", "bbbbbbbbbb"), file_name("t", "cccccccccc")];
        expected.push("notes.txt".to_owned());
        expected.sort();
        assert_eq!(names(folder.path()), expected);
    }

    #[tokio::test]
    async fn what_is_over_the_limit_is_an_error() {
        let folder = tempfile::tempdir().unwrap();

        let outcome = SpillFolder::new(folder.path()).max_bytes(2).spill("t", "abc").await;

        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert!(names(folder.path()).is_empty());
    }
}

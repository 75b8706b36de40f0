//! Checks a log.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::chain::Head;

/// A log without a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verified {
    /// Its end. Kept in a safe place it is the anchor for the next time.
    pub head: Head,
    /// How many of its lines an anchor vouches for: the one that was given, or the file beside the
    /// log. Lines after it are only known to follow one another.
    pub anchored: u64,
    /// How many bytes of an unfinished line follow: a process is writing it, or was killed
    /// meanwhile. The next record removes them and says so.
    pub torn: u64,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// It is no record, or has lost its hash.
    #[error("is no record")]
    NoRecord,
    /// Its text does not fit its hash.
    #[error("was changed")]
    Changed,
    /// It is intact, but does not follow the line before: lines were removed, added or moved here,
    /// or the line before was changed together with its hash.
    #[error("does not follow the line before")]
    OutOfPlace,
    /// It is intact and in place, but not the line that the anchor knows: the log was written anew,
    /// up to here or from before.
    #[error("is not the line that the anchor knows")]
    NotAnchored,
}

/// Why a log is not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// It cannot be read.
    #[error("the audit log cannot be read")]
    Io(#[from] io::Error),
    /// A line is not as it was written.
    #[error("line {line} {fault}")]
    BadLine {
        /// The first such line, from 1.
        line: u64,
        /// What is wrong with it.
        fault: Fault,
    },
    /// Lines are missing at the end.
    #[error("line {} is missing: the log ends before it, and had {expected} lines", lines + 1)]
    Shortened {
        /// How many lines there are.
        lines: u64,
        /// How many the anchor knows.
        expected: u64,
    },
}

/// Checks the log at `path`, against the head beside it and against `anchor`, a head that was kept
/// elsewhere. See the [module](super) for what that shows and what not.
///
/// It blocks, and reads every line once; async callers use [`tokio::task::spawn_blocking`]. It
/// takes no lock: a log can be checked while it is written, and where it cannot be written.
///
/// # Errors
///
/// - [`VerifyError::BadLine`] with the first line that is not as it was written.
/// - [`VerifyError::Shortened`] if lines are missing at the end. A log that is not there is one
///   without lines.
/// - [`VerifyError::Io`] if it cannot be read.
pub fn verify(path: &Path, anchor: Option<Head>) -> Result<Verified, VerifyError> {
    // Read before the log, which only grows: a line that is written meanwhile is no fault.
    let anchors: Vec<Head> = head_beside(path)?.into_iter().chain(anchor).collect();
    let mut verified = Verified { head: Head::default(), anchored: 0, torn: 0 };
    match File::open(path) {
        Ok(file) => follow(&mut BufReader::new(file), &anchors, &mut verified)?,
        Err(err) if err.kind() == io::ErrorKind::NotFound => {}
        Err(err) => return Err(err.into()),
    }
    let lines = verified.head.lines;
    match anchors.iter().map(|it| it.lines).max() {
        Some(expected) if lines < expected => Err(VerifyError::Shortened { lines, expected }),
        Some(expected) => Ok(Verified { anchored: expected, ..verified }),
        None => Ok(verified),
    }
}

/// The longest line that is taken for one, in bytes.
pub(super) const MAX_LINE: u64 = 1 << 20;

fn follow(
    log: &mut impl BufRead,
    anchors: &[Head],
    verified: &mut Verified,
) -> Result<(), VerifyError> {
    let mut line = Vec::new();
    loop {
        line.clear();
        log.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        let number = verified.head.lines.saturating_add(1);
        let bad = |fault| VerifyError::BadLine { line: number, fault };
        let Some(text) = line.strip_suffix(b"\n") else {
            if length == MAX_LINE {
                return Err(bad(Fault::NoRecord));
            }
            verified.torn = length;
            return Ok(());
        };
        verified.head = verified.head.follow(text).map_err(bad)?;
        if anchors.iter().any(|it| it.lines == number && *it != verified.head) {
            return Err(bad(Fault::NotAnchored));
        }
    }
}

/// Returns where the head of the log at `path` is kept.
pub(super) fn head_path(path: &Path) -> PathBuf {
    with_suffix(path, ".head")
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the head that is kept beside the log; `None` if there is none or only half of one.
pub(super) fn head_beside(path: &Path) -> io::Result<Option<Head>> {
    match std::fs::read(head_path(path)) {
        Ok(bytes) => Ok(std::str::from_utf8(&bytes).ok().and_then(|it| it.parse().ok())),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(err),
    }
}

//! The lines of a log, each bound to the one before.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{AuditRecord, Fault};
use crate::version::Version;

/// The end of a log: how many lines it has, and the hash of the last. It stands for the whole log.
///
/// As text it is the number, a space and 64 hexadecimal digits.
///
/// # Examples
///
/// ```
/// use hermes_core::audit::Head;
///
/// let head = Head::default(); // of an empty log
///
/// assert_eq!(head.lines, 0);
/// assert_eq!(head.to_string().parse(), Ok(head));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Head {
    /// How many lines there are.
    pub lines: u64,
    /// The hash of the last one; of nothing if there is none.
    pub hash: Version,
}

impl Default for Head {
    fn default() -> Self {
        Self { lines: 0, hash: Version::of("") }
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:020} {}", self.lines, self.hash)
    }
}

/// A text that is not a [`Head`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the head of an audit log: a number and 64 hexadecimal digits are")]
#[non_exhaustive]
pub struct InvalidHead;

impl FromStr for Head {
    type Err = InvalidHead;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (lines, hash) = text.trim_end().split_once(' ').ok_or(InvalidHead)?;
        let lines = lines.parse().map_err(|_| InvalidHead)?;
        Ok(Self { lines, hash: hash.parse().map_err(|_| InvalidHead)? })
    }
}

#[derive(Serialize)]
struct Line<'a> {
    seq: u64,
    prev: Version,
    #[serde(flatten)]
    record: &'a AuditRecord,
}

/// What binds a line to the one before.
#[derive(Deserialize)]
struct Binding {
    seq: u64,
    prev: Version,
}

/// What stands before the hash of a line, which is that of everything before it.
const HASH: &str = ",\"hash\":\"";
const END: &str = "\"}";
const DIGITS: usize = 64;

impl Head {
    /// Returns the line of `record` after this head, without its end, and the head with it.
    pub(super) fn seal(self, record: &AuditRecord) -> serde_json::Result<(String, Self)> {
        let lines = self.lines.saturating_add(1);
        let mut line = serde_json::to_string(&Line { seq: lines, prev: self.hash, record })?;
        line.pop();
        let hash = Version::of(&line);
        line.push_str(HASH);
        line.push_str(&hash.to_string());
        line.push_str(END);
        Ok((line, Self { lines, hash }))
    }

    /// Returns the head with `line`, which must follow this one.
    pub(super) fn follow(self, line: &[u8]) -> Result<Self, Fault> {
        let (head, prev) = open(line)?;
        if head.lines != self.lines.saturating_add(1) || prev != self.hash {
            return Err(Fault::OutOfPlace);
        }
        Ok(head)
    }

    /// Returns the head that `line`, unchanged since it was written, is the last of.
    pub(super) fn at(line: &[u8]) -> Result<Self, Fault> {
        open(line).map(|(head, _)| head)
    }
}

/// Returns the head with `line`, and the hash of the line before it.
fn open(line: &[u8]) -> Result<(Head, Version), Fault> {
    let text = std::str::from_utf8(line).map_err(|_| Fault::NoRecord)?;
    let body_len =
        text.len().checked_sub(HASH.len() + DIGITS + END.len()).ok_or(Fault::NoRecord)?;
    let (body, seal) = text.split_at_checked(body_len).ok_or(Fault::NoRecord)?;
    let hash = seal.strip_prefix(HASH).and_then(|it| it.strip_suffix(END));
    let hash: Version = hash.and_then(|it| it.parse().ok()).ok_or(Fault::NoRecord)?;
    if Version::of(body) != hash {
        return Err(Fault::Changed);
    }
    let binding: Binding = serde_json::from_str(text).map_err(|_| Fault::NoRecord)?;
    Ok((Head { lines: binding.seq, hash }, binding.prev))
}

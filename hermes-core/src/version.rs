//! Versions of stored text: the hash that makes lost updates impossible.
//!
//! A writer names the version it has seen; a store refuses a write whose version is not the current
//! one. Read-before-write, protection against lost updates, and undo are all this one comparison.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// The SHA-256 of stored bytes, shown as 64 hexadecimal digits.
///
/// # Examples
///
/// ```
/// use hermes_core::version::Version;
///
/// let version = Version::of(b"abc");
///
/// assert!(version.to_string().starts_with("ba7816bf"));
/// assert_eq!(version.to_string().parse::<Version>()?, version);
/// # Ok::<(), hermes_core::version::InvalidVersion>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version([u8; 32]);

/// A text that is not 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a version: 64 hexadecimal digits are")]
pub struct InvalidVersion(String);

impl Version {
    /// Returns the version of `bytes`.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({self})")
    }
}

impl FromStr for Version {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidVersion(text.to_owned());
        let digits: Vec<u8> = text
            .chars()
            .map(|digit| digit.to_digit(16).and_then(|value| u8::try_from(value).ok()))
            .collect::<Option<_>>()
            .ok_or_else(invalid)?;
        let bytes: Vec<u8> = digits
            .chunks_exact(2)
            .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
            .collect();
        let is_whole = digits.len() == 64;
        is_whole.then_some(bytes).and_then(|it| it.try_into().ok()).map(Self).ok_or_else(invalid)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A value together with the version it was read at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Versioned<T> {
    /// What was read.
    pub value: T,
    /// The version of the stored bytes behind it.
    pub version: Version,
}

impl<T> Versioned<T> {
    /// Joins a value and its version.
    pub fn new(value: T, version: Version) -> Self {
        Self { value, version }
    }
}

/// What a writer believes the store holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// Whatever is there. Only a change that the user asked for may say so.
    Any,
    /// Nothing: the write creates.
    Absent,
    /// Exactly this version.
    Is(Version),
}

impl Expected {
    /// Returns whether a store that holds `current` (`None` for nothing) is as expected.
    pub fn accepts(self, current: Option<Version>) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => current.is_none(),
            Self::Is(version) => current == Some(version),
        }
    }
}

/// Returns a unified diff from `before` to `after` with three lines of context and no file names,
/// empty if they are equal.
pub fn diff(before: &str, after: &str) -> String {
    similar::TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .missing_newline_hint(false)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_must_be_whole() {
        let text = Version::of("x").to_string();

        assert!(text.get(..63).unwrap().parse::<Version>().is_err());
        assert!(format!("{text}0").parse::<Version>().is_err());
        assert!("zz".repeat(32).parse::<Version>().is_err());
    }

    #[test]
    fn a_diff_shows_what_changed() {
        assert_eq!(diff("a\nb\n", "a\nc\n"), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(diff("same", "same"), "");
    }
}

//! The limits of a `SKILL.md`.

/// The most characters that a `SKILL.md` or another text file of a skill may have: 100,000.
pub const MAX_TEXT_CHARS: usize = 100_000;

/// The most characters that a description may have when it is written: 1,024.
pub const MAX_DESCRIPTION_CHARS: usize = 1_024;

/// The most bytes that are searched for the end of a frontmatter: 64 KiB.
///
/// The largest frontmatter among the skills that hermes-agent ships has 3 KiB.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;

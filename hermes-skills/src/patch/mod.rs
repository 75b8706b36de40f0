//! Finds a passage that a model quoted from memory, and replaces it in the file's own style.
//!
//! [`replace`] is pure: it takes the whole text and returns the whole new text, or a refusal that
//! tells the model what to do next. Finding and writing are separate. Every [`Strategy`] yields a
//! span of the text and a wording of `old` that is canonically equal to it; one three-way merge
//! then writes `new` into that span, taking from the file what `new` did not mean to change:
//! indentation, trailing blanks, inner spacing, quotes, dashes and line ends.
//!
//! # What never happens
//!
//! - Text outside the reported [`Edit::span`]s never changes, not even a line end.
//! - A passage that differs from `old` in a number or a negation (of English or one of the main European
//!   languages) is never taken for it; one that differs in the spelling of a name only if `new` has the
//!   file's spelling, and no other passage is as near.
//! - Of two places that fit by the same kind of strategy none is picked: the call is refused and names both.
//! - A match never starts or ends inside a character that stands for several, such as `…` for
//!   `...`.
//! - Work is bounded by the sizes of text and arguments, never by their product.
//!
//! # Examples
//!
//! ```
//! use hermes_skills::patch::{self, PatchOptions, Strategy};
//!
//! let text = "def f():\n    keep()\n    old()\n";
//! let patched = patch::replace(text, "  keep()\n  old()", "  keep()\n  new()", &PatchOptions::default())?;
//!
//! assert_eq!(patched.text, "def f():\n    keep()\n    new()\n");
//! assert_eq!(patched.strategy, Strategy::Indentation);
//! # Ok::<(), patch::PatchError>(())
//! ```

mod error;
mod outcome;
mod strategy;

mod canon;
mod lf;

mod dense;
mod dress;
mod escape;
mod find;
mod probe;
mod slip;
mod survey;

mod columns;
mod merge;
mod step;
mod token;

mod hint;
mod splice;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod costs;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use error::PatchError;
pub use hint::Passage;
pub use outcome::{Edit, Patched};
pub use strategy::Strategy;

use std::borrow::Cow;

use find::Found;
use lf::LfText;
use merge::Merger;

/// The longest text, in bytes, in which inexact matches are looked for: 32 MiB.
///
/// Longer texts are searched for exact matches only, and so is any text for a longer quotation; the
/// refusal then quotes no passages.
pub const INEXACT_LIMIT: usize = 32 << 20;

/// The most places that one call edits, and up to which places are counted: a million.
pub const PLACES_LIMIT: usize = 1_000_000;

/// How [`replace`] is to treat what it finds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PatchOptions {
    /// Replaces every match instead of demanding that there is exactly one; off by default.
    ///
    /// Matches are taken leftmost first and never overlap. Only strategies that compare every
    /// character serve such a call: it is never applied to passages that are merely similar.
    pub replace_all: bool,
}

impl PatchOptions {
    /// Returns these options with [`replace_all`](Self::replace_all) set.
    #[must_use]
    pub fn replace_all(mut self, every_match: bool) -> Self {
        self.replace_all = every_match;
        self
    }
}

/// Replaces the passage `old` of `text` by `new`.
///
/// Line ends are compared as LF and written as the file has them: LF, CR LF, or CR where the text has no
/// LF at all. If `old` equals `new` and occurs
/// in `text`, the call succeeds without an edit ([`Patched::is_unchanged`]), so that a caller who
/// repeats himself is not punished; the same holds if the passage found already reads as wanted.
///
/// # Errors
///
/// - [`PatchError::EmptyOld`] if `old` is empty or has nothing but white space.
/// - [`PatchError::NotFound`] if no strategy finds the passage.
/// - [`PatchError::Ambiguous`] if the first strategy that finds it finds it more than once, and
///   `options` do not ask for all.
/// - [`PatchError::TooMany`] if they do, and it is found more than [`PLACES_LIMIT`] times.
/// - [`PatchError::EscapeDrift`] if the passage matches only when backslash escapes in `old` are
///   decoded, and it cannot be told which escapes of `new` are meant so too.
///
/// Each of them says in its text what to do next, and leaves nothing behind.
///
/// # Examples
///
/// ```
/// use hermes_skills::patch::{self, PatchError, PatchOptions};
///
/// let text = "## A\n- x\n## B\n- x\n";
/// let refused = patch::replace(text, "- x", "- y", &PatchOptions::default());
/// assert!(matches!(refused, Err(PatchError::Ambiguous { total: 2, .. })));
///
/// let all = patch::replace(text, "- x", "- y", &PatchOptions::default().replace_all(true))?;
/// assert_eq!(all.text, "## A\n- y\n## B\n- y\n");
/// # Ok::<(), PatchError>(())
/// ```
pub fn replace(
    text: &str,
    old: &str,
    new: &str,
    options: &PatchOptions,
) -> Result<Patched, PatchError> {
    if canon::is_blank(old) {
        return Err(PatchError::EmptyOld);
    }
    let lf = LfText::new(text);
    let asked = lf.wording(old, new);
    let found = find::find(lf.as_str(), &asked, options.replace_all)?;
    if asked.old == asked.new {
        return Ok(splice::splice(&lf, std::iter::empty(), found.strategy));
    }
    if 1 < found.total && !options.replace_all {
        return Err(hint::ambiguous(lf.as_str(), &found));
    }
    if PLACES_LIMIT < found.total {
        return Err(PatchError::TooMany);
    }
    Ok(write(&lf, &found))
}

/// Writes the wanted text into every place found.
fn write(lf: &LfText<'_>, found: &Found) -> Patched {
    let mut merger: Option<Merger<'_>> = None;
    let written = found.places.iter().map(|place| {
        if found.strategy == Strategy::Exact {
            return (place.span.clone(), Cow::Borrowed(place.wording.new.as_str()));
        }
        let merger = match &mut merger {
            Some(merger) if merger.is_for(&place.wording) => merger,
            other => other.insert(Merger::new(lf.as_str(), &place.wording)),
        };
        (place.span.clone(), Cow::Owned(merger.merge(place)))
    });
    splice::splice(lf, written, found.strategy)
}

//! Why a replacement was refused, in words that let the model put it right.

use serde::Serialize;

use super::{Passage, Strategy, hint};

/// Why [`replace`](super::replace) changed nothing.
///
/// The texts are written for the model: each says what was wrong and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PatchError {
    /// `old` is empty or has nothing but white space, which would fit anywhere.
    #[error(
        "the old text is empty or only white space, so there is no place to edit: read the file and \
         quote the existing text to be replaced exactly; to insert, quote a neighbouring line in both \
         the old and the new text"
    )]
    EmptyOld,

    /// The passage is not in the text.
    #[error("{}", hint::describe_absence(closest, *already, *elided))]
    NotFound {
        /// The passages that come closest, best first; at most three.
        closest: Vec<Passage>,
        /// The line, counted from 1, at which the whole of `new` already stands, if it does.
        already: Option<usize>,
        /// Whether `old` seems to leave something out by an ellipsis.
        elided: bool,
    },

    /// The passage fits more than one place, and only one was to be edited.
    #[error("{}", hint::describe_places(places, *total))]
    Ambiguous {
        /// The first few places that fit.
        places: Vec<Passage>,
        /// How many places fit, counted to one past [`PLACES_LIMIT`](super::PLACES_LIMIT); of places
        /// that overlap, two are counted if there are no others.
        total: usize,
        /// The strategy that found them.
        strategy: Strategy,
    },

    /// All places were to be edited, and they are more than [`PLACES_LIMIT`](super::PLACES_LIMIT).
    #[error(
        "the old text fits more than {} places, nothing was changed: quote more of the lines around \
         those that are meant, and edit them one by one",
        super::PLACES_LIMIT
    )]
    TooMany,

    /// The passage matches only if escapes are decoded, but `new` mixes escapes and plain characters.
    #[error(
        "the old text matches line {line} only if {escape} is read as an escape, but the new text also \
         has it in another sense: send both texts again as the file should have them, without added backslashes"
    )]
    EscapeDrift {
        /// The first line, counted from 1, of the passage that would match.
        line: usize,
        /// The escape in question, such as `\"`.
        escape: &'static str,
    },
}

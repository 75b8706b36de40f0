//! The ways in which a quoted passage may differ from the file and still be found.

use std::fmt;

use serde::Serialize;

/// How the passage was found, strictest first.
///
/// Strategies are tried in this order, and the first one with a match decides: a passage that is
/// there exactly is never overlooked for one that is merely similar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Strategy {
    /// Character by character, line ends aside.
    Exact,
    /// Lines are equal but for blanks at their ends.
    Indentation,
    /// Lines are equal but for the amount of white space in them.
    Whitespace,
    /// Lines are equal but for typographic quotes, dashes, ellipses, invisible characters, and whether
    /// letters are composed with their marks.
    Typography,
    /// Lines are equal, but blank lines between or around them are not.
    BlankLines,
    /// Lines are equal once backslash escapes in the quotation are decoded.
    Escapes,
    /// Lines are equal once what the quotation is dressed in is taken off: line numbers, quote or diff
    /// marks, a code fence, entities.
    Dressing,
    /// Every line is equal but for small slips of the pen: the new text has the file's spelling, or a word
    /// of prose is misspelt for certain; or the first line breaks off, and the new text has it whole.
    Slips,
}

impl Strategy {
    /// Returns how sure a match of this kind is, from 0 to 1; only [`Strategy::Exact`] is 1.
    pub fn confidence(self) -> f32 {
        match self {
            Self::Exact => 1.0,
            Self::Indentation => 0.98,
            Self::Whitespace => 0.96,
            Self::Typography => 0.95,
            Self::BlankLines => 0.9,
            Self::Escapes => 0.85,
            Self::Dressing => 0.8,
            Self::Slips => 0.75,
        }
    }

    /// Returns what the file and the quotation differ in, as words for the model.
    pub(super) fn difference(self) -> &'static str {
        match self {
            Self::Exact => "nothing",
            Self::Indentation => "indentation or blanks at line ends",
            Self::Whitespace => "white space",
            Self::Typography => "quotes, dashes or invisible characters",
            Self::BlankLines => "blank lines",
            Self::Escapes => "backslash escapes",
            Self::Dressing => "marks, numbers or entities around the quoted text",
            Self::Slips => "spelling",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::Indentation => "indentation",
            Self::Whitespace => "whitespace",
            Self::Typography => "typography",
            Self::BlankLines => "blank_lines",
            Self::Escapes => "escapes",
            Self::Dressing => "dressing",
            Self::Slips => "slips",
        })
    }
}

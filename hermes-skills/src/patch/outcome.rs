//! What a successful replacement reports.

use std::ops::Range;

use serde::Serialize;

use super::Strategy;

/// The text after a replacement, and how it came about. Nothing is written: that is the caller's.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Patched {
    /// The whole new text.
    pub text: String,
    /// How many passages were replaced; 0 if nothing had to change.
    pub replacements: usize,
    /// How the passages were found.
    pub strategy: Strategy,
    /// How sure it is that these passages were meant, from 0 to 1; 1 for exact matches, and where
    /// nothing had to change.
    pub confidence: f32,
    /// The places that matched, first to last.
    pub edits: Vec<Edit>,
}

/// One place at which the text was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Edit {
    /// The bytes of the original text that matched.
    pub span: Range<usize>,
    /// The lines of the original text that the span touches, counted from 1, both included.
    pub lines: (usize, usize),
}

impl Patched {
    /// Returns whether the new text is the old one: it already read as wanted.
    pub fn is_unchanged(&self) -> bool {
        self.replacements == 0
    }

    /// Returns a remark for the model if it should know more than that the edit was made: that the
    /// match was inexact and in what, or that nothing had to change. `None` after an exact edit.
    pub fn note(&self) -> Option<String> {
        if self.is_unchanged() {
            return Some(
                "Nothing was changed: the text already reads as you want it. Do not repeat this call."
                    .to_owned(),
            );
        }
        if self.strategy == Strategy::Exact {
            return None;
        }
        Some(format!(
            "Not an exact match: the old text differs from the file in {}; {} edited in the file's own \
             style. View what is there now to be sure.",
            self.strategy.difference(),
            self.places(),
        ))
    }

    /// Returns which lines were edited, with the verb that goes with them.
    fn places(&self) -> String {
        const SHOWN: usize = 5;
        if let [edit] = self.edits.as_slice()
            && edit.lines.0 == edit.lines.1
        {
            return format!("line {} was", edit.lines.0);
        }
        let mut places: Vec<String> = self.edits.iter().take(SHOWN).map(Edit::range).collect();
        if SHOWN < self.edits.len() {
            places.push("…".to_owned());
        }
        format!("lines {} were", places.join(", "))
    }
}

impl Edit {
    fn range(&self) -> String {
        match self.lines {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first}-{last}"),
        }
    }
}

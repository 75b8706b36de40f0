//! Words for the model when nothing was replaced: which passages come close, and what to do.

use std::fmt::Write as _;

use super::PatchError;
use super::find::{Found, Wording};

/// A few lines of the text, to be shown to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passage {
    /// The number of the first line, counted from 1.
    pub line: usize,
    /// The lines, without line ends; long ones are cut.
    pub text: String,
}

const SHOWN_PLACES: usize = 5;
const SHOWN_CHARS: usize = 160;

pub(super) fn not_found(_text: &str, _asked: &Wording) -> PatchError {
    PatchError::NotFound { closest: Vec::new(), already: None, elided: false }
}

pub(super) fn ambiguous(text: &str, found: &Found) -> PatchError {
    let shown = found.places.iter().take(SHOWN_PLACES);
    let places = shown.map(|place| Passage::at(text, place.span.start)).collect();
    PatchError::Ambiguous { places, total: found.places.len(), strategy: found.strategy }
}

impl Passage {
    fn at(text: &str, at: usize) -> Self {
        let (before, _) = text.split_at_checked(at).unwrap_or((text, ""));
        let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
        let start = before.rfind('\n').map_or(0, |feed| feed + 1);
        let shown = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
        Self { line, text: cut(shown) }
    }
}

fn cut(line: &str) -> String {
    if line.len() <= SHOWN_CHARS {
        return line.to_owned();
    }
    let mut cut: String = line.chars().take(SHOWN_CHARS).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    cut
}

pub(super) fn describe_places(places: &[Passage], total: usize) -> String {
    let shown: Vec<String> =
        places.iter().map(|place| format!("line {}: {}", place.line, place.text.trim())).collect();
    format!(
        "the old text fits {total} places and only one was to be edited: quote more of the \
         surrounding lines so that it fits only one, or set replace_all to edit all of them\n{}",
        shown.join("\n")
    )
}

pub(super) fn describe_absence(
    closest: &[Passage],
    _already: Option<usize>,
    _elided: bool,
) -> String {
    let mut text =
        "the old text is not in the file: view the file and quote the existing lines exactly"
            .to_owned();
    for passage in closest {
        let _ = write!(text, "\nline {}: {}", passage.line, passage.text);
    }
    text
}

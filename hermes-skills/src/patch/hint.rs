//! Words for the model when nothing was replaced: which passages come close, and what to do next.

use std::fmt::Write as _;
use std::ops::Range;

use memchr::{memchr_iter, memmem};
use serde::Serialize;

use super::canon::{self, Canon};
use super::dense::Dense;
use super::error::PatchError;
use super::find::{Found, Wording};
use super::survey::Window;

/// A few lines of the text, to be shown to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Passage {
    /// The number of the first line, counted from 1.
    pub line: usize,
    /// The lines in LF, without the last line end; at most 8, and long ones are cut.
    pub text: String,
}

/// How many places of an ambiguous passage are named.
pub(super) const SHOWN_PLACES: usize = 5;
/// How many close passages are quoted.
const SHOWN_PASSAGES: usize = 3;
/// How many occurrences of the new text are looked at.
const SOUGHT: usize = 64;
/// How many lines of a close passage are quoted.
const SHOWN_LINES: usize = 8;
/// How many characters of a line are quoted.
const SHOWN_CHARS: usize = 160;
/// The share of lines in common below which a passage is not worth showing.
const WORTH_SHOWING: f32 = 0.3;

/// Says that no strategy found the passage, and where it may have come from.
pub(super) fn not_found(text: &str, asked: &Wording, closest: Vec<Passage>) -> PatchError {
    PatchError::NotFound {
        closest,
        already: already(text, asked).map(|at| line_of(text, at)),
        elided: asked.old.lines().any(is_ellipsis),
    }
}

/// Returns where all of the new text stands on lines of its own, unless the old text has it as well.
fn already(text: &str, asked: &Wording) -> Option<usize> {
    let new = asked.new.trim_matches('\n');
    if canon::is_blank(new) || asked.old.contains(new) {
        return None;
    }
    let is_alone = |at: &usize| {
        let around = (text.get(..*at), text.get(at + new.len()..));
        let (Some(before), Some(after)) = around else { return false };
        let before = before.trim_end_matches([' ', '\t']);
        let after = after.trim_start_matches([' ', '\t']);
        (before.is_empty() || before.ends_with('\n'))
            && (after.is_empty() || after.starts_with('\n'))
    };
    memmem::find_iter(text.as_bytes(), new).take(SOUGHT).find(is_alone)
}

/// Quotes the best of the windows in which lines of `asked` were seen.
pub(super) fn closest(
    text: &str,
    (canon, dense): (&Canon<'_>, &Dense),
    windows: &[Window],
    lines: usize,
) -> Vec<Passage> {
    let best = windows.first().map_or(0.0, |window| window.score);
    let mut taken: Vec<Range<usize>> = Vec::new();
    let mut passages = Vec::new();
    for window in windows {
        let span = window.first..dense.len().min(window.first + lines);
        let worth = WORTH_SHOWING <= window.score && best * 0.6 <= window.score;
        let apart = taken.iter().all(|other| other.end <= span.start || span.end <= other.start);
        if passages.len() == SHOWN_PASSAGES || !worth || !apart {
            continue;
        }
        let source = dense.canon_range(&span).and_then(|range| canon.source_range(&range));
        passages.extend(source.map(|source| Passage::of(text, &source)));
        taken.push(span);
    }
    passages
}

/// Says that the passage fits several places, and names the first of them.
pub(super) fn ambiguous(text: &str, found: &Found) -> PatchError {
    let shown = found.places.iter().take(SHOWN_PLACES);
    let places =
        shown.map(|place| Passage::of(text, &(place.span.start..place.span.start))).collect();
    PatchError::Ambiguous { places, total: found.total, strategy: found.strategy }
}

impl Passage {
    /// Quotes the lines that a span touches.
    fn of(text: &str, span: &Range<usize>) -> Self {
        let (before, _) = text.split_at_checked(span.start).unwrap_or((text, ""));
        let start = before.rfind('\n').map_or(0, |feed| feed + 1);
        let inside = text.get(span.clone()).unwrap_or_default();
        let count = memchr_iter(b'\n', inside.as_bytes()).count() + 1;
        let lines = text.get(start..).unwrap_or_default().split('\n');
        let shown: Vec<String> = lines.take(count.min(SHOWN_LINES)).map(cut).collect();
        Self { line: line_of(text, span.start), text: shown.join("\n") }
    }

    /// Writes the lines with their numbers.
    fn describe(&self, description: &mut String) {
        for (number, line) in (self.line..).zip(self.text.split('\n')) {
            let _ = write!(description, "\n{number}| {line}");
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    memchr_iter(b'\n', text.as_bytes().get(..at).unwrap_or_default()).count() + 1
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// Returns whether a line says nothing but that something was left out.
fn is_ellipsis(line: &str) -> bool {
    let bare = line.trim_matches(|c: char| canon::is_blank_char(c) || "/#*-<>![](){};".contains(c));
    bare.starts_with("...") || bare.starts_with('…')
}

/// The text of [`PatchError::NotFound`].
pub(super) fn describe_absence(
    closest: &[Passage],
    already: Option<usize>,
    elided: bool,
) -> String {
    let mut text = "the old text is not in the file, nothing was changed".to_owned();
    if let Some(line) = already {
        let _ = write!(
            text,
            "; the new text is already there at line {line}, so the edit may have been made before"
        );
    }
    if elided {
        text.push_str(
            "; the old text leaves something out by an ellipsis: quote every line in full",
        );
    }
    if closest.is_empty() {
        text.push_str(
            "; nothing close to it was found: view the file, and quote the existing lines exactly",
        );
        return text;
    }
    text.push_str("; the closest passages are below: if one is meant, quote its lines exactly as they are, without the numbers");
    for (index, passage) in closest.iter().enumerate() {
        if 0 < index {
            text.push_str("\n--");
        }
        passage.describe(&mut text);
    }
    text
}

/// The text of [`PatchError::Ambiguous`].
pub(super) fn describe_places(places: &[Passage], total: usize) -> String {
    let mut text = format!(
        "the old text fits {total} places and only one was to be edited, nothing was changed: quote more of \
         the lines around the one that is meant, or set replace_all to edit all of them"
    );
    for place in places {
        place.describe(&mut text);
    }
    if places.len() < total {
        text.push_str("\n…");
    }
    text
}

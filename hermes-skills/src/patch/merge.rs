//! Writes what the caller wants in the style of the file: a three-way merge by lines.
//!
//! The base is `old`, which is canonically equal to the file's region; one side is the region, the
//! other is `new`. A line that `new` leaves alone comes from the file, but for
//! invisible characters at its end. In a line that it changes,
//! indentation, body and trailing blanks merge separately.

use std::cell::OnceCell;

use similar::DiffOp;

use super::canon::{self, is_stray, split_line};
use super::columns::{Columns, Surroundings};
use super::find::{Place, Wording};
use super::token::{BodyEdit, Words, diff};

/// Lines of which less than this share of tokens is equal are not taken for versions of each other.
const RELATED: f32 = 0.34;

/// Writes one wording into all the places that it fits.
///
/// What depends on the wording only is worked out once, however many places there are.
pub(super) struct Merger<'a> {
    text: &'a str,
    wording: &'a Wording,
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    origin: Vec<Option<usize>>,
    /// For every line of `new`, how its body came from that of `old`, once that is asked for.
    edits: Vec<OnceCell<BodyEdit<'a>>>,
    surroundings: Surroundings<'a>,
}

/// The lines of the three texts, and how they belong together.
#[derive(Debug)]
pub(super) struct Lines<'l, 'a> {
    pub(super) old: &'l [&'a str],
    pub(super) file: Vec<&'a str>,
    pub(super) new: &'l [&'a str],
    /// For every line of `old`, the line of `file` that it quotes.
    pub(super) quoted: Vec<Option<usize>>,
    /// For every line of `new`, the line of `old` that it is a version of.
    pub(super) origin: &'l [Option<usize>],
}

impl<'a> Merger<'a> {
    pub(super) fn new(text: &'a str, wording: &'a Wording) -> Self {
        let old: Vec<&str> = wording.old.split('\n').collect();
        let new: Vec<&str> = wording.new.split('\n').collect();
        let origin = origins(&old, &new);
        let edits = new.iter().map(|_| OnceCell::new()).collect();
        Self { text, wording, old, new, origin, edits, surroundings: Surroundings::new(text) }
    }

    /// Returns whether this is the one for `wording`.
    pub(super) fn is_for(&self, wording: &Wording) -> bool {
        std::ptr::eq(self.wording, wording)
    }

    /// Returns the text that is to stand at `place`, in LF.
    pub(super) fn merge(&mut self, place: &Place) -> String {
        if self.wording.new.is_empty() {
            return String::new();
        }
        let file: Vec<&str> =
            self.text.get(place.span.clone()).unwrap_or_default().split('\n').collect();
        let quoted = quoted(&self.old, &file);
        let lines = Lines { old: &self.old, file, new: &self.new, quoted, origin: &self.origin };
        let columns = Columns::learn(&mut self.surroundings, place, &lines);
        let mut written: Vec<String> = Vec::with_capacity(lines.new.len());
        for (index, edit) in self.edits.iter().enumerate() {
            if let Some(blanks) = lines.blanks_before(index) {
                written.extend(blanks.iter().map(|&blank| blank.to_owned()));
            }
            if !lines.is_imagined(index) {
                written.push(line(place, &lines, (&columns, edit), index));
            }
        }
        written.join("\n")
    }
}

/// Writes one line of `new`.
fn line<'a>(
    place: &Place,
    lines: &Lines<'_, 'a>,
    (columns, edit): (&Columns, &OnceCell<BodyEdit<'a>>),
    index: usize,
) -> String {
    let new = lines.new.get(index).copied().unwrap_or_default();
    let (new_indent, new_body, new_trail) = split_line(new);
    let pair = lines.pair(index);
    if new_body.is_empty() {
        return match pair {
            Some((old, file)) if canon::is_blank(old) => file.to_owned(),
            _ => new.to_owned(),
        };
    }
    let first = index == 0 && !place.starts_line;
    let last = index + 1 == lines.new.len() && !place.ends_line;
    let indent = if first {
        inside_line(split_line(lines.old.first().unwrap_or(&"")).0, new_indent).to_owned()
    } else {
        columns.indent(lines, index, new_indent)
    };
    let Some((old, file)) = pair else {
        return format!("{indent}{new_body}{new_trail}");
    };
    let ((_, old_body, old_trail), (_, file_body, file_trail)) =
        (split_line(old), split_line(file));
    let body = edit.get_or_init(|| BodyEdit::new(old_body, new_body)).merge(file_body);
    let trail = match last {
        true => inside_line(old_trail, new_trail).to_owned(),
        false if old_trail == new_trail => file_trail.replace(is_stray, ""),
        false => new_trail.to_owned(),
    };
    format!("{indent}{body}{trail}")
}

/// Returns the blanks to write at an edge inside a line: those of `old` stayed outside the match.
fn inside_line<'a>(old: &str, new: &'a str) -> &'a str {
    if old.is_empty() { new } else { "" }
}

impl<'a> Lines<'_, 'a> {
    /// Returns the lines of `old` and `file` that line `index` of `new` is a version of.
    pub(super) fn pair(&self, index: usize) -> Option<(&'a str, &'a str)> {
        let old = self.origin.get(index).copied().flatten()?;
        let file = self.quoted.get(old).copied().flatten()?;
        Some((self.old.get(old)?, self.file.get(file)?))
    }

    /// Returns whether line `index` of `new` is a blank line of `old` that the file does not have.
    fn is_imagined(&self, index: usize) -> bool {
        let quoted = self.origin.get(index).copied().flatten().and_then(|old| self.quoted.get(old));
        quoted == Some(&None) && self.new.get(index).is_some_and(|line| canon::is_blank(line))
    }

    /// Returns the blank lines that only the file has before the line that `new`'s line `index` is a
    /// version of, provided that `new` also keeps the line before them.
    fn blanks_before(&self, index: usize) -> Option<&[&'a str]> {
        let old = self.origin.get(index).copied().flatten()?;
        let before = old.checked_sub(1)?;
        let kept = self.origin.get(..index)?.iter().rev().flatten().next()?;
        let start = self.quoted.get(before).copied().flatten()? + 1;
        let end = self.quoted.get(old).copied().flatten()?;
        if *kept == before { self.file.get(start..end) } else { None }
    }
}

/// Pairs the lines of `old` with those of the region: equal in canonical form, but for blank lines
/// that only one of them has.
fn quoted(old: &[&str], file: &[&str]) -> Vec<Option<usize>> {
    let mut quoted = Vec::with_capacity(old.len());
    let mut next = 0;
    let blank_at = |index: usize| file.get(index).is_some_and(|line| canon::is_blank(line));
    for line in old {
        let blank = canon::is_blank(line);
        while !blank && blank_at(next) {
            next += 1;
        }
        let pairs = next < file.len() && blank == blank_at(next);
        quoted.push(pairs.then_some(next));
        next += usize::from(pairs);
    }
    quoted
}

/// Finds for every line of `new` the line of `old` that it is a version of: first among equal lines,
/// between those among lines with equal bodies, between those among lines that are alike.
fn origins(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    let mut origins = vec![None; new.len()];
    let by_line = (0..old.len(), 0..new.len());
    let gaps = pair_equal(old, new, &[by_line], &mut origins, str::to_owned);
    let body = |line: &str| canon::canonical(split_line(line).1);
    let gaps = pair_equal(old, new, &gaps, &mut origins, body);
    for (old_gap, new_gap) in gaps {
        pair_alike(old, new, old_gap, new_gap, &mut origins);
    }
    origins
}

type Gap = (std::ops::Range<usize>, std::ops::Range<usize>);

/// Pairs lines of equal key inside `gaps`, and returns the gaps that are left.
fn pair_equal(
    old: &[&str],
    new: &[&str],
    gaps: &[Gap],
    origins: &mut [Option<usize>],
    key: impl Fn(&str) -> String,
) -> Vec<Gap> {
    let keys = |lines: &[&str], range: &std::ops::Range<usize>| -> Vec<String> {
        lines.get(range.clone()).unwrap_or_default().iter().map(|line| key(line)).collect()
    };
    let mut left = Vec::new();
    for (old_gap, new_gap) in gaps {
        for op in diff(&keys(old, old_gap), &keys(new, new_gap)) {
            let (_, old_range, new_range) = op.as_tag_tuple();
            let old_range = old_range.start + old_gap.start..old_range.end + old_gap.start;
            let new_range = new_range.start + new_gap.start..new_range.end + new_gap.start;
            if matches!(op, DiffOp::Equal { .. }) {
                for (old, new) in old_range.zip(new_range) {
                    origins.get_mut(new).map(|origin| origin.replace(old));
                }
            } else if !old_range.is_empty() && !new_range.is_empty() {
                left.push((old_range, new_range));
            }
        }
    }
    left
}

/// Pairs the lines of a gap in order, each with the next one that is alike.
fn pair_alike(
    old: &[&str],
    new: &[&str],
    old_gap: std::ops::Range<usize>,
    new_gap: std::ops::Range<usize>,
    origins: &mut [Option<usize>],
) {
    const LOOK_AHEAD: usize = 8;
    let lines = old.get(old_gap.clone()).unwrap_or_default();
    let words: Vec<Words<'_>> = lines.iter().map(|line| Words::new(line)).collect();
    let mut from = 0;
    for index in new_gap {
        let line = Words::new(new.get(index).copied().unwrap_or_default());
        let window = words.iter().enumerate().skip(from).take(LOOK_AHEAD);
        let alike = window.map(|(at, words)| (at, words.likeness(&line, RELATED)));
        let best =
            alike.max_by(|left, right| left.1.total_cmp(&right.1).then(right.0.cmp(&left.0)));
        let Some((best, _)) = best.filter(|(_, likeness)| RELATED < *likeness) else { continue };
        origins.get_mut(index).map(|origin| origin.replace(old_gap.start + best));
        from = best + 1;
    }
}

//! Puts the wanted texts into the original, changing as little as possible.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter};
use similar::DiffOp;

use super::lf::LfText;
use super::token::{DIFF_BUDGET, diff};
use super::{Edit, Patched, Strategy};

/// What the differences of one call may cost together; what comes after is replaced as a whole.
const DIFFS_LIMIT: usize = 32 * DIFF_BUDGET;

/// Replaces each span of the LF text by what is wanted there, leftmost first.
pub(super) fn splice<'w>(
    lf: &LfText<'_>,
    written: impl Iterator<Item = (Range<usize>, Cow<'w, str>)>,
    strategy: Strategy,
) -> Patched {
    let mut text = String::with_capacity(lf.source().len());
    let mut edits = Vec::new();
    let mut lines = LineCount::default();
    let mut changes = Changes::default();
    let mut ends = LineEnds::new(lf);
    let mut copied = 0;
    for (span, wanted) in written {
        let is = lf.as_str().get(span.clone()).unwrap_or_default();
        if is == wanted {
            continue;
        }
        for (hunk, insert) in changes.of(lf, is, &wanted) {
            let hunk = span.start + hunk.start..span.start + hunk.end;
            let insert = ends.write(&hunk, insert);
            let source = lf.source_range(&hunk);
            text.push_str(lf.source().get(copied..source.start).unwrap_or_default());
            text.push_str(&insert);
            copied = source.end;
        }
        let last = span.end.max(span.start + 1) - 1;
        let lines = (lines.line_at(lf.as_str(), span.start), lines.line_at(lf.as_str(), last));
        edits.push(Edit { span: lf.source_range(&span), lines });
    }
    text.push_str(lf.source().get(copied..).unwrap_or_default());
    let confidence = if edits.is_empty() { 1.0 } else { strategy.confidence() };
    Patched { text, replacements: edits.len(), strategy, confidence, edits }
}

/// A range of a text, and what is to stand there, in LF.
type Hunk = (Range<usize>, String);

/// What really changes from one text to another, kept for when the same change comes up again.
#[derive(Default)]
struct Changes {
    is: String,
    wanted: String,
    hunks: Vec<Hunk>,
    /// What all differences that were looked for may have cost.
    spent: usize,
}

impl Changes {
    /// Breaks a replacement into the ranges that really change.
    ///
    /// Where all line ends are alike there is no need to look into the replacement.
    fn of(&mut self, lf: &LfText<'_>, is: &str, wanted: &str) -> &[Hunk] {
        if self.hunks.is_empty() || self.is != is || self.wanted != wanted {
            let is_cheap = lf.is_plain() || DIFFS_LIMIT < self.spent;
            self.hunks =
                if is_cheap { vec![trimmed(0, is, wanted)] } else { self.look(is, wanted) };
            is.clone_into(&mut self.is);
            wanted.clone_into(&mut self.wanted);
        }
        &self.hunks
    }

    fn look(&mut self, is: &str, wanted: &str) -> Vec<Hunk> {
        let old: Vec<&str> = is.split_inclusive('\n').collect();
        let new: Vec<&str> = wanted.split_inclusive('\n').collect();
        self.spent += old.len().saturating_mul(new.len()).min(DIFF_BUDGET);
        let mut at = 0;
        let mut hunks = Vec::new();
        for op in diff(&old, &new) {
            let (_, old_range, new_range) = op.as_tag_tuple();
            let old = old.get(old_range).unwrap_or_default().concat();
            if !matches!(op, DiffOp::Equal { .. }) {
                let new = new.get(new_range).unwrap_or_default().concat();
                hunks.push(trimmed(at, &old, &new));
            }
            at += old.len();
        }
        hunks
    }
}

/// Narrows a change to what lies between the common ends of both texts.
fn trimmed(at: usize, old: &str, new: &str) -> Hunk {
    let same = |(left, right): &(char, char)| left == right;
    let head: usize =
        old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (old, new) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let backwards = old.chars().rev().zip(new.chars().rev());
    let tail: usize = backwards.take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let hunk = at + head..at + head + old.len() - tail;
    (hunk, new.get(..new.len() - tail).unwrap_or_default().to_owned())
}

/// Writes line ends as the text has them, at growing positions without ever searching twice.
struct LineEnds<'a> {
    lf: &'a LfText<'a>,
    /// The range in which positions have the same next line feed, and its line end.
    known: Option<(Range<usize>, &'static str)>,
}

impl<'a> LineEnds<'a> {
    fn new(lf: &'a LfText<'a>) -> Self {
        Self { lf, known: None }
    }

    /// Returns `insert` with the line end in use where it is to stand.
    fn write<'t>(&mut self, hunk: &Range<usize>, insert: &'t str) -> Cow<'t, str> {
        if self.lf.is_plain() || memchr(b'\n', insert.as_bytes()).is_none() {
            return Cow::Borrowed(insert);
        }
        let known = self.known.as_ref().filter(|(range, _)| range.contains(&hunk.start));
        let end = if let Some((_, end)) = known {
            *end
        } else {
            let (next, end) = self.lf.line_end(hunk.start);
            self.known = Some((hunk.start..next + 1, end));
            end
        };
        Cow::Owned(insert.replace('\n', end))
    }
}

/// Counts lines up to growing positions without ever going back.
#[derive(Default)]
struct LineCount {
    at: usize,
    feeds: usize,
}

impl LineCount {
    fn line_at(&mut self, text: &str, at: usize) -> usize {
        let passed = text.as_bytes().get(self.at..at).unwrap_or_default();
        self.feeds += memchr_iter(b'\n', passed).count();
        self.at = self.at.max(at);
        self.feeds + 1
    }
}

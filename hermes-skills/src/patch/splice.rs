//! Puts the wanted texts into the original, changing as little as possible.

use std::ops::Range;

use memchr::memchr_iter;
use similar::DiffOp;

use super::lf::LfText;
use super::token::diff;
use super::{Edit, Patched, Strategy};

/// Replaces each span of the LF text by what is wanted there, leftmost first.
pub(super) fn splice(
    lf: &LfText<'_>,
    written: impl Iterator<Item = (Range<usize>, String)>,
    strategy: Strategy,
) -> Patched {
    let mut text = String::with_capacity(lf.source().len());
    let mut edits = Vec::new();
    let mut lines = LineCount::default();
    let mut copied = 0;
    for (span, wanted) in written {
        let is = lf.as_str().get(span.clone()).unwrap_or_default();
        if is == wanted {
            continue;
        }
        for (hunk, insert) in hunks(lf, &span, is, &wanted) {
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

/// Breaks a replacement into the ranges that really change, with line ends as the file has them there.
///
/// Where all line ends are alike there is no need to look into the replacement.
fn hunks(
    lf: &LfText<'_>,
    span: &Range<usize>,
    is: &str,
    wanted: &str,
) -> Vec<(Range<usize>, String)> {
    if !lf.has_pairs() {
        return vec![(span.clone(), wanted.to_owned())];
    }
    let old: Vec<&str> = is.split_inclusive('\n').collect();
    let new: Vec<&str> = wanted.split_inclusive('\n').collect();
    let mut at = span.start;
    let mut hunks = Vec::new();
    for op in diff(&old, &new) {
        let (_, old_range, new_range) = op.as_tag_tuple();
        let old = old.get(old_range).unwrap_or_default().concat();
        if !matches!(op, DiffOp::Equal { .. }) {
            let new = new.get(new_range).unwrap_or_default().concat();
            hunks.push(trimmed(lf, at, &old, &new));
        }
        at += old.len();
    }
    hunks
}

/// Narrows a change to what lies between the common ends of both texts.
fn trimmed(lf: &LfText<'_>, at: usize, old: &str, new: &str) -> (Range<usize>, String) {
    let same = |(left, right): &(char, char)| left == right;
    let head: usize =
        old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (old, new) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let backwards = old.chars().rev().zip(new.chars().rev());
    let tail: usize = backwards.take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let hunk = at + head..at + head + old.len() - tail;
    let insert = new.get(..new.len() - tail).unwrap_or_default();
    let insert = insert.replace('\n', lf.line_end(&hunk));
    (hunk, insert)
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

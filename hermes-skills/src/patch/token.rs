//! Tokens of a line, and the three-way merge of line bodies.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::canon::{self, Canon};

/// The largest product of lengths for which a minimal difference is worked out.
pub(super) const DIFF_BUDGET: usize = 1_000_000;

/// Splits a line into words, numbers, runs of blanks, of dashes and of dots, and single characters.
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        let kind = kind(c);
        if last != Some(kind) || kind == Kind::Single {
            tokens.extend(text.get(start..at).filter(|token| !token.is_empty()));
            start = at;
        }
        last = Some(kind);
    }
    tokens.extend(text.get(start..).filter(|token| !token.is_empty()));
    tokens
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Number,
    Blank,
    Dash,
    Dot,
    Single,
}

fn kind(c: char) -> Kind {
    match c {
        '-' => Kind::Dash,
        '.' => Kind::Dot,
        _ if c.is_numeric() => Kind::Number,
        _ if c.is_alphabetic() || canon::is_mark(c) => Kind::Word,
        _ if canon::is_blank_char(c) => Kind::Blank,
        _ => Kind::Single,
    }
}

/// Returns a shortest edit from `old` to `new`, or one replacement of all that lies between their
/// common ends where that would cost too much.
pub(super) fn diff<T: Eq + std::hash::Hash + Ord>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) =
        (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = pairs.take_while(|(old, new)| old == new).count();
    let (old_len, new_len) = (old_rest.len() - tail, new_rest.len() - tail);
    if old_len.saturating_mul(new_len) <= DIFF_BUDGET {
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let replace = DiffOp::Replace { old_index: head, old_len, new_index: head, new_len };
    let equal = |old_index, new_index, len| DiffOp::Equal { old_index, new_index, len };
    let tail = equal(head + old_len, head + new_len, tail);
    vec![equal(0, 0, head), replace, tail]
}

/// How one line body came from another, to be done again to a body that is canonically equal to the first.
#[derive(Debug)]
pub(super) struct BodyEdit<'a> {
    old: Canon<'a>,
    source: &'a str,
    new: &'a str,
    /// Stretches of `new`, in order; those that `old` has too with where they stand in its canonical form.
    pieces: Vec<(&'a str, Option<Range<usize>>)>,
}

impl<'a> BodyEdit<'a> {
    pub(super) fn new(old: &'a str, new: &'a str) -> Self {
        let canon = Canon::new(old);
        let (old_tokens, new_tokens) = (tokens(old), tokens(new));
        let len = |tokens: Option<&[&str]>| -> usize {
            tokens.unwrap_or_default().iter().map(|token| token.len()).sum()
        };
        let mut pieces = Vec::new();
        let (mut old_at, mut new_at) = (0, 0);
        for op in diff(&old_tokens, &new_tokens) {
            let (_, old_range, new_range) = op.as_tag_tuple();
            let quoted = old_at..old_at + len(old_tokens.get(old_range));
            let wanted = new_at..new_at + len(new_tokens.get(new_range));
            (old_at, new_at) = (quoted.end, wanted.end);
            let kept =
                matches!(op, DiffOp::Equal { .. }).then(|| canon.canon_range(&quoted)).flatten();
            pieces.push((new.get(wanted).unwrap_or_default(), kept));
        }
        Self { old: canon, source: old, new, pieces }
    }

    /// Returns `file` with what was changed from `old` to `new`; `new` if it is not equal to `old`.
    pub(super) fn merge(&self, file: &str) -> String {
        if self.source == self.new {
            return file.to_owned();
        }
        let canon = Canon::new(file);
        if self.source == file || self.old.as_str() != canon.as_str() {
            return self.new.to_owned();
        }
        let mut merged = String::with_capacity(self.new.len());
        for (wanted, kept) in &self.pieces {
            let kept = kept.as_ref().and_then(|range| canon.source_range(range));
            merged.push_str(kept.and_then(|range| file.get(range)).unwrap_or(wanted));
        }
        merged
    }
}

/// The words of a line and its other tokens but blanks, sorted.
#[derive(Debug)]
pub(super) struct Words<'a>(Vec<&'a str>);

impl<'a> Words<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        let mut words = tokens(line);
        words.retain(|token| !canon::is_blank(token));
        words.sort_unstable();
        Self(words)
    }

    /// Returns how alike two lines are, from 0 to 1, by the share of tokens in common; 0 if their lengths
    /// alone say that it cannot be more than `least`.
    pub(super) fn likeness(&self, other: &Self, least: f32) -> f32 {
        let total = self.0.len() + other.0.len();
        #[expect(clippy::cast_precision_loss, reason = "token counts are small")]
        let share = |common: usize| 2.0 * common as f32 / total.max(1) as f32;
        if share(self.0.len().min(other.0.len())) <= least {
            return 0.0;
        }
        let mut rest = other.0.iter().peekable();
        let mut common = 0;
        for token in &self.0 {
            while rest.next_if(|other| *other < token).is_some() {}
            common += usize::from(rest.next_if(|other| *other == token).is_some());
        }
        share(common)
    }
}

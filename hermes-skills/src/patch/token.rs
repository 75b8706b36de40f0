//! Tokens of a line, and the three-way merge of line bodies.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::canon::{self, Canon};

/// The largest product of lengths for which a minimal difference is worked out.
const DIFF_BUDGET: usize = 1_000_000;

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
        _ if c.is_alphabetic() => Kind::Word,
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

/// Merges the change from `old` to `new` into `file`, which is canonically equal to `old`.
pub(super) fn merge_body(old: &str, file: &str, new: &str) -> String {
    if old == new {
        return file.to_owned();
    }
    if old == file {
        return new.to_owned();
    }
    let (old_canon, file_canon) = (Canon::new(old), Canon::new(file));
    if old_canon.as_str() != file_canon.as_str() {
        return new.to_owned();
    }
    let (old_tokens, new_tokens) = (tokens(old), tokens(new));
    let mut merged = String::with_capacity(new.len());
    let mut at = 0;
    for op in diff(&old_tokens, &new_tokens) {
        let (_, old_range, new_range) = op.as_tag_tuple();
        let wanted = new_tokens.get(new_range).unwrap_or_default().concat();
        let quoted: usize =
            old_tokens.get(old_range).unwrap_or_default().iter().map(|token| token.len()).sum();
        let quoted = at..at + quoted;
        at = quoted.end;
        let kept = matches!(op, DiffOp::Equal { .. })
            .then_some(quoted)
            .and_then(|range| old_canon.canon_range(&range))
            .and_then(|range| file_canon.source_range(&range))
            .and_then(|range| file.get(range));
        merged.push_str(kept.unwrap_or(&wanted));
    }
    merged
}

/// Returns how alike two lines are, from 0 to 1, by the share of tokens in common.
pub(super) fn likeness(left: &str, right: &str) -> f32 {
    let (mut left, mut right) = (words(left), words(right));
    left.sort_unstable();
    right.sort_unstable();
    let total = left.len() + right.len();
    let mut rest = right.into_iter().peekable();
    let mut common = 0;
    for token in left {
        while rest.next_if(|other| *other < token).is_some() {}
        common += usize::from(rest.next_if(|other| *other == token).is_some());
    }
    #[expect(clippy::cast_precision_loss, reason = "token counts are small")]
    let share = 2.0 * common as f32 / total.max(1) as f32;
    share
}

fn words(text: &str) -> Vec<&str> {
    tokens(text).into_iter().filter(|token| !canon::is_blank(token)).collect()
}

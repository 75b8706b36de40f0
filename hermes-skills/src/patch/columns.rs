//! Learns how the caller's indentation relates to the file's.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Range};

use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};

use super::canon::{is_blank, is_stray, split_line};
use super::find::Place;
use super::merge::Lines;
use super::step::{Scale, Step};

/// How many lines on each side of the region are looked at for the file's indentation step.
const CONTEXT_LINES: usize = 200;

/// How many bytes that may be, at most.
const CONTEXT_BYTES: usize = 1 << 16;

/// The deepest indentation, in bytes, that is taken apart.
const DEEPEST: usize = 512;

/// How many lines of `new` back an unchanged one is looked for.
const NEARBY: usize = 64;

/// A quoted line that is not blank: its index in `old`, and its indentation there and in the file.
pub(super) type IndentPair = (usize, String, String);

/// The way from columns of `old` to columns of the file.
#[derive(Debug)]
pub(super) struct Columns {
    /// For every indentation in `old`, which lines have it, and what they have in the file.
    known: BTreeMap<String, Vec<(usize, String)>>,
    /// Whether `new` is to be taken as it is: it, or all of `old`, is written in the file's columns.
    native: bool,
    /// The file's indentation of a first line whose own was cut off in `old`.
    cut: Option<String>,
    scale: Scale,
}

impl Columns {
    /// Learns from the lines that `old` quotes.
    pub(super) fn learn(
        surroundings: &mut Surroundings<'_>,
        place: &Place,
        lines: &Lines<'_, '_>,
    ) -> Self {
        let mut pairs = quoted_indents(place, lines);
        let cut = take_cut(&mut pairs);
        let native = pairs.iter().all(|(_, old, file)| old == file)
            || is_native(lines, &pairs, cut.is_some());
        let learn = || {
            let args = lines.old.iter().chain(lines.new).copied();
            Scale::of_steps(Step::of(args), surroundings.step(&place.span), &pairs)
        };
        let scale =
            if native { Scale::Same } else { Scale::of_pairs(&pairs).unwrap_or_else(learn) };
        let mut known: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
        for (at, old, file) in pairs {
            known.entry(old).or_default().push((at, file));
        }
        Self { known, native, cut, scale }
    }

    /// Returns the file's indentation for line `index` of `new`, which has `indent`.
    pub(super) fn indent(&self, lines: &Lines<'_, '_>, index: usize, indent: &str) -> String {
        if let Some((old, file)) = lines.pair(index)
            && !is_blank(old)
            && (split_line(old).0 == indent)
        {
            return split_line(file).0.to_owned();
        }
        if let Some(cut) = self.cut.as_ref().filter(|_| index == 0 && indent.is_empty()) {
            return cut.clone();
        }
        if self.native {
            return indent.to_owned();
        }
        let mut nearby = (index.saturating_sub(NEARBY)..=index).rev();
        let near = nearby.find_map(|at| lines.origin.get(at).copied().flatten());
        self.map(near.unwrap_or(0), indent)
    }

    fn map(&self, near: usize, indent: &str) -> String {
        let nearest = |lines: &[(usize, String)]| -> Option<String> {
            let after = lines.partition_point(|(at, _)| *at < near);
            let around = lines.get(after.saturating_sub(1)..lines.len().min(after + 1))?;
            let (_, file) = around.iter().min_by_key(|(at, _)| at.abs_diff(near))?;
            Some(file.clone())
        };
        if let Some(file) = self.known.get(indent).and_then(|lines| nearest(lines)) {
            return file;
        }
        if let Some((old, lines)) = self.below(indent) {
            let extra = self.scale.map(indent.get(old.len()..).unwrap_or_default());
            return format!("{}{extra}", nearest(lines).unwrap_or_default());
        }
        let above = self.known.range::<str, _>((Bound::Included(indent), Bound::Unbounded));
        let above = above.take_while(|(old, _)| old.starts_with(indent)).take(NEARBY);
        if let Some((old, lines)) = above.min_by_key(|(old, _)| old.len()) {
            let file = nearest(lines).unwrap_or_default();
            let less = self.scale.map(old.get(indent.len()..).unwrap_or_default());
            let kept = file.len().saturating_sub(less.len());
            return file.get(..kept).unwrap_or_default().to_owned();
        }
        indent.to_owned()
    }

    /// Returns the deepest known indentation that `indent` begins with.
    fn below(&self, indent: &str) -> Option<(&String, &Vec<(usize, String)>)> {
        let longest = indent.len().min(DEEPEST + 1);
        let starts = (0..longest).rev().filter_map(|end| indent.get(..end));
        starts.into_iter().find_map(|start| self.known.get_key_value(start))
    }
}

fn quoted_indents(place: &Place, lines: &Lines<'_, '_>) -> Vec<IndentPair> {
    let mut pairs = Vec::new();
    for (at, (old, quoted)) in lines.old.iter().zip(&lines.quoted).enumerate() {
        let file = quoted.and_then(|quoted| lines.file.get(quoted));
        let inside = at == 0 && !place.starts_line;
        if let Some(file) = file.filter(|_| !inside && !is_blank(old)) {
            pairs.push((at, indent_of(old), indent_of(file)));
        }
    }
    pairs
}

/// Returns the blanks at the start of a line; what is invisible there belongs to the line.
fn indent_of(line: &str) -> String {
    split_line(line).0.replace(is_stray, "")
}

/// Takes the first pair away if its indentation was merely cut off: the caller began to quote in the
/// middle of the line, and all other lines stand as in the file.
fn take_cut(pairs: &mut Vec<IndentPair>) -> Option<String> {
    let ((at, old, file), others) = pairs.split_first()?;
    let cut = *at == 0 && old.is_empty() && !file.is_empty() && !others.is_empty();
    if !cut || others.iter().any(|(_, old, file)| old != file) {
        return None;
    }
    Some(pairs.remove(0).2)
}

/// Returns whether `new` uses the file's columns where `old` does not.
///
/// It does if every line that both have stands as in the file, unless a line that was added stands as
/// far out as `old` does and further than the region: then the rest was moved in, below it.
fn is_native(lines: &Lines<'_, '_>, pairs: &[IndentPair], cut: bool) -> bool {
    let mut evidence = false;
    let mut outer = false;
    let quoted: BTreeSet<&str> = pairs.iter().map(|(_, old, _)| old.as_str()).collect();
    let shallowest = pairs.iter().map(|(_, _, file)| file.len()).min().unwrap_or(0);
    for (index, new) in lines.new.iter().enumerate() {
        if is_blank(new) || (cut && index == 0) {
            continue;
        }
        let indent = split_line(new).0;
        match lines.pair(index) {
            Some((old, file)) => {
                let (from, to) = (indent_of(old), indent_of(file));
                if from != to && indent != to {
                    return false;
                }
                // A line that was rewritten may as well have another line's columns.
                let same = split_line(old).1 == split_line(new).1;
                evidence |= from != to && (same || !quoted.contains(indent));
            }
            None => {
                outer |= indent.len() < shallowest && quoted.contains(indent);
            }
        }
    }
    evidence && !outer
}

/// The text around the places, with the step of its indentation.
///
/// The step is looked for again only once the places have left behind half of what was looked at, so that
/// many of them cost no more than reading the text a few times.
pub(super) struct Surroundings<'a> {
    text: &'a str,
    /// The step, and up to where it holds.
    known: Option<(Option<Step>, usize)>,
}

impl<'a> Surroundings<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, known: None }
    }

    /// Returns the file's usual step around a place; places are asked for from first to last.
    fn step(&mut self, span: &Range<usize>) -> Option<Step> {
        if let Some((step, end)) = self.known
            && span.start < end
        {
            return step;
        }
        let (before, rest) = self.text.split_at_checked(span.start).unwrap_or((self.text, ""));
        let after = self.text.get(span.end..).unwrap_or_default();
        let around = span.start - lines_before(before)..span.end + lines_after(after);
        let step = Step::of(self.text.get(around).unwrap_or_default().split('\n'));
        let half = rest.as_bytes().get(..CONTEXT_BYTES / 2).unwrap_or(rest.as_bytes());
        let half = memchr_iter(b'\n', half).nth(CONTEXT_LINES / 2).unwrap_or(CONTEXT_BYTES / 2);
        self.known = Some((step, span.start + half));
        step
    }
}

/// Returns how many bytes the last lines of `text` have, as far as they are looked at.
fn lines_before(text: &str) -> usize {
    let least = text.len().saturating_sub(CONTEXT_BYTES);
    let head = text.as_bytes().get(least..).unwrap_or_default();
    let first = memrchr_iter(b'\n', head).nth(CONTEXT_LINES);
    let first = first.or_else(|| memchr(b'\n', head).filter(|_| 0 < least));
    first.map_or(if least == 0 { head.len() } else { 0 }, |feed| head.len() - feed - 1)
}

/// Returns how many bytes the first lines of `text` have, as far as they are looked at.
fn lines_after(text: &str) -> usize {
    let whole = text.len() <= CONTEXT_BYTES;
    let head = text.as_bytes().get(..CONTEXT_BYTES).unwrap_or(text.as_bytes());
    let last = memchr_iter(b'\n', head).nth(CONTEXT_LINES);
    let last = last.or_else(|| memrchr(b'\n', head).filter(|_| !whole));
    last.unwrap_or(if whole { head.len() } else { 0 })
}

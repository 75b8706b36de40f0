//! Learns how the caller's indentation relates to the file's.

use std::collections::{BTreeMap, BTreeSet};

use super::canon::{is_blank, split_line};
use super::find::Place;
use super::merge::Lines;
use super::step::{Scale, Step};

/// How many lines on each side of the region are looked at for the file's indentation step.
const CONTEXT_LINES: usize = 200;

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
    pub(super) fn learn(text: &str, place: &Place, lines: &Lines<'_>) -> Self {
        let mut pairs = quoted_indents(place, lines);
        let cut = take_cut(&mut pairs);
        let scale = Scale::of_pairs(&pairs).unwrap_or_else(|| {
            let args = lines.old.iter().chain(&lines.new).copied();
            let around =
                before(text, place).chain(lines.file.iter().copied()).chain(after(text, place));
            Scale::of_steps(Step::of(args), Step::of(around), &pairs)
        });
        let native = pairs.iter().all(|(_, old, file)| old == file)
            || is_native(lines, &pairs, cut.is_some());
        let mut known: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
        for (at, old, file) in pairs {
            known.entry(old).or_default().push((at, file));
        }
        Self { known, native, cut, scale }
    }

    /// Returns the file's indentation for line `index` of `new`, which has `indent`.
    pub(super) fn indent(&self, lines: &Lines<'_>, index: usize, indent: &str) -> String {
        if let Some(cut) = self.cut.as_ref().filter(|_| index == 0 && indent.is_empty()) {
            return cut.clone();
        }
        if let Some((old, file)) = lines.pair(index)
            && !is_blank(old)
            && (split_line(old).0 == indent)
        {
            return split_line(file).0.to_owned();
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
        let below = self.known.iter().filter(|(old, _)| indent.starts_with(old.as_str()));
        if let Some((old, lines)) = below.max_by_key(|(old, _)| old.len()) {
            let extra = self.scale.map(indent.get(old.len()..).unwrap_or_default());
            return format!("{}{extra}", nearest(lines).unwrap_or_default());
        }
        let above = self.known.iter().filter(|(old, _)| old.starts_with(indent));
        if let Some((old, lines)) = above.min_by_key(|(old, _)| old.len()) {
            let file = nearest(lines).unwrap_or_default();
            let less = self.scale.map(old.get(indent.len()..).unwrap_or_default());
            let kept = file.len().saturating_sub(less.len());
            return file.get(..kept).unwrap_or_default().to_owned();
        }
        indent.to_owned()
    }
}

fn quoted_indents(place: &Place, lines: &Lines<'_>) -> Vec<IndentPair> {
    let mut pairs = Vec::new();
    for (at, (old, quoted)) in lines.old.iter().zip(&lines.quoted).enumerate() {
        let file = quoted.and_then(|quoted| lines.file.get(quoted));
        let inside = at == 0 && !place.starts_line;
        if let Some(file) = file.filter(|_| !inside && !is_blank(old)) {
            pairs.push((at, split_line(old).0.to_owned(), split_line(file).0.to_owned()));
        }
    }
    pairs
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
fn is_native(lines: &Lines<'_>, pairs: &[IndentPair], cut: bool) -> bool {
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
                let (old, file) = (split_line(old).0, split_line(file).0);
                if old != file && indent != file {
                    return false;
                }
                evidence |= old != file;
            }
            None => {
                outer |= indent.len() < shallowest && quoted.contains(indent);
            }
        }
    }
    evidence && !outer
}

fn before<'a>(text: &'a str, place: &Place) -> impl Iterator<Item = &'a str> {
    let lines = text.get(..place.span.start).unwrap_or_default().rsplit('\n').skip(1);
    let mut lines: Vec<&str> = lines.take(CONTEXT_LINES).collect();
    lines.reverse();
    lines.into_iter()
}

fn after<'a>(text: &'a str, place: &Place) -> impl Iterator<Item = &'a str> {
    text.get(place.span.end..).unwrap_or_default().split('\n').skip(1).take(CONTEXT_LINES)
}

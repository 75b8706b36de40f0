//! Learns how the caller's indentation relates to the file's.

use super::canon::{is_blank, split_line};
use super::find::Place;
use super::merge::Lines;

/// How many lines on each side of the region are looked at for the file's indentation step.
const CONTEXT_LINES: usize = 200;

/// The way from columns of `old` to columns of the file.
#[derive(Debug)]
pub(super) struct Columns {
    /// Indentation of `old` and of the file for every quoted line that is not blank, with its index.
    pairs: Vec<(usize, String, String)>,
    /// Whether `new` is already written in the file's columns.
    native: bool,
    /// The file's indentation of a first line whose own was cut off in `old`.
    cut: Option<String>,
    old_step: Step,
    file_step: Step,
}

/// What one level of indentation is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Tab,
    Spaces(usize),
}

impl Columns {
    /// Learns from the lines that `old` quotes.
    pub(super) fn learn(text: &str, place: &Place, lines: &Lines<'_>) -> Self {
        let mut pairs = quoted_indents(place, lines);
        let cut = take_cut(&mut pairs);
        let args = lines.old.iter().chain(&lines.new).copied();
        let old_step = Step::of(args).unwrap_or(Step::Spaces(4));
        let around =
            before(text, place).chain(lines.file.iter().copied()).chain(after(text, place));
        let file_step = Step::of(around).unwrap_or(old_step);
        let native = is_native(lines, &pairs, cut.is_some());
        Self { pairs, native, cut, old_step, file_step }
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
        if self.native || self.pairs.iter().all(|(_, old, file)| old == file) {
            return indent.to_owned();
        }
        let near = (0..=index).rev().find_map(|at| lines.origin.get(at).copied().flatten());
        self.map(near.unwrap_or(0), indent)
    }

    fn map(&self, near: usize, indent: &str) -> String {
        let known = self.pairs.iter().filter(|(_, old, _)| old == indent);
        if let Some((_, _, file)) = known.min_by_key(|(at, ..)| at.abs_diff(near)) {
            return file.clone();
        }
        let below = self.pairs.iter().filter(|(_, old, _)| indent.starts_with(old.as_str()));
        if let Some((_, old, file)) = below.max_by_key(|(_, old, _)| old.len()) {
            return self.deepen(file, indent.get(old.len()..).unwrap_or_default());
        }
        let above = self.pairs.iter().filter(|(_, old, _)| old.starts_with(indent));
        if let Some((_, old, file)) = above.min_by_key(|(_, old, _)| old.len()) {
            return self.shallow(file, old.get(indent.len()..).unwrap_or_default());
        }
        indent.to_owned()
    }

    /// Adds to `file` as many levels as `extra` has.
    fn deepen(&self, file: &str, extra: &str) -> String {
        let (levels, rest) = self.old_step.levels(extra);
        format!("{file}{}{}", self.file_step.text(levels), " ".repeat(rest))
    }

    /// Takes from the end of `file` as many levels as `less` has.
    fn shallow(&self, file: &str, less: &str) -> String {
        let (levels, rest) = self.old_step.levels(less);
        let cut = self.file_step.text(levels).len() + rest;
        file.get(..file.len().saturating_sub(cut)).unwrap_or_default().to_owned()
    }
}

fn quoted_indents(place: &Place, lines: &Lines<'_>) -> Vec<(usize, String, String)> {
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
fn take_cut(pairs: &mut Vec<(usize, String, String)>) -> Option<String> {
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
fn is_native(lines: &Lines<'_>, pairs: &[(usize, String, String)], cut: bool) -> bool {
    let mut evidence = false;
    let mut outer = false;
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
                outer |= indent.len() < shallowest && pairs.iter().any(|(_, old, _)| old == indent);
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

impl Step {
    /// Returns the most frequent step from one line to a deeper one, the smaller of equals.
    fn of<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut counts: std::collections::BTreeMap<Self, usize> = std::collections::BTreeMap::new();
        let mut last = "";
        for line in lines.filter(|line| !is_blank(line)) {
            let indent = split_line(line).0;
            if let Some(step) = indent.strip_prefix(last).and_then(Self::read) {
                *counts.entry(step).or_default() += 1;
            }
            last = indent;
        }
        let best = counts.into_iter().rev().max_by_key(|(_, count)| *count);
        best.map(|(step, _)| step)
    }

    fn read(extra: &str) -> Option<Self> {
        match extra.len() {
            _ if extra == "\t" => Some(Self::Tab),
            len @ 2..=8 if extra.bytes().all(|byte| byte == b' ') => Some(Self::Spaces(len)),
            _ => None,
        }
    }

    /// Returns how many whole levels `indent` has, and how many columns are left over.
    fn levels(self, indent: &str) -> (usize, usize) {
        let tabs = indent.bytes().filter(|byte| *byte == b'\t').count();
        let spaces = indent.chars().count() - tabs;
        match self {
            Self::Tab => (tabs, spaces),
            Self::Spaces(width) => (tabs + spaces / width, spaces % width),
        }
    }

    fn text(self, levels: usize) -> String {
        match self {
            Self::Tab => "\t".repeat(levels),
            Self::Spaces(width) => " ".repeat(levels * width),
        }
    }
}

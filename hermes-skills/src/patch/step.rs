//! Levels of indentation, and how those of the caller scale to those of the file.

use std::collections::{BTreeMap, BTreeSet};

use super::canon::{is_blank, split_line};
use super::columns::IndentPair;

/// From how many lines the scale is learnt, at most.
const LEARNT: usize = 256;

/// What one level of indentation is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Tab,
    Spaces(usize),
}

/// How deeper indentation of the caller reads in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// As it is: the lines were only shifted.
    Same,
    /// So many spaces of the file for so many of the caller.
    Spaces { file: usize, caller: usize },
    /// Level by level.
    Levels { file: Step, caller: Step },
}

impl Scale {
    /// Learns from two lines that stand at different depths, the nearest ones there are.
    pub(super) fn of_pairs(pairs: &[IndentPair]) -> Option<Self> {
        let distinct: BTreeSet<(&str, &str)> =
            pairs.iter().map(|(_, old, file)| (old.as_str(), file.as_str())).take(LEARNT).collect();
        let mut best: Option<(&str, &str)> = None;
        for (outer_old, outer_file) in &distinct {
            for (old, file) in &distinct {
                let (Some(old), Some(file)) =
                    (old.strip_prefix(outer_old), file.strip_prefix(outer_file))
                else {
                    continue;
                };
                let nearer = best.is_none_or(|(best, _)| old.len() < best.len());
                if !old.is_empty() && !file.is_empty() && nearer {
                    best = Some((old, file));
                }
            }
        }
        let (old, file) = best?;
        let only = |text: &str, byte: u8| text.bytes().all(|other| other == byte);
        match (old.len(), file.len()) {
            _ if old == file => Some(Self::Same),
            (caller, width) if only(old, b' ') && only(file, b' ') => {
                Some(Self::Spaces { file: width, caller })
            }
            (width, tabs) if only(old, b' ') && only(file, b'\t') && width % tabs == 0 => {
                Some(Self::Levels { file: Step::Tab, caller: Step::Spaces(width / tabs) })
            }
            (tabs, width) if only(old, b'\t') && only(file, b' ') && width % tabs == 0 => {
                Some(Self::Levels { file: Step::Spaces(width / tabs), caller: Step::Tab })
            }
            _ => None,
        }
    }

    /// Compares the usual steps of caller and file. Steps of different width only mean that the caller
    /// scales if the lines that both have agree.
    pub(super) fn of_steps(caller: Option<Step>, file: Option<Step>, pairs: &[IndentPair]) -> Self {
        let file = file.or_else(|| pairs.iter().find_map(|pair| Step::of_pair(caller?, pair)));
        let (Some(caller), Some(file)) = (caller.or(file), file.or(caller)) else {
            return Self::Same;
        };
        let (Step::Spaces(caller_width), Step::Spaces(file_width)) = (caller, file) else {
            return Self::Levels { file, caller };
        };
        let scales =
            |(_, old, file): &IndentPair| old.len() * file_width == file.len() * caller_width;
        let at_margin = |(_, old, _): &IndentPair| old.is_empty();
        if pairs.iter().all(scales) || pairs.iter().all(at_margin) {
            return Self::Levels { file, caller };
        }
        Self::Same
    }

    /// Returns what stands in the file for indentation that goes beyond a known line's.
    pub(super) fn map(self, extra: &str) -> String {
        match self {
            Self::Spaces { file, caller } if (extra.len() * file).is_multiple_of(caller) => {
                " ".repeat(extra.len() * file / caller)
            }
            Self::Same | Self::Spaces { .. } => extra.to_owned(),
            Self::Levels { file, caller } => {
                let (levels, rest) = caller.levels(extra);
                format!("{}{}", file.text(levels), " ".repeat(rest))
            }
        }
    }
}

impl Step {
    /// Returns the most frequent step from one line to a deeper one, the smaller of equals.
    pub(super) fn of<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut counts: BTreeMap<Self, usize> = BTreeMap::new();
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

    /// Returns the file's step if a line's indentation in the file has as many levels as the caller's.
    fn of_pair(caller: Self, (_, old, file): &IndentPair) -> Option<Self> {
        let (levels, rest) = caller.levels(old);
        let first = file.get(..file.len().checked_div(levels)?)?;
        if rest == 0 && file.len() == first.len() * levels { Self::read(first) } else { None }
    }

    fn read(extra: &str) -> Option<Self> {
        match extra.len() {
            _ if extra == "\t" => Some(Self::Tab),
            len @ (2 | 3 | 4 | 8) if extra.bytes().all(|byte| byte == b' ') => {
                Some(Self::Spaces(len))
            }
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

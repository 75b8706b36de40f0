//! Which passages of a text come close to a quoted one, by the lines and words they share.
//!
//! The lines of the text vote for windows of as many lines as the quotation has: of a short text all
//! of them, of a long one those at its head and those with a rare word of the quotation. Lines that the
//! quotation repeats, and words that stand in many of its lines, say little about the place and do not
//! vote, so that the work never grows with the product of both lengths.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;

use super::dense::Dense;
use super::probe::Probes;

/// How many lines at the head of a text all vote; of the others, those with a rare word do.
const HEAD: usize = 2_048;
/// How many windows are kept.
const KEPT: usize = 16;
/// In how many lines of the quotation a line or word may stand and still vote.
const REPEATED: usize = 4;
/// How many lines of the text a line of the quotation may equal and still vote.
const COMMON: usize = 64;
/// The share of a line's words that another line needs to have to count as close.
const CLOSE: f32 = 0.5;
/// How many shapes of words are told apart.
const SHAPES: usize = 1 << 15;

/// A run of lines that may be what was meant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Window {
    /// The first line, counted among those that are not blank.
    pub(super) first: usize,
    /// The share of the quotation's lines that have a counterpart here, from 0 to 1.
    pub(super) score: f32,
}

/// Returns the windows of `text` that are closest to `pattern`, best first.
pub(super) fn survey(text: &Dense, pattern: &Dense) -> Vec<Window> {
    let index = Index::new(pattern);
    let mut votes = vec![0.0_f32; text.len()];
    let mut equal = vec![0_usize; pattern.len()];
    let mut vote = |at: usize| {
        index.vote(text.line(at), |of, share| {
            let Some(equal) = equal.get_mut(of) else { return };
            *equal += usize::from(1.0 <= share);
            let first = at.checked_sub(of).filter(|_| share < 1.0 || *equal <= COMMON);
            if let Some(votes) = first.and_then(|first| votes.get_mut(first)) {
                *votes += share;
            }
        });
    };
    let head = text.len().min(HEAD);
    (0..head).for_each(&mut vote);
    if head == text.len() {
        return best(&votes, 0, pattern.len());
    }
    if let Some(probes) = Probes::choose(text, index.line_words()) {
        probes.lines(text, head).for_each(&mut vote);
    }
    let (near, far) = votes.split_at_checked(head).unwrap_or((&votes, &[]));
    let mut windows = best(near, 0, pattern.len());
    windows.extend(best(far, head, pattern.len()));
    // Not all lines had a vote, so that the windows are compared by all that they have.
    for window in &mut windows {
        window.score = index.score(text, window.first, pattern.len());
    }
    windows.sort_unstable_by(Window::order);
    windows.truncate(KEPT);
    windows
}

/// Returns the windows with the most votes, best first.
fn best(votes: &[f32], first: usize, lines: usize) -> Vec<Window> {
    let mut windows: Vec<Window> = (first..)
        .zip(votes)
        .filter(|(_, votes)| 0.0 < **votes)
        .map(|(first, votes)| Window { first, score: share(*votes, lines) })
        .collect();
    if KEPT < windows.len() {
        windows.select_nth_unstable_by(KEPT, Window::order);
        windows.truncate(KEPT);
    }
    windows.sort_unstable_by(Window::order);
    windows
}

#[expect(clippy::cast_precision_loss, reason = "line counts are small")]
fn share(votes: f32, lines: usize) -> f32 {
    votes / lines.max(1) as f32
}

impl Window {
    /// Orders the better one first, and of equals the one further up.
    fn order(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.first.cmp(&other.first))
    }
}

/// The quotation's lines and words, to be looked up.
struct Index<'a> {
    lines: HashMap<&'a str, Vec<usize>>,
    words: HashMap<&'a str, Vec<usize>>,
    /// How many words of each line may vote.
    counts: Vec<usize>,
    /// Which shapes occur among the words.
    shapes: Vec<bool>,
    /// The same of the lines.
    line_shapes: Vec<bool>,
    tally: RefCell<Tally>,
}

/// How many words a line shares with each line of the quotation.
#[derive(Default)]
struct Tally {
    shared: Vec<usize>,
    /// The lines that share any, in the order in which they came up.
    touched: Vec<usize>,
}

impl Tally {
    fn add(&mut self, line: usize) {
        let Some(shared) = self.shared.get_mut(line) else { return };
        if *shared == 0 {
            self.touched.push(line);
        }
        *shared += 1;
    }

    /// Returns what was counted, and starts again.
    fn take(&mut self) -> Vec<(usize, usize)> {
        let Self { shared, touched } = self;
        let counted = touched
            .drain(..)
            .filter_map(|line| shared.get_mut(line).map(|shared| (line, std::mem::take(shared))));
        counted.collect()
    }
}

impl<'a> Index<'a> {
    fn new(pattern: &'a Dense) -> Self {
        let mut index = Self {
            lines: HashMap::new(),
            words: HashMap::new(),
            counts: vec![0; pattern.len()],
            shapes: vec![false; SHAPES],
            line_shapes: vec![false; SHAPES],
            tally: RefCell::new(Tally { shared: vec![0; pattern.len()], touched: Vec::new() }),
        };
        for (at, line) in pattern.iter().enumerate() {
            index.lines.entry(line).or_default().push(at);
            for word in words(line) {
                let lines = index.words.entry(word).or_default();
                if lines.last() != Some(&at) {
                    lines.push(at);
                }
            }
        }
        index.lines.retain(|_, lines| lines.len() <= REPEATED);
        index.words.retain(|_, lines| lines.len() <= REPEATED);
        for line in index.lines.keys() {
            if let Some(shape) = index.line_shapes.get_mut(shape(line)) {
                *shape = true;
            }
        }
        for (word, lines) in &index.words {
            if let Some(shape) = index.shapes.get_mut(shape(word)) {
                *shape = true;
            }
            for &line in lines {
                if let Some(count) = index.counts.get_mut(line) {
                    *count += 1;
                }
            }
        }
        index
    }

    /// Returns the voting words of each line, as far as the line votes at all.
    fn line_words(&self) -> Vec<Vec<&'a str>> {
        let mut words = vec![Vec::new(); self.counts.len()];
        for (word, lines) in &self.words {
            for &line in lines {
                if let Some(words) = words.get_mut(line) {
                    words.push(*word);
                }
            }
        }
        words
    }

    /// Returns the share of the quotation's lines that have their counterpart in the window.
    fn score(&self, text: &Dense, first: usize, lines: usize) -> f32 {
        let mut votes = 0.0;
        for at in 0..lines {
            self.vote(text.line(first + at), |of, share| {
                votes += if of == at { share } else { 0.0 };
            });
        }
        share(votes, lines)
    }

    /// Calls `vote` for every line of the quotation that `line` equals or comes close to.
    fn vote(&self, line: &str, mut vote: impl FnMut(usize, f32)) {
        let known = self.line_shapes.get(shape(line)) == Some(&true);
        if let Some(equal) = known.then(|| self.lines.get(line)).flatten() {
            for &of in equal {
                vote(of, 1.0);
            }
            return;
        }
        let mut tally = self.tally.take();
        for word in words(line).filter(|word| self.shapes.get(shape(word)) == Some(&true)) {
            for &of in self.words.get(word).map_or(&[][..], Vec::as_slice) {
                tally.add(of);
            }
        }
        let shared = tally.take();
        self.tally.replace(tally);
        for (of, count) in shared {
            let total = self.counts.get(of).copied().unwrap_or_default();
            #[expect(clippy::cast_precision_loss, reason = "word counts are small")]
            let share = count.min(total) as f32 / total.max(1) as f32;
            if CLOSE <= share {
                vote(of, share * 0.9);
            }
        }
    }
}

/// Yields the words and numbers of a line; whatever is not ASCII counts as part of a word.
pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut ends = line.bytes().enumerate().peekable();
    std::iter::from_fn(move || {
        let (start, _) = ends.find(|(_, byte)| is_word_byte(*byte))?;
        let mut end = start + 1;
        while ends.next_if(|(_, byte)| is_word_byte(*byte)).is_some() {
            end += 1;
        }
        line.get(start..end)
    })
}

pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Returns a number below [`SHAPES`] that differs for most words, and costs nothing to find out.
fn shape(word: &str) -> usize {
    let bytes = word.as_bytes();
    let end = |byte: Option<&u8>| byte.map_or(0, |byte| usize::from(byte & 31));
    end(bytes.first()) << 10 | end(bytes.last()) << 5 | bytes.len().min(31)
}

//! The canonical form of a text: what remains when spelling habits are set aside.
//!
//! Lines lose the blanks at their ends, runs of blanks become one space, typographic quotes, dashes
//! and ellipses become ASCII, letters and their marks one character where there is one, and invisible
//! characters vanish. A map leads from every position back
//! to the source, and knows which positions lie inside a character that was expanded.

use std::ops::Range;

use memchr::memchr_iter;
use unicode_normalization::UnicodeNormalization;

/// A text in canonical form, with the way back.
#[derive(Debug)]
pub(super) struct Canon<'a> {
    source: &'a str,
    text: String,
    runs: Vec<Run>,
}

/// A stretch of the canonical text, up to the next run's start.
#[derive(Debug, Clone, Copy)]
struct Run {
    canon: u32,
    source: u32,
    /// Whether the stretch stands as a whole for one stretch of the source, instead of being a copy.
    whole: bool,
}

/// What the canonical form makes of a character.
enum Class {
    Plain,
    Blank,
    Invisible,
    Reads(&'static str),
}

impl<'a> Canon<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let mut canon =
            Self { source, text: String::with_capacity(source.len()), runs: Vec::new() };
        canon.build();
        canon
    }

    /// Returns the canonical text.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the bytes of the source that a canonical range stands for, or `None` if the range cuts
    /// through an expanded character.
    pub(super) fn source_range(&self, range: &Range<usize>) -> Option<Range<usize>> {
        if range.is_empty() {
            let at = self.start(range.start)?;
            return Some(at..at);
        }
        Some(self.start(range.start)?..self.end(range.end)?)
    }

    /// Returns the canonical range that stands for a range of the source, or `None` if the source range
    /// cuts through what became one character.
    pub(super) fn canon_range(&self, source: &Range<usize>) -> Option<Range<usize>> {
        let start = self.canon_at(source.start)?;
        let end = self.canon_at(source.end)?;
        Some(start..end)
    }

    /// Returns the canonical position that follows all that stands before `source`.
    fn canon_at(&self, source: usize) -> Option<usize> {
        let index = self.runs.partition_point(|run| run.source as usize <= source);
        let next = self.runs.get(index).map_or(self.text.len(), |next| next.canon as usize);
        let Some(run) = index.checked_sub(1).and_then(|index| self.runs.get(index)) else {
            return Some(0);
        };
        let into = source - run.source as usize;
        if !run.whole || into == 0 {
            return Some(next.min(run.canon as usize + into));
        }
        let len = whole_len(rest(self.source, run.source as usize));
        if into < len { None } else { Some(next) }
    }

    fn start(&self, at: usize) -> Option<usize> {
        if at == self.text.len() {
            return Some(self.source.len());
        }
        let run = self.run_at(at)?;
        let into = at - run.canon as usize;
        if run.whole && into != 0 { None } else { Some(run.source as usize + into) }
    }

    fn end(&self, at: usize) -> Option<usize> {
        let index = self.index_at(at.checked_sub(1)?)?;
        let run = self.runs.get(index)?;
        if !run.whole {
            return Some(run.source as usize + at - run.canon as usize);
        }
        let next = self.runs.get(index + 1).map_or(self.text.len(), |next| next.canon as usize);
        if next != at {
            return None;
        }
        Some(run.source as usize + whole_len(rest(self.source, run.source as usize)))
    }

    fn run_at(&self, at: usize) -> Option<Run> {
        self.runs.get(self.index_at(at)?).copied()
    }

    fn index_at(&self, at: usize) -> Option<usize> {
        self.runs.partition_point(|run| run.canon as usize <= at).checked_sub(1)
    }

    fn build(&mut self) {
        let bytes = self.source.as_bytes();
        let mut start = 0;
        for end in memchr_iter(b'\n', bytes).chain([bytes.len()]) {
            let line = bytes.get(start..end).unwrap_or_default();
            let body = line.trim_ascii();
            let indent = line.len() - line.trim_ascii_start().len();
            let feed = usize::from(end < bytes.len());
            if !is_simple(body) {
                self.build_line(start + indent, end);
                self.copy(end, feed);
            } else if indent + body.len() == line.len() {
                self.copy(start + indent, body.len() + feed);
            } else {
                self.copy(start + indent, body.len());
                self.copy(end, feed);
            }
            start = end + 1;
        }
    }

    /// Takes in what stands on one line from `at` to `end`, character by character.
    fn build_line(&mut self, mut at: usize, end: usize) {
        let line = self.text.len();
        let source = self.source.get(..end).unwrap_or_default();
        while at < end {
            let line_start = self.text.len() == line;
            let plain = plain_len(rest(source, at), line_start);
            let plain = plain - base_len(source, at..at + plain);
            if 0 < plain {
                self.copy(at, plain);
                at += plain;
            } else {
                at += self.step(at, line_start);
            }
        }
    }

    /// Takes in one character or one run of blanks that is not plain; returns its length.
    fn step(&mut self, at: usize, line_start: bool) -> usize {
        let rest = rest(self.source, at);
        let Some(first) = rest.chars().next() else { return 0 };
        let cluster = cluster_len(rest);
        if 0 < cluster {
            let visible =
                rest.get(..cluster).unwrap_or_default().chars().filter(|c| !is_invisible(*c));
            self.whole(at, &visible.nfc().collect::<String>());
            return cluster;
        }
        match classify(first) {
            Class::Plain => self.copy(at, first.len_utf8()),
            Class::Invisible => {}
            Class::Reads(ascii) => self.whole(at, ascii),
            Class::Blank => {
                let len = whole_len(rest);
                let end = rest.get(len..).unwrap_or_default();
                if !line_start && !end.is_empty() && !end.starts_with('\n') {
                    self.whole(at, " ");
                }
                return len;
            }
        }
        first.len_utf8()
    }

    fn copy(&mut self, at: usize, len: usize) {
        if len == 0 {
            return;
        }
        self.note(at, false);
        self.text.push_str(self.source.get(at..at + len).unwrap_or_default());
    }

    fn whole(&mut self, at: usize, reading: &str) {
        self.note(at, true);
        self.text.push_str(reading);
    }

    /// Starts a run, unless the text goes on as the last one would have it.
    #[expect(clippy::cast_possible_truncation, reason = "inexact search is limited to 32 MiB")]
    fn note(&mut self, source: usize, whole: bool) {
        let canon = self.text.len();
        if let Some(last) = self.runs.last() {
            let delta = (last.source as usize).wrapping_sub(last.canon as usize);
            if !whole && !last.whole && delta == source.wrapping_sub(canon) {
                return;
            }
        }
        self.runs.push(Run { canon: canon as u32, source: source as u32, whole });
    }
}

/// Returns the canonical form of one line or fragment, without a map.
pub(super) fn canonical(text: &str) -> String {
    Canon::new(text).text
}

/// Returns whether nothing of `text` is visible.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(is_blank_char)
}

/// Returns whether `c` is white space, a line feed included, or invisible.
pub(super) fn is_blank_char(c: char) -> bool {
    c == '\n' || matches!(classify(c), Class::Blank | Class::Invisible)
}

/// Returns whether `c` has no effect at the end of a line. Joiners and variation selectors are not among
/// these: they belong to the character before them.
pub(super) fn is_stray(c: char) -> bool {
    matches!(c, '\u{1c}'..='\u{1f}' | '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// Returns whether `c` combines with the character before it.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{3099}' | '\u{309a}' | '\u{fe20}'..='\u{fe2f}')
}

/// Splits a line into its indentation, body and trailing blanks; what is invisible counts as blank.
pub(super) fn split_line(line: &str) -> (&str, &str, &str) {
    let is_edge = |c: char| is_stray(c) || matches!(classify(c), Class::Blank);
    let body = line.trim_matches(is_edge);
    if body.is_empty() {
        return (line, "", "");
    }
    let indent = line.len() - line.trim_start_matches(is_edge).len();
    let (head, trail) = line.split_at_checked(indent + body.len()).unwrap_or((line, ""));
    (head.get(..indent).unwrap_or_default(), body, trail)
}

fn rest(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// Returns whether a line without blanks at its ends is canonical as it is: visible ASCII and single
/// spaces. Looks at eight bytes at once, and at the last eight again as a whole.
fn is_simple(line: &[u8]) -> bool {
    const WORD: usize = 8;
    let word = |bytes: &[u8]| bytes.try_into().map_or(u64::MAX, u64::from_le_bytes);
    let mut after_blank = false;
    for bytes in line.chunks_exact(WORD) {
        let Some(blanks) = blanks_of_simple(word(bytes)) else { return false };
        if after_blank && blanks & 0x80 != 0 || blanks & blanks << 8 != 0 {
            return false;
        }
        after_blank = blanks >> 63 != 0;
    }
    let rest = line.len() % WORD;
    let last = line.last_chunk::<WORD>();
    let tail = line.get(line.len() - rest..).unwrap_or_default();
    match last {
        _ if rest == 0 => true,
        Some(last) => blanks_of_simple(u64::from_le_bytes(*last))
            .is_some_and(|blanks| blanks & blanks << 8 == 0),
        None => {
            tail.iter().all(|byte| (b' '..=b'~').contains(byte))
                && !tail.windows(2).any(|pair| pair == b"  ")
        }
    }
}

/// Returns the high bits of those of eight bytes that are spaces, or `None` if not all are visible
/// ASCII or spaces.
fn blanks_of_simple(word: u64) -> Option<u64> {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES * 0x80;
    // No sum carries into the next byte, as every byte is below 0x80 where it counts.
    let low = word & !HIGH;
    let is_visible = (low + ONES * 0x60) & !(low + ONES) & !word & HIGH;
    let is_other = (low ^ (ONES * 0x20)) + ONES * 0x7f;
    (is_visible == HIGH).then_some(!is_other & HIGH)
}

/// Returns how many bytes at the start of `text` are copied as they are.
fn plain_len(text: &str, line_start: bool) -> usize {
    let bytes = text.as_bytes();
    let mut line_start = line_start;
    let mut at = 0;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let run = rest.iter().position(|byte| !is_plain_byte(*byte)).unwrap_or(rest.len());
        at += run;
        line_start &= run == 0;
        match rest.get(run) {
            Some(b'\n') => line_start = true,
            Some(b' ')
                if !line_start && rest.get(run + 1).is_some_and(|next| is_plain_byte(*next)) => {}
            _ => return at,
        }
        at += 1;
    }
}

/// Returns whether a byte belongs to a character that is certainly [`Class::Plain`]: visible ASCII, or one
/// whose first byte begins no character that is blank, invisible or read as something else.
fn is_plain_byte(byte: u8) -> bool {
    const PLAIN: [bool; 256] = {
        let mut plain = [false; 256];
        let mut byte = 0_u8;
        loop {
            let lead = matches!(byte, 0xc2 | 0xca | 0xcc | 0xcd | 0xe1 | 0xe2 | 0xe3 | 0xef);
            #[expect(clippy::indexing_slicing, reason = "evaluated when compiled")]
            {
                plain[byte as usize] = byte.is_ascii_graphic() || (!byte.is_ascii() && !lead);
            }
            if byte == u8::MAX {
                break;
            }
            byte += 1;
        }
        plain
    };
    PLAIN.get(usize::from(byte)) == Some(&true)
}

/// Returns the length of the last character of a range, if it has marks after it and is composed with them.
fn base_len(text: &str, range: Range<usize>) -> usize {
    if range.is_empty() {
        return 0;
    }
    let rest = text.get(range.end..).unwrap_or_default();
    if !rest.trim_start_matches(is_invisible).starts_with(is_mark) {
        return 0;
    }
    let last = text.get(range).unwrap_or_default().chars().next_back();
    last.filter(|c| !c.is_whitespace()).map_or(0, char::len_utf8)
}

fn is_invisible(c: char) -> bool {
    matches!(classify(c), Class::Invisible)
}

/// Returns the length of a character and the marks or letters that compose with it, if there are any.
fn cluster_len(text: &str) -> usize {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return 0 };
    if !matches!(classify(first), Class::Plain) || first.is_whitespace() {
        return 0;
    }
    let is_jamo = ('\u{1100}'..='\u{1112}').contains(&first);
    let composes = |c: &char| is_mark(*c) || is_jamo && ('\u{1161}'..='\u{11c2}').contains(c);
    let (mut len, mut cluster) = (first.len_utf8(), 0);
    for c in chars.take_while(|c| composes(c) || is_invisible(*c)) {
        len += c.len_utf8();
        if !is_invisible(c) {
            cluster = len;
        }
    }
    cluster
}

/// Returns the length of the run of blanks, or else of the one character with its marks, that `text`
/// starts with.
fn whole_len(text: &str) -> usize {
    let blanks = text
        .find(|c| !matches!(classify(c), Class::Blank | Class::Invisible))
        .unwrap_or(text.len());
    match text.chars().next() {
        Some(first) if matches!(classify(first), Class::Blank) => blanks,
        first => cluster_len(text).max(first.map_or(0, char::len_utf8)),
    }
}

fn classify(c: char) -> Class {
    match c {
        '\n' => Class::Plain,
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2033}' | '\u{ff02}' => {
            Class::Reads("\"")
        }
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' | '\u{2bc}' | '\u{ff07}' => {
            Class::Reads("'")
        }
        '\u{2010}'..='\u{2013}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}' => Class::Reads("-"),
        '\u{2014}' | '\u{2015}' => Class::Reads("--"),
        '\u{2026}' => Class::Reads("..."),
        '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => {
            Class::Invisible
        }
        '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{2069}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' => Class::Invisible,
        '\u{1c}'..='\u{1f}' => Class::Blank,
        _ if c.is_whitespace() => Class::Blank,
        _ => Class::Plain,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Class, canonical, classify, is_plain_byte, is_simple};

    #[test]
    fn what_is_copied_unseen_is_plain() {
        for c in '\0'..=char::MAX {
            let first = c.encode_utf8(&mut [0; 4]).as_bytes()[0];

            assert!(!is_plain_byte(first) || matches!(classify(c), Class::Plain), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn a_simple_line_is_visible_and_singly_spaced(line in "([ -~]|  |\\x7f|\t|\0|é){0,40}") {
            let visible = line.bytes().all(|byte| (b' '..=b'~').contains(&byte));

            prop_assert_eq!(is_simple(line.as_bytes()), visible && !line.contains("  "));
        }

        #[test]
        fn a_simple_line_is_its_own_canonical_form(line in "[!-~]([ -~]{0,40}[!-~])?") {
            if is_simple(line.as_bytes()) {
                prop_assert_eq!(canonical(&line), line);
            }
        }
    }
}

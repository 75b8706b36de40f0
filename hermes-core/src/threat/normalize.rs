//! Folds a text to what a reader sees, with a map back to the original bytes.

use std::{borrow::Cow, ops::Range, sync::OnceLock};

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_security::confusable_detection::skeleton;

use super::invisible::is_invisible;

/// A text in which letters that look alike are alike.
///
/// Compatibility forms are decomposed, marks and invisible characters are gone, letters beyond
/// ASCII are in lower case, and a letter of another script inside a Latin word is the Latin letter
/// it looks like. ASCII is kept as it is: looking words up ignores its case.
#[derive(Debug)]
pub(super) struct Folded<'t> {
    text: Cow<'t, str>,
    segments: Vec<Segment>,
}

/// A stretch of the folded text and where it came from.
#[derive(Debug)]
struct Segment {
    folded: usize,
    original: usize,
    /// Where the original of a replaced character ends; `None` for a stretch copied as it is.
    replaced_to: Option<usize>,
}

impl<'t> Folded<'t> {
    /// Folds `text`; ASCII is borrowed.
    pub(super) fn new(text: &'t str) -> Self {
        if text.is_ascii() {
            return Self { text: Cow::Borrowed(text), segments: Vec::new() };
        }
        let mut folding = Folding::new(text);
        folding.run();
        Self { text: Cow::Owned(folding.out), segments: folding.segments }
    }

    /// Returns the folded text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the bytes of the original that became `range` of the folded text.
    pub(super) fn original(&self, range: &Range<usize>) -> Range<usize> {
        if self.segments.is_empty() {
            return range.clone();
        }
        let start = self.segment(range.start);
        let from = match start.replaced_to {
            Some(_) => start.original,
            None => start.original + (range.start - start.folded),
        };
        let last = self.segment(range.end.saturating_sub(1).max(range.start));
        let to = match last.replaced_to {
            Some(to) => to,
            None => last.original + (range.end - last.folded),
        };
        from..to.max(from)
    }

    fn segment(&self, folded: usize) -> &Segment {
        const START: &Segment = &Segment { folded: 0, original: 0, replaced_to: None };
        let after = self.segments.partition_point(|it| it.folded <= folded);
        after.checked_sub(1).and_then(|index| self.segments.get(index)).unwrap_or(START)
    }
}

/// The work of folding one text.
struct Folding<'t> {
    text: &'t str,
    out: String,
    segments: Vec<Segment>,
    /// Letters of another script since the last other character, in `out` and in the original.
    foreign: Vec<(char, usize, usize)>,
}

impl<'t> Folding<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            out: String::with_capacity(text.len()),
            segments: Vec::new(),
            foreign: Vec::new(),
        }
    }

    fn run(&mut self) {
        let mut at = 0;
        while let Some(rest) = self.text.get(at..)
            && !rest.is_empty()
        {
            let plain = ascii_length(rest);
            self.copy(at, rest.get(..plain).unwrap_or_default());
            at += plain;
            let Some(ch) = rest.get(plain..).and_then(|rest| rest.chars().next()) else { break };
            let next = at + ch.len_utf8();
            self.fold(ch, at, next);
            at = next;
        }
    }

    fn copy(&mut self, at: usize, plain: &str) {
        let Some(first) = plain.bytes().next() else { return };
        if first.is_ascii_alphabetic() {
            self.adapt_foreign();
        }
        self.foreign.clear();
        self.segments.push(Segment { folded: self.out.len(), original: at, replaced_to: None });
        self.out.push_str(plain);
    }

    fn fold(&mut self, ch: char, from: usize, to: usize) {
        if is_plain(ch) {
            self.foreign.clear();
            self.push(ch, from, to);
            return;
        }
        if is_invisible(ch) {
            return;
        }
        // A look-alike is a letter, so that each run of joiners before one is looked at once.
        if let Some(latin) = look_alike(ch)
            && self.is_after_latin()
        {
            self.push(latin, from, to);
        } else if let Some(folded) = single_fold(ch) {
            if folded != '\0' {
                self.push_letter(ch, folded, from, to);
            }
        } else {
            self.decompose(ch, from, to);
        }
    }

    /// Returns whether a Latin letter stands before, in the same name: `API_` goes on with `Т`.
    fn is_after_latin(&self) -> bool {
        let before = self.out.as_bytes().iter().rev();
        let mut before = before.skip_while(|byte| **byte == b'_');
        before.next().is_some_and(u8::is_ascii_alphabetic)
    }

    fn decompose(&mut self, ch: char, from: usize, to: usize) {
        for part in std::iter::once(ch).nfkd().filter(|&part| !is_combining_mark(part)) {
            for lower in part.to_lowercase().filter(|&lower| !is_combining_mark(lower)) {
                self.push_letter(part, lower, from, to);
            }
        }
    }

    fn push_letter(&mut self, ch: char, folded: char, from: usize, to: usize) {
        if folded.is_ascii_alphabetic() {
            self.adapt_foreign();
            self.foreign.clear();
        } else if is_alphabetic(folded) {
            self.foreign.push((ch, self.out.len(), from));
        } else {
            self.foreign.clear();
        }
        self.push(folded, from, to);
    }

    fn push(&mut self, ch: char, from: usize, to: usize) {
        let folded = self.out.len();
        let same = self.text.get(from..to).is_some_and(|original| original.starts_with(ch));
        let replaced_to = if same { None } else { Some(to) };
        let continues = same
            && self.segments.last().is_some_and(|last| {
                last.replaced_to.is_none() && last.original + (folded - last.folded) == from
            });
        if !continues {
            self.segments.push(Segment { folded, original: from, replaced_to });
        }
        self.out.push(ch);
    }

    /// A Latin letter follows letters of another script: takes them for the ones they look like.
    fn adapt_foreign(&mut self) {
        let Some(&(_, first, _)) = self.foreign.first() else { return };
        let latin: Option<String> = self.foreign.iter().map(|&(ch, ..)| look_alike(ch)).collect();
        let Some(latin) = latin else { return };
        self.out.truncate(first);
        let keep = self.segments.partition_point(|it| it.folded < first);
        self.segments.truncate(keep);
        for (latin, (ch, _, from)) in latin.chars().zip(std::mem::take(&mut self.foreign)) {
            self.push(latin, from, from + ch.len_utf8());
        }
    }
}

/// Returns whether `ch` is its own folded form: ideographs, kana, Hangul syllables.
fn is_plain(ch: char) -> bool {
    matches!(ch, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Returns how many bytes of ASCII `text` begins with.
pub(super) fn ascii_length(text: &str) -> usize {
    const WIDTH: usize = 16;
    let bytes = text.as_bytes();
    let whole = bytes.chunks_exact(WIDTH).take_while(|chunk| chunk.is_ascii()).count() * WIDTH;
    let rest = bytes.get(whole..).unwrap_or_default();
    whole + rest.iter().take_while(|byte| byte.is_ascii()).count()
}

/// Returns whether `ch` is a letter or digit of any script.
pub(super) fn is_alphanumeric(ch: char) -> bool {
    match block(ch) {
        Some((block, index)) => block.letters >> index & 1 == 1,
        None => ch.is_alphanumeric(),
    }
}

/// Returns whether `ch` is a letter of any script.
fn is_alphabetic(ch: char) -> bool {
    match block(ch) {
        Some((block, index)) => block.alphabetic >> index & 1 == 1,
        None => ch.is_alphabetic(),
    }
}

/// How many characters a block has.
const BLOCK: u32 = 64;
/// How many blocks there are: all characters of up to three bytes.
const BLOCKS: usize = 1_024;

/// What the characters of a part of an alphabet are folded to, and the Latin letters they look
/// like.
#[derive(Debug)]
struct Block {
    /// `None` where it is more than one character; NUL where nothing is left.
    folds: Vec<Option<char>>,
    look_alikes: Vec<Option<char>>,
    /// One bit for each character that is a letter or digit.
    letters: u64,
    /// One bit for each character that is a letter.
    alphabetic: u64,
}

impl Block {
    fn new(start: u32) -> Self {
        let chars = || (start..start + BLOCK).map(|code| char::from_u32(code).unwrap_or('\0'));
        let bits = |is: fn(char) -> bool| {
            (0..).zip(chars()).fold(0, |bits, (index, ch)| bits | u64::from(is(ch)) << index)
        };
        Self {
            folds: chars().map(compute_fold).collect(),
            look_alikes: chars().map(compute_look_alike).collect(),
            letters: bits(char::is_alphanumeric),
            alphabetic: bits(char::is_alphabetic),
        }
    }
}

/// Each block is computed when a text first needs it.
static TABLE: [OnceLock<Block>; BLOCKS] = [const { OnceLock::new() }; BLOCKS];

/// Returns the block of a character and its place there.
fn block(ch: char) -> Option<(&'static Block, usize)> {
    let code = u32::from(ch);
    let block = TABLE.get((code / BLOCK) as usize)?;
    Some((block.get_or_init(|| Block::new(code / BLOCK * BLOCK)), (code % BLOCK) as usize))
}

fn single_fold(ch: char) -> Option<char> {
    let (block, index) = block(ch)?;
    block.folds.get(index).copied().flatten()
}

fn compute_fold(ch: char) -> Option<char> {
    if is_invisible(ch) {
        return Some('\0');
    }
    let stroked = match ch {
        'ł' | 'Ł' => Some('l'),
        'ø' | 'Ø' => Some('o'),
        'đ' | 'Đ' => Some('d'),
        'ı' => Some('i'),
        _ => small_capital(ch),
    };
    if stroked.is_some() {
        return stroked;
    }
    let mut parts = std::iter::once(ch)
        .nfkd()
        .flat_map(char::to_lowercase)
        .filter(|&part| !is_combining_mark(part));
    match (parts.next(), parts.next()) {
        (None, _) => Some('\0'),
        (Some(folded), None) => Some(folded),
        _ => None,
    }
}

/// Returns the letter of which `ch` is the small capital.
fn small_capital(ch: char) -> Option<char> {
    const CAPITALS: &str = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡ";
    let place = CAPITALS.chars().position(|it| it == ch);
    place.and_then(|place| ('a'..='w').nth(place)).or(match ch {
        'ʏ' => Some('y'),
        'ᴢ' => Some('z'),
        _ => None,
    })
}

/// Returns the Latin letter that a letter of another script looks like, in lower case.
pub(super) fn look_alike(ch: char) -> Option<char> {
    let (block, index) = block(ch)?;
    block.look_alikes.get(index).copied().flatten()
}

/// The alphabets of Europe, Cherokee, Lisu, letter-like symbols and the capitals of Coptic.
fn may_look_latin(ch: char) -> bool {
    matches!(u32::from(ch),
        0x80..=0x58f | 0x13a0..=0x13ff | 0x2100..=0x214f | 0x2c80..=0x2cff | 0xa4d0..=0xa4ff
        | 0xab70..=0xabbf)
}

fn compute_look_alike(ch: char) -> Option<char> {
    if !may_look_latin(ch)
        || compute_fold(ch).is_some_and(|folded| folded.is_ascii())
        || !ch.is_alphabetic()
    {
        return None;
    }
    if let Some(latin) = drawn_alike(ch) {
        return Some(latin);
    }
    let to_ascii = |ch: char| {
        let mut buffer = [0; 4];
        let mut parts = skeleton(ch.encode_utf8(&mut buffer));
        match (parts.next(), parts.next()) {
            // The tables draw all of I, l and 1 as l; a capital is an I.
            (Some('l'), None) if ch.is_uppercase() => Some('i'),
            (Some(part), None) if part.is_ascii_alphabetic() => Some(part.to_ascii_lowercase()),
            _ => None,
        }
    };
    to_ascii(ch).or_else(|| ch.to_lowercase().next().and_then(to_ascii))
}

/// Letters that pass for Latin ones in the middle of a word, beyond those that are confusable.
fn drawn_alike(ch: char) -> Option<char> {
    let latin = match ch {
        'ε' | 'έ' => 'e',
        'τ' | 'т' => 't',
        'κ' | 'к' => 'k',
        'η' | 'п' => 'n',
        'ω' => 'w',
        'χ' => 'x',
        'β' | 'в' => 'b',
        'μ' | 'υ' => 'u',
        'м' => 'm',
        'н' => 'h',
        'г' => 'r',
        _ => return None,
    };
    Some(latin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Folded::new(text).text(), expected);
    }

    #[test]
    fn compatibility_forms_and_marks_are_folded() {
        check("\u{ff49}gn\u{f6}re \u{fb01}le \u{1d41a}ll", "ignore file all");
    }

    #[test]
    fn look_alikes_are_folded_inside_latin_words_only() {
        check(
            "\u{456}gn\u{43e}r\u{435} \u{43e}\u{43a}\u{43d}\u{43e}",
            "ignore \u{43e}\u{43a}\u{43d}\u{43e}",
        );
    }

    #[test]
    fn look_alikes_before_the_first_latin_letter_are_folded() {
        check("\u{435}\u{445}\u{430}mple", "example");
    }

    #[test]
    fn small_capitals_are_folded() {
        check("ɪɢɴᴏʀᴇ ᴡᴢʏ", "ignore wzy");
    }

    #[test]
    fn invisible_characters_are_dropped() {
        check("ig\u{200b}no\u{ad}re", "ignore");
    }

    #[test]
    fn a_range_maps_back_to_the_original_bytes() {
        let text = "a \u{ff49}g\u{200b}n\u{f6}re b";
        let folded = Folded::new(text);
        let start = folded.text().find("ignore").unwrap();

        let range = folded.original(&(start..start + 6));

        assert_eq!(text.get(range), Some("\u{ff49}g\u{200b}n\u{f6}re"));
    }
}

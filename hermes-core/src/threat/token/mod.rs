//! Cuts a folded text into words and signs and keeps those that some rule asks for.

mod sign;
mod strange;
mod tag;
mod word;

use std::ops::Range;

use super::{
    dictionary::{Dictionary, Role, Signs, Word, WordId, is_unspaced},
    normalize::is_alphanumeric,
    variable,
};

/// A word or sign that some rule asks for, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    pub(super) word: WordId,
    /// The number of words so far, fillers and repetitions not counted.
    pub(super) position: u32,
    pub(super) sentence: u32,
    pub(super) clause: u32,
    /// The line; one that ends in a backslash goes on.
    pub(super) line: u32,
    /// Bytes of the folded text.
    pub(super) range: Range<usize>,
    /// Whether a clause begins with it.
    pub(super) begins: bool,
    /// Whether a clause ends with it.
    pub(super) ends: bool,
}

/// A stretch of the folded text that may hide another text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Disguised {
    pub(super) kind: Hiding,
    pub(super) range: Range<usize>,
}

/// How a stretch may hide another text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hiding {
    /// A run of base64 or hexadecimal digits.
    Encoded,
    /// A line with percent, entity or backslash escapes.
    Escaped,
    /// A line that is to be read backwards.
    Reversed,
    /// A line rotated by thirteen letters.
    Rotated,
}

/// What the tokenizer has found in a text.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) hits: Vec<Hit>,
    pub(super) disguised: Vec<Disguised>,
}

/// Cuts `text`, which has been folded, into hits.
pub(super) fn tokenize(text: &str) -> Tokens {
    let mut tokenizer = Tokenizer::new(text);
    while tokenizer.at < text.len() {
        tokenizer.advance();
    }
    tokenizer.flush_letters();
    tokenizer.tokens
}

struct Tokenizer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    dictionary: &'static Dictionary,
    signs: Signs,
    tokens: Tokens,
    position: u32,
    sentence: u32,
    clause: u32,
    line: u32,
    line_start: usize,
    /// Where the line begins that ends at the next line end, also behind a backslash.
    row_start: usize,
    /// Words in the sentence so far.
    sentence_words: u32,
    /// Whether two words of the sentence have nothing but a blank between them.
    is_connected: bool,
    /// Whether the next word begins a clause.
    fresh: bool,
    /// The key of the word before.
    previous: u64,
    /// Half-counted characters of scripts without blanks.
    unspaced: u32,
    /// Letters standing alone, with where they stand.
    letters: Vec<(char, usize)>,
    encoded_to: usize,
    escaped_line: Option<usize>,
    /// Where the row begins that was last looked at for being one of a table, and whether it is.
    table_row: Option<(usize, bool)>,
    disguised_line: Option<usize>,
    /// The hosts on the current line, once they have been looked for.
    hosts: Option<variable::Hosts>,
    /// Room for the word that is looked at, its joints, and another spelling of it.
    word: String,
    joints: Vec<(usize, usize)>,
    spelled: String,
}

impl<'t> Tokenizer<'t> {
    fn new(text: &'t str) -> Self {
        let dictionary = Dictionary::get();
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            dictionary,
            signs: dictionary.signs,
            tokens: Tokens::default(),
            position: 0,
            sentence: 0,
            clause: 0,
            line: 0,
            line_start: 0,
            row_start: 0,
            sentence_words: 0,
            is_connected: false,
            fresh: true,
            previous: 0,
            unspaced: 0,
            letters: Vec::new(),
            encoded_to: 0,
            escaped_line: None,
            table_row: None,
            disguised_line: None,
            hosts: None,
            word: String::new(),
            joints: Vec::new(),
            spelled: String::new(),
        }
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(b'\n')
    }

    fn advance(&mut self) {
        match self.byte(self.at) {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => self.word(),
            b' ' | b'\t' => self.at += 1,
            0x80.. => self.beyond_ascii(),
            byte => self.sign(byte),
        }
    }

    fn beyond_ascii(&mut self) {
        let Some(ch) = self.text.get(self.at..).and_then(|rest| rest.chars().next()) else {
            self.at += 1;
            return;
        };
        if is_unspaced(ch) {
            self.unspaced_word(ch);
        } else if is_alphanumeric(ch) {
            self.word();
        } else {
            match ch {
                '\u{3002}' | '\u{ff01}' | '\u{ff1f}' | '\u{6d4}' | '\u{964}' => self.end_sentence(),
                '\u{2013}' | '\u{2014}' => {
                    self.clause += 1;
                    self.fresh = true;
                }
                _ => self.fresh |= !ch.is_whitespace(),
            }
            self.at += ch.len_utf8();
        }
    }

    /// Looks up the word of a script without blanks that begins here, or goes one character on.
    fn unspaced_word(&mut self, ch: char) {
        if self.stands_alone(ch) {
            self.letters.push((ch, self.at));
            self.at += ch.len_utf8();
            return;
        }
        self.flush_letters();
        let rest = self.text.get(self.at..).unwrap_or_default();
        if let Some((id, length)) = self.dictionary.longest_prefix(rest) {
            let range = self.at..self.at + length;
            self.at = range.end;
            self.count(u64::MAX, self.dictionary.word(id));
            self.push(Some(id), range);
            return;
        }
        self.at += ch.len_utf8();
        self.unspaced += 1;
        if self.unspaced.is_multiple_of(2) {
            self.position += 1;
        }
    }

    /// Returns whether blanks stand on both sides of `ch`, which begins here.
    fn stands_alone(&self, ch: char) -> bool {
        let is_blank = |byte: u8| {
            byte.is_ascii_whitespace()
                || matches!(byte, b'*' | b'_' | b'-' | b'.' | b'/' | b'|' | b'~')
        };
        is_blank(self.byte(self.at + ch.len_utf8()))
            && self.at.checked_sub(1).is_none_or(|at| is_blank(self.byte(at)))
    }

    /// Counts a word before it is pushed.
    ///
    /// The same word again does not count; a `key` of `u64::MAX` is never the same.
    fn count(&mut self, key: u64, word: Option<&'static Word>) {
        let filler = word.is_some_and(|word| word.role == Role::Filler);
        if !filler && (key == u64::MAX || key != self.previous) {
            self.position += 1;
        }
        self.previous = key;
        self.sentence_words += 1;
        self.is_connected |= !self.fresh;
        if word.is_some_and(|word| word.role == Role::Breaker) {
            self.clause += 1;
            self.fresh = true;
        }
    }

    fn push(&mut self, id: Option<WordId>, range: Range<usize>) {
        let word = id.and_then(|id| self.dictionary.word(id));
        if let Some(id) = id {
            let last = self.tokens.hits.last().map_or(0, |hit| hit.position);
            self.tokens.hits.push(Hit {
                word: id,
                position: self.position.max(last),
                sentence: self.sentence,
                clause: self.clause,
                line: self.line,
                begins: self.fresh,
                ends: self.ends_clause(range.end),
                range,
            });
        }
        let keeps_fresh = word.is_some_and(|it| it.role != Role::Plain);
        self.fresh &= keeps_fresh;
    }

    fn ends_clause(&self, end: usize) -> bool {
        match self.byte(end) {
            b' ' => matches!(self.byte(end + 1), b'-' | b'(' | b'\n' | b'#' | b'<'),
            byte => !byte.is_ascii_alphanumeric() && byte < 0x80 && byte != b'/' && byte != b'_',
        }
    }

    /// Ends the sentence if it is one: signs after each single word are a disguise.
    fn end_sentence(&mut self) {
        if 3 <= self.sentence_words && self.is_connected {
            self.sentence += 1;
            self.clause += 1;
            self.sentence_words = 0;
            self.is_connected = false;
        }
        self.fresh = true;
    }
}

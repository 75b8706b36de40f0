//! Cuts a folded text into words and signs and keeps those that some rule asks for.

mod sign;
mod strange;
mod word;

use std::ops::Range;

use super::{
    dictionary::{Dictionary, Role, Word, WordId, is_unspaced},
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
    /// Words in the sentence so far.
    sentence_words: u32,
    /// Whether the next word begins a clause.
    fresh: bool,
    /// The hash of the word before.
    previous: u64,
    /// Half-counted characters of scripts without blanks.
    unspaced: u32,
    /// Letters standing alone, with where they stand.
    letters: Vec<(char, usize)>,
    encoded_to: usize,
    escaped_line: Option<usize>,
    disguised_line: Option<usize>,
    /// The hosts on the current line, once they have been looked for.
    hosts: Option<variable::Hosts>,
    word: String,
}

/// The numbers of the signs.
struct Signs {
    pipe: Option<WordId>,
    redirect: Option<WordId>,
    append: Option<WordId>,
    here: Option<WordId>,
    then: Option<WordId>,
    url: Option<WordId>,
    email: Option<WordId>,
    address: Option<WordId>,
    secret: Option<WordId>,
    credential: Option<WordId>,
    variable: Option<WordId>,
}

impl Signs {
    fn new(dictionary: &Dictionary) -> Self {
        let sign = |name: &str| dictionary.find_text(&format!("\0{name}"));
        Self {
            pipe: sign("PIPE"),
            redirect: sign("REDIRECT"),
            append: sign("APPEND"),
            here: sign("HERE"),
            then: sign("THEN"),
            url: sign("URL"),
            email: sign("EMAIL"),
            address: sign("ADDRESS"),
            secret: sign("SECRET_VAR"),
            credential: sign("AUTH_VAR"),
            variable: sign("VAR"),
        }
    }
}

impl<'t> Tokenizer<'t> {
    fn new(text: &'t str) -> Self {
        let dictionary = Dictionary::get();
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            dictionary,
            signs: Signs::new(dictionary),
            tokens: Tokens::default(),
            position: 0,
            sentence: 0,
            clause: 0,
            line: 0,
            line_start: 0,
            sentence_words: 0,
            fresh: true,
            previous: 0,
            unspaced: 0,
            letters: Vec::new(),
            encoded_to: 0,
            escaped_line: None,
            disguised_line: None,
            hosts: None,
            word: String::new(),
        }
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(b'\n')
    }

    fn advance(&mut self) {
        let byte = self.byte(self.at);
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => self.word(),
            b' ' | b'\t' => self.at += 1,
            0x80.. => self.beyond_ascii(),
            _ => self.sign(byte),
        }
    }

    fn beyond_ascii(&mut self) {
        let Some(ch) = self.text.get(self.at..).and_then(|rest| rest.chars().next()) else {
            self.at += 1;
            return;
        };
        if is_unspaced(ch) {
            self.unspaced_word(ch);
        } else if ch.is_alphanumeric() {
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
        let is_blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        is_blank(self.byte(self.at + ch.len_utf8()))
            && self.at.checked_sub(1).is_none_or(|at| is_blank(self.byte(at)))
    }

    /// Counts a word before it is pushed.
    fn count(&mut self, hashed: u64, word: Option<&'static Word>) {
        let filler = word.is_some_and(|word| word.role == Role::Filler);
        if !filler && (hashed == u64::MAX || hashed != self.previous) {
            self.position += 1;
        }
        self.previous = hashed;
        self.sentence_words += 1;
        if word.is_some_and(|word| word.role == Role::Breaker) {
            self.clause += 1;
            self.fresh = true;
        }
    }

    fn push(&mut self, id: Option<WordId>, range: Range<usize>) {
        let word = id.and_then(|id| self.dictionary.word(id));
        if let Some(id) = id {
            self.tokens.hits.push(Hit {
                word: id,
                position: self.position,
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

    fn end_sentence(&mut self) {
        if 3 <= self.sentence_words {
            self.sentence += 1;
            self.clause += 1;
            self.sentence_words = 0;
        }
        self.fresh = true;
    }
}

//! Cuts a folded text into words and signs and keeps those that some rule asks for.

use std::ops::Range;

use super::{
    dictionary::{Dictionary, Disguise, HASH_START, Role, Word, WordId, hash_step, is_unspaced},
    normalize::look_alike,
    variable::{self, Variable},
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

/// The shortest run of digits that is worth decoding.
const ENCODED_MIN: usize = 16;
/// The fewest letters standing alone that are read as a word.
const LETTERS_MIN: usize = 5;
/// After how many letters a word is given up that has few words in it.
const GLUED_TRIAL: usize = 256;
/// How often a letter is repeated to hide where a word begins.
const PADDING_MIN: usize = 8;
/// The longest end of a word with joiners that is looked up as a whole.
const REST_MAX: usize = 24;
/// The shortest word that is taken apart into words.
const GLUED_MIN: usize = 12;

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

    /// Reads a word: letters and digits, with what may stand inside a word.
    fn word(&mut self) {
        let start = self.at;
        let mut hashed = HASH_START;
        let mut end = start;
        while let Some(&byte) = self.bytes.get(end)
            && byte.is_ascii_alphanumeric()
        {
            hashed = hash_step(hashed, byte);
            end += 1;
        }
        if self.goes_on(end) {
            return self.long_word(start);
        }
        self.at = end;
        self.plain_word(start..end, hashed);
    }

    /// Returns whether a word goes on after its ASCII letters, behind a joiner or in another script.
    fn goes_on(&self, end: usize) -> bool {
        match self.byte(end) {
            b'.' | b'_' | b'-' | b'\'' | b'*' => self.is_inside(end + 1),
            0x80.. => {
                let rest = self.text.get(end..).and_then(|rest| rest.chars().next());
                rest.is_some_and(|ch| ch == '\u{2019}' || ch.is_alphanumeric() && !is_unspaced(ch))
            }
            _ => false,
        }
    }

    fn plain_word(&mut self, range: Range<usize>, hashed: u64) {
        let text = self.text.get(range.clone()).unwrap_or_default();
        if self.in_path(range.start) && self.path_name(text, &range) {
            return;
        }
        if text.len() == 1 && text.starts_with(|ch: char| ch.is_ascii_alphabetic()) {
            self.letters.extend(text.chars().map(|ch| (ch, range.start)));
        } else if !self.letters.is_empty() {
            self.flush_letters();
        }
        let found = self.dictionary.find(text, hashed);
        let entry = found.and_then(|id| self.dictionary.word(id));
        if found.is_none() && 3 <= text.len() {
            self.strange_word(text, &range);
        } else if let Some(disguise) = entry.and_then(|word| word.disguise) {
            self.disguise(disguise);
        }
        if !self.in_path(range.start) {
            self.count(hashed, entry);
        }
        self.push(found, range.clone());
        let rest = self.bytes.get(range.end..).unwrap_or_default();
        if found.is_some() && rest.starts_with(b"://") {
            self.push(self.signs.url, range);
        }
    }

    /// Returns whether a slash stands before `start`.
    fn in_path(&self, start: usize) -> bool {
        start.checked_sub(1).is_some_and(|at| self.byte(at) == b'/')
    }

    /// Looks up a word that only means something as the last name of a path.
    fn path_name(&mut self, text: &str, range: &Range<usize>) -> bool {
        if 16 < text.len() || self.byte(range.end) == b'/' {
            return false;
        }
        let mut name = std::mem::take(&mut self.word);
        name.clear();
        name.push('/');
        name.push_str(text);
        let found = self.dictionary.find_text(&name);
        self.word = name;
        self.push(found, range.clone());
        found.is_some()
    }

    /// Looks at a word that is not known: digits for letters, words without blanks, code.
    fn strange_word(&mut self, text: &str, range: &Range<usize>) {
        if ENCODED_MIN <= text.len() {
            self.encoded(range);
        }
        if text.len() <= 24 && text.bytes().any(|byte| byte.is_ascii_digit()) {
            self.digits_for_letters(text, range);
        } else if GLUED_MIN <= text.len() && text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            let first = text.bytes().next().unwrap_or_default();
            let padding = text.bytes().take_while(|&byte| byte == first).count();
            if PADDING_MIN <= padding {
                let rest = text.get(padding..).unwrap_or_default();
                let found = self.dictionary.find_text(rest);
                self.push(found, range.start + padding..range.end);
                return;
            }
            let letters: Vec<(char, usize)> =
                text.char_indices().map(|(at, ch)| (ch, range.start + at)).collect();
            self.glued(&letters);
        }
    }

    fn digits_for_letters(&mut self, text: &str, range: &Range<usize>) {
        if !text.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            return;
        }
        let mut plain = String::with_capacity(text.len());
        plain.extend(text.chars().map(letter_for_digit));
        let found = self.dictionary.find_text(&plain).or_else(|| {
            let plain: String =
                text.chars().map(|ch| if ch == '1' { 'l' } else { letter_for_digit(ch) }).collect();
            self.dictionary.find_text(&plain)
        });
        if let Some(id) = found {
            self.position += 1;
            self.push(Some(id), range.clone());
            self.position = self.position.saturating_sub(1);
        }
    }

    /// Reads a word with joiners, or with letters beyond ASCII.
    fn long_word(&mut self, start: usize) {
        self.flush_letters();
        let mut word = std::mem::take(&mut self.word);
        word.clear();
        let mut joints: Vec<(usize, usize)> = Vec::new();
        let mut end = start;
        while let Some(ch) = self.text.get(end..).and_then(|rest| rest.chars().next()) {
            let next = end + ch.len_utf8();
            match ch {
                '.' | '_' | '-' if self.is_inside(next) || end == start => {
                    if !word.is_empty() {
                        joints.push((word.len(), next));
                    }
                    word.push(ch);
                }
                '\'' | '*' | '\u{2019}' if self.is_inside(next) => {}
                _ if ch.is_alphanumeric() && !is_unspaced(ch) => word.push(ch.to_ascii_lowercase()),
                _ => break,
            }
            end = next;
        }
        self.at = end.max(start + 1);
        self.look_up_parts(&word, &joints, start..end);
        self.word = word;
    }

    /// Returns whether a word goes on at `next`, after a joiner.
    fn is_inside(&self, next: usize) -> bool {
        let rest = self.bytes.get(next..).unwrap_or_default();
        let marks = rest.iter().take(3).take_while(|it| matches!(it, b'_' | b'-' | b'*')).count();
        match self.byte(next + marks) {
            0x80.. => {
                let rest = self.text.get(next + marks..).and_then(|rest| rest.chars().next());
                rest.is_some_and(|ch| ch.is_alphanumeric() && !is_unspaced(ch))
            }
            byte => byte.is_ascii_alphanumeric(),
        }
    }

    /// Looks a long word up as a whole, then in parts.
    fn look_up_parts(&mut self, word: &str, joints: &[(usize, usize)], range: Range<usize>) {
        if let Some(id) = self.find_spelled(word) {
            let entry = self.dictionary.word(id);
            if let Some(disguise) = entry.and_then(|word| word.disguise) {
                self.disguise(disguise);
            }
            if !self.in_path(range.start) {
                self.count(u64::MAX, entry);
            }
            self.push(Some(id), range.clone());
            self.push_email(&range);
            return;
        }
        if ENCODED_MIN <= word.len() {
            self.encoded(&range);
        }
        if word.starts_with(|first: char| first.is_ascii_digit()) && is_address(word) {
            self.count(u64::MAX, None);
            self.push(self.signs.address, range);
            return;
        }
        let quoted =
            range.start.checked_sub(1).is_some_and(|at| matches!(self.byte(at), b'"' | b'\''));
        if quoted && variable::is_secret_name(word) {
            self.push(self.signs.variable, range.clone());
        }
        if word.starts_with('-') {
            self.count(u64::MAX, None);
            return;
        }
        let mut from = (0, range.start);
        for &(folded, original) in joints.iter().chain([&(word.len(), range.end)]) {
            let part = word.get(from.0..folded).unwrap_or_default();
            let part = part.trim_start_matches(['.', '_', '-']);
            if 0 < from.0 && self.rest_of_word(word, from.0, from.1..range.end) {
                break;
            }
            self.part(part, from.1..original);
            from = (folded, original);
        }
        self.push_email(&range);
    }

    /// Looks up what is left of a long word as one word.
    fn rest_of_word(&mut self, word: &str, from: usize, range: Range<usize>) -> bool {
        let rest = word.get(from..).unwrap_or_default().trim_start_matches(['.', '_', '-']);
        if REST_MAX < rest.len() || !rest.contains('_') {
            return false;
        }
        let Some(id) = self.find_spelled(rest) else { return false };
        self.count(u64::MAX, self.dictionary.word(id));
        self.push(Some(id), range);
        true
    }

    fn part(&mut self, part: &str, range: Range<usize>) {
        let mut letters = part.chars();
        if let (Some(letter), None) = (letters.next(), letters.next()) {
            self.letters.push((letter, range.start));
        } else if !part.is_empty() {
            self.flush_letters();
        }
        if part.is_empty() {
            return;
        }
        let found = self.find_spelled(part);
        if found.is_none() && part.is_ascii() && 3 <= part.len() {
            self.strange_word(part, &range);
        }
        let entry = found.and_then(|id| self.dictionary.word(id));
        if let Some(disguise) = entry.and_then(|word| word.disguise) {
            self.disguise(disguise);
        }
        self.count(u64::MAX, entry);
        self.push(found, range);
    }

    /// Finds a word, also when it is spelled with look-alikes or digits throughout.
    fn find_spelled(&self, word: &str) -> Option<WordId> {
        let found = self.dictionary.find_text(word);
        if found.is_some() {
            return found;
        }
        if !word.is_ascii() {
            let latin: Option<String> = word
                .chars()
                .map(|ch| if ch.is_ascii() { Some(ch) } else { look_alike(ch) })
                .collect();
            return latin.and_then(|latin| self.dictionary.find_text(&latin));
        }
        let mixed = word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().any(|byte| byte.is_ascii_alphabetic());
        if !mixed || 24 < word.len() {
            return None;
        }
        let plain: String = word.chars().map(letter_for_digit).collect();
        self.dictionary.find_text(&plain)
    }

    fn push_email(&mut self, range: &Range<usize>) {
        let after_at = range.start.checked_sub(1).is_some_and(|at| self.byte(at) == b'@');
        let named = range.start.checked_sub(2).is_some_and(|at| {
            let byte = self.byte(at);
            byte.is_ascii_alphanumeric() || byte == b'.'
        });
        if after_at && named {
            self.push(self.signs.email, range.clone());
        }
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

    fn sign(&mut self, byte: u8) {
        let next = self.byte(self.at + 1);
        match byte {
            b'\n' => return self.new_line(),
            b'.' | b'-' if next.is_ascii_alphanumeric() || byte == b'-' && next == b'-' => {
                let after_word = self.at.checked_sub(1).is_some_and(|at| {
                    self.byte(at).is_ascii_alphanumeric() || self.byte(at) == byte
                });
                if !after_word {
                    return self.long_word(self.at);
                }
            }
            b'.' | b'!' | b'?' | b';' if self.blank_after(self.at + 1) => self.end_sentence(),
            b':' | b',' | b'(' | b'"' | b'`' | b'\'' | b'*' | b'[' | b'#' => self.fresh = true,
            b'|' if next != b'|' => self.push_sign(self.signs.pipe),
            b'&' if next == b'&' => self.push_sign(self.signs.then),
            b'>' if next == b'>' => self.push_sign(self.signs.append),
            b'>' => self.push_sign(self.signs.redirect),
            b'<' if next == b'<' => self.push_sign(self.signs.here),
            b'$' => return self.variable(),
            _ => {}
        }
        if matches!(byte, b'%' | b'&' | b'\\') && self.escaped_line != Some(self.line_start) {
            self.escape(byte);
        }
        self.at += 1;
    }

    /// Returns whether a blank follows, closing marks apart.
    fn blank_after(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let closing = |byte: &&u8| matches!(byte, b'*' | b'"' | b'\'' | b')' | b'`' | b'_');
        let marks = rest.iter().take(4).take_while(closing).count();
        rest.get(marks).is_none_or(u8::is_ascii_whitespace)
    }

    fn push_sign(&mut self, id: Option<WordId>) {
        let at = self.at;
        self.push(id, at..at + 1);
        self.fresh = true;
    }

    fn new_line(&mut self) {
        let continued = self.at.checked_sub(1).is_some_and(|at| self.byte(at) == b'\\');
        self.at += 1;
        self.fresh = true;
        if continued {
            return;
        }
        self.line += 1;
        self.line_start = self.at;
        self.hosts = None;
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let next = rest.iter().find(|byte| !matches!(byte, b' ' | b'\t')).copied();
        if next.is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'#' | b'-' | b'+' | b'|')) {
            self.end_sentence();
        }
    }

    fn variable(&mut self) {
        let found = Variable::at(self.text, self.at);
        let Some(Variable { name, end }) = found else {
            self.at += 1;
            return;
        };
        let start = self.at;
        self.at = end;
        self.count(u64::MAX, None);
        if !variable::is_secret_name(name) {
            return;
        }
        let text = self.text;
        let (line_start, line_hosts) = (self.line_start, self.hosts.take());
        let hosts = line_hosts.unwrap_or_else(|| variable::Hosts::on_line(text, line_start));
        let sign = if variable::authenticates(text, start, name, &hosts) {
            self.signs.credential
        } else {
            self.signs.secret
        };
        self.hosts = Some(hosts);
        self.push(sign, start..end);
    }

    /// Remembers a run of base64 or hexadecimal digits around `range`.
    fn encoded(&mut self, range: &Range<usize>) {
        if range.end <= self.encoded_to {
            return;
        }
        let is_digit = |byte: &u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
        };
        let before = self.bytes.get(self.encoded_to..range.start).unwrap_or_default();
        let start = range.start - before.iter().rev().take_while(|it| is_digit(it)).count();
        let after = self.bytes.get(range.end..).unwrap_or_default();
        let mut end = range.end;
        let mut width = range.end - start;
        for (index, byte) in after.iter().enumerate() {
            if is_digit(byte) {
                width += 1;
                end = range.end + index + 1;
            } else if *byte == b'\n' && 56 <= width {
                width = 0;
            } else {
                break;
            }
        }
        self.encoded_to = end;
        self.tokens.disguised.push(Disguised { kind: Hiding::Encoded, range: start..end });
    }

    fn escape(&mut self, byte: u8) {
        let next = self.byte(self.at + 1);
        let escapes = match byte {
            b'%' => next.is_ascii_hexdigit() && self.byte(self.at + 2).is_ascii_hexdigit(),
            b'&' => next == b'#',
            _ => {
                matches!(next, b'x' | b'u' | b'0' | b'1')
                    && self.byte(self.at + 2).is_ascii_alphanumeric()
            }
        };
        if escapes {
            self.escaped_line = Some(self.line_start);
            self.disguise_line(Hiding::Escaped);
        }
    }

    fn disguise(&mut self, disguise: Disguise) {
        if self.disguised_line == Some(self.line_start) {
            return;
        }
        self.disguised_line = Some(self.line_start);
        self.disguise_line(match disguise {
            Disguise::Reversed => Hiding::Reversed,
            Disguise::Rotated => Hiding::Rotated,
        });
    }

    fn disguise_line(&mut self, kind: Hiding) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let range = self.line_start..self.at + length;
        self.tokens.disguised.push(Disguised { kind, range });
    }

    /// Reads the letters that stood alone as words.
    fn flush_letters(&mut self) {
        let letters = std::mem::take(&mut self.letters);
        if LETTERS_MIN <= letters.len() {
            self.glued(&letters);
        }
    }

    /// Takes apart letters that have lost the blanks between words.
    fn glued(&mut self, letters: &[(char, usize)]) {
        let text: String = letters.iter().map(|&(ch, _)| ch).filter(char::is_ascii).collect();
        if text.len() != letters.len() {
            return;
        }
        let mut at = 0;
        let mut found: Vec<(WordId, Range<usize>)> = Vec::new();
        let mut covered = 0;
        while at < text.len() {
            let rest = text.get(at..).unwrap_or_default();
            if let Some((id, length)) = self.dictionary.longest_prefix(rest) {
                let place = |index: usize| letters.get(index).map_or(0, |&(_, place)| place);
                found.push((id, place(at)..place(at + length - 1) + 1));
                at += length;
                covered += length;
            } else {
                at += 1;
            }
            if GLUED_TRIAL < at && covered * 3 < at {
                return;
            }
        }
        if found.len() < 2 || covered * 3 < text.len() * 2 {
            return;
        }
        for (id, range) in found {
            self.count(u64::MAX, self.dictionary.word(id));
            self.push(Some(id), range);
        }
    }
}

fn letter_for_digit(ch: char) -> char {
    match ch {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        '8' => 'b',
        '9' => 'g',
        _ => ch,
    }
}

/// Returns whether `word` is an IPv4 address.
fn is_address(word: &str) -> bool {
    word.bytes().filter(|&byte| byte == b'.').count() == 3
        && word.split('.').all(|part| part.parse::<u8>().is_ok())
}

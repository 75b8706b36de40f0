//! Looks behind words that are not known: digits for letters, lost blanks, look-alikes, code.

use std::ops::Range;

use super::{Disguised, Hiding, Tokenizer};
use crate::threat::{dictionary::WordId, normalize::look_alike};

/// The shortest run of digits that is worth decoding.
pub(super) const ENCODED_MIN: usize = 16;
/// The shortest line after which a run of digits goes on in the next one.
const ENCODED_LINE_MIN: usize = 20;
/// The fewest letters standing alone that are read as a word.
const LETTERS_MIN: usize = 5;
/// After how many letters a word is given up that has few words in it.
const GLUED_TRIAL: usize = 256;
/// How often a letter is repeated to hide where a word begins.
const PADDING_MIN: usize = 8;
/// The shortest word that is taken apart into words.
pub(super) const GLUED_MIN: usize = 12;

impl Tokenizer<'_> {
    /// Looks at a word that is not known: words without blanks, code.
    pub(super) fn strange_word(&mut self, text: &str, range: &Range<usize>) {
        if ENCODED_MIN <= text.len() {
            self.encoded(range);
        }
        if GLUED_MIN <= text.len() && text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            let first = text.bytes().next().unwrap_or_default();
            let padding = text.bytes().take_while(|&byte| byte == first).count();
            if PADDING_MIN <= padding {
                let rest = text.get(padding..).unwrap_or_default();
                let found = self.dictionary.find_text(rest);
                self.push(found, range.start + padding..range.end);
                return;
            }
            self.glued(text, |at| range.start + at);
        }
    }

    /// Finds a word in which digits stand for letters.
    pub(super) fn respelled(&mut self, text: &str) -> Option<WordId> {
        let is_mixed = (3..=24).contains(&text.len())
            && text.bytes().any(|byte| byte.is_ascii_digit())
            && text.bytes().any(|byte| byte.is_ascii_alphabetic());
        if !is_mixed {
            return None;
        }
        self.find_respelled(text, letter_for_digit).or_else(|| {
            self.find_respelled(text, |ch| if ch == '1' { 'l' } else { letter_for_digit(ch) })
        })
    }

    /// Finds a word, also when it is spelled with look-alikes or digits throughout.
    pub(super) fn find_spelled(&mut self, word: &str) -> Option<WordId> {
        let found = self.dictionary.find_text(word);
        if found.is_some() {
            return found;
        }
        if !word.is_ascii() {
            let has_look_alikes = word.chars().all(|ch| ch.is_ascii() || look_alike(ch).is_some());
            let latin = |ch: char| if ch.is_ascii() { ch } else { look_alike(ch).unwrap_or(ch) };
            return has_look_alikes.then(|| self.find_respelled(word, latin)).flatten();
        }
        self.respelled(word)
    }

    /// Finds a word after each of its characters has been replaced.
    fn find_respelled(&mut self, word: &str, replace: impl Fn(char) -> char) -> Option<WordId> {
        self.spelled.clear();
        self.spelled.extend(word.chars().map(replace));
        self.dictionary.find_text(&self.spelled)
    }

    /// Remembers a run of base64 or hexadecimal digits around `range`.
    pub(super) fn encoded(&mut self, range: &Range<usize>) {
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
            } else if *byte == b'\n' && ENCODED_LINE_MIN <= width {
                width = 0;
            } else {
                break;
            }
        }
        self.encoded_to = end;
        self.tokens.disguised.push(Disguised { kind: Hiding::Encoded, range: start..end });
    }

    /// Reads the letters that stood alone as words.
    pub(super) fn flush_letters(&mut self) {
        if LETTERS_MIN <= self.letters.len() {
            let letters = std::mem::take(&mut self.letters);
            let mut text = std::mem::take(&mut self.spelled);
            text.clear();
            text.extend(letters.iter().map(|&(ch, _)| ch));
            let mut places: Vec<usize> = Vec::new();
            if !text.is_ascii() {
                let places_of = letters.iter().flat_map(|&(ch, at)| vec![at; ch.len_utf8()]);
                places.extend(places_of);
            }
            if places.is_empty() {
                self.glued(&text, |at| letters.get(at).map_or(0, |&(_, place)| place));
            } else {
                self.glued(&text, |at| places.get(at).copied().unwrap_or_default());
            }
            self.spelled = text;
            self.letters = letters;
        }
        self.letters.clear();
    }

    /// Takes apart letters that have lost the blanks between words; `place` tells where the letter
    /// stands of which a byte is given.
    fn glued(&mut self, text: &str, place: impl Fn(usize) -> usize) {
        let mut at = 0;
        let mut found: Vec<(WordId, Range<usize>)> = Vec::new();
        let mut covered = 0;
        while let Some(rest) = text.get(at..)
            && let Some(first) = rest.chars().next()
        {
            let mut length = first.len_utf8();
            if let Some((id, whole)) = self.dictionary.longest_prefix(rest) {
                let last = rest.get(..whole).and_then(|word| word.chars().next_back());
                let width = last.map_or(1, char::len_utf8);
                length = whole;
                found.push((id, place(at)..place(at + whole - width) + width));
                covered += whole;
            }
            at += length;
            if GLUED_TRIAL < at && covered * 3 < at {
                return;
            }
        }
        let is_whole = covered == text.len();
        if !is_whole && (found.len() < 2 || covered * 3 < text.len() * 2) {
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

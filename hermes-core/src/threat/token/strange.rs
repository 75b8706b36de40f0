//! Looks behind words that are not known: digits for letters, lost blanks, look-alikes, code.

use std::ops::Range;

use super::{Disguised, Hiding, Tokenizer};
use crate::threat::{dictionary::WordId, normalize::look_alike};

/// The shortest run of digits that is worth decoding.
pub(super) const ENCODED_MIN: usize = 16;
/// The fewest letters standing alone that are read as a word.
const LETTERS_MIN: usize = 5;
/// After how many letters a word is given up that has few words in it.
const GLUED_TRIAL: usize = 256;
/// How often a letter is repeated to hide where a word begins.
const PADDING_MIN: usize = 8;
/// The shortest word that is taken apart into words.
const GLUED_MIN: usize = 12;

impl Tokenizer<'_> {
    /// Looks at a word that is not known: digits for letters, words without blanks, code.
    pub(super) fn strange_word(&mut self, text: &str, range: &Range<usize>) {
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

    pub(super) fn digits_for_letters(&mut self, text: &str, range: &Range<usize>) {
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

    /// Finds a word, also when it is spelled with look-alikes or digits throughout.
    pub(super) fn find_spelled(&self, word: &str) -> Option<WordId> {
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
            } else if *byte == b'\n' && 56 <= width {
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
        let letters = std::mem::take(&mut self.letters);
        if LETTERS_MIN <= letters.len() {
            self.glued(&letters);
        }
    }

    /// Takes apart letters that have lost the blanks between words.
    pub(super) fn glued(&mut self, letters: &[(char, usize)]) {
        let text: String = letters.iter().map(|&(ch, _)| ch).collect();
        let mut at = 0;
        let mut letter = 0;
        let mut found: Vec<(WordId, Range<usize>)> = Vec::new();
        let mut covered = 0;
        while let Some(rest) = text.get(at..)
            && let Some(first) = rest.chars().next()
        {
            let (id, length) = match self.dictionary.longest_prefix(rest) {
                Some((id, length)) => (Some(id), length),
                None => (None, first.len_utf8()),
            };
            let count = rest.get(..length).map_or(1, |word| word.chars().count());
            let last = letters.get(letter + count - 1);
            if let (Some(id), Some(&(_, start)), Some(&(ch, end))) = (id, letters.get(letter), last)
            {
                found.push((id, start..end + ch.len_utf8()));
                covered += length;
            }
            at += length;
            letter += count;
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

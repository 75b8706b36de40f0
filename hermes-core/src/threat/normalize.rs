//! Folds a text to what a reader sees, with a map back to the original bytes.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// A folded text and, for every byte of it, the original byte it came from.
pub(super) struct Folded {
    pub(super) text: String,
    origin: Vec<usize>,
}

impl Folded {
    /// Folds `text`: compatibility forms, lower case, no marks, no invisible characters, look-alike
    /// letters of other scripts inside Latin words, one blank for any white space.
    pub(super) fn new(text: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(text.len()), origin: Vec::new() };
        for (start, ch) in text.char_indices() {
            for ch in std::iter::once(ch).nfkd() {
                folded.push(ch, start);
            }
        }
        folded.origin.push(text.len());
        folded
    }

    fn push(&mut self, ch: char, start: usize) {
        if is_combining_mark(ch) || super::patterns::is_invisible(ch) {
            return;
        }
        for ch in ch.to_lowercase() {
            let ch = latin(ch);
            self.text.push(ch);
            self.origin.extend(std::iter::repeat_n(start, ch.len_utf8()));
        }
    }

    /// Returns the range of the original for a range of the folded text.
    pub(super) fn original(&self, text: &str, start: usize, end: usize) -> std::ops::Range<usize> {
        let from = self.origin.get(start).copied().unwrap_or(text.len());
        let last = self.origin.get(end.saturating_sub(1)).copied().unwrap_or(text.len());
        let width = text.get(last..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        from..last + width
    }
}

fn latin(ch: char) -> char {
    match ch {
        'а' | 'α' => 'a',
        'е' => 'e',
        'о' | 'ο' => 'o',
        'р' => 'p',
        'с' => 'c',
        'у' => 'y',
        'х' => 'x',
        'і' | 'ı' => 'i',
        'ѕ' => 's',
        'ј' => 'j',
        'ԁ' => 'd',
        _ => ch,
    }
}

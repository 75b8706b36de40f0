//! The words and patterns of the rules, compiled once.

mod build;

use std::{collections::HashMap, sync::LazyLock};

use super::{grammar::Gap, patterns::Rule};

/// A class of words.
pub(super) type Class = u16;

/// A word that some rule asks for.
pub(super) type WordId = u16;

/// What a pattern does when it sees a word at one of its steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Where the state of this step is kept; the step before is one lower.
    pub(super) slot: u16,
    pub(super) gap: Gap,
    pub(super) is_first: bool,
    /// The track that is complete with this step.
    pub(super) completes: Option<u16>,
}

/// What a complete track means.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The words together are of this class.
    Class(Class),
    /// The rule of this number has been matched.
    Rule(usize),
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Track {
    pub(super) outcome: Outcome,
    pub(super) conditions: Vec<Check>,
}

/// A compiled condition.
#[derive(Clone, Copy, Debug)]
pub(super) enum Check {
    Begins,
    Ends,
    Hidden,
    /// No such word within so many positions after the match.
    NotAfter(Class, u32),
    NotWithin(Class),
    NotBefore(Class),
    NotInSentence(Class),
    NotOnLine(Class),
    InSentence(Class),
}

/// A word with what the patterns do on it.
#[derive(Debug, Default)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) entries: Vec<Entry>,
    pub(super) classes: Vec<Class>,
    pub(super) role: Role,
    /// What a word means that is read backwards or rotated by thirteen letters.
    pub(super) disguise: Option<Disguise>,
}

/// What a word does to the words around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    #[default]
    Plain,
    /// Articles and adverbs: not counted when distances are.
    Filler,
    /// A sign between words, likewise not counted.
    Sign,
    /// Subordinating words: a new clause begins.
    Breaker,
    /// Words after which an order can begin, like "please" and "then".
    Opener,
}

impl Role {
    /// Returns whether a word stands at the position of the word before.
    pub(super) fn is_weightless(self) -> bool {
        matches!(self, Self::Filler | Self::Sign)
    }
}

/// How a line may be disguised as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disguise {
    Reversed,
    Rotated,
}

/// Everything that the tokenizer and the matcher look up.
#[derive(Debug)]
pub(super) struct Dictionary {
    pub(super) words: Vec<Word>,
    /// Open addressing by [`hash`]; zero is free, else the number of the word plus one.
    table: Vec<u16>,
    /// Beginnings of words by the hash of their first five bytes.
    stems: HashMap<u64, Vec<WordId>>,
    /// One bit for each hash of five bytes that some stem begins with.
    stem_filter: Vec<u64>,
    /// Words by [`bucket`], longest first.
    buckets: Vec<Vec<WordId>>,
    pub(super) class_entries: Vec<Vec<Entry>>,
    pub(super) tracks: Vec<Track>,
    pub(super) rules: Vec<&'static Rule>,
    pub(super) slots: usize,
    classes: HashMap<String, Class>,
}

static DICTIONARY: LazyLock<Dictionary> = LazyLock::new(build::build);

/// Extends an FNV hash by one byte, without regard to ASCII case.
pub(super) const fn hash_step(hash: u64, byte: u8) -> u64 {
    (hash ^ byte.to_ascii_lowercase() as u64).wrapping_mul(0x0100_0000_01b3)
}

pub(super) const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(HASH_START, |hash, &byte| hash_step(hash, byte))
}

const STEM_PREFIX: usize = 5;
const FILTER_BITS: u64 = 1 << 16;

impl Dictionary {
    /// Returns the dictionary of this crate's rules.
    pub(super) fn get() -> &'static Self {
        &DICTIONARY
    }

    pub(super) fn word(&self, id: WordId) -> Option<&Word> {
        self.words.get(usize::from(id))
    }

    /// Returns the number of a class that the code names.
    pub(super) fn class(&self, name: &str) -> Option<Class> {
        self.classes.get(name).copied()
    }

    /// Finds a word by itself or by its beginning; `hashed` is the hash of all its bytes.
    pub(super) fn find(&self, text: &str, hashed: u64) -> Option<WordId> {
        self.find_whole(text, hashed).or_else(|| self.find_stem(text))
    }

    /// Finds a word whose hash has not been computed.
    pub(super) fn find_text(&self, text: &str) -> Option<WordId> {
        self.find(text, hash(text.as_bytes()))
    }

    fn find_whole(&self, text: &str, hashed: u64) -> Option<WordId> {
        let mask = self.table.len() - 1;
        let mut index = spread(hashed) & mask;
        loop {
            let id = self.table.get(index)?.checked_sub(1)?;
            if self.word(id)?.text.eq_ignore_ascii_case(text) {
                return Some(id);
            }
            index = (index + 1) & mask;
        }
    }

    fn find_stem(&self, text: &str) -> Option<WordId> {
        let prefix = hash(text.as_bytes().get(..STEM_PREFIX)?);
        let bit = prefix % FILTER_BITS;
        let bits = self.stem_filter.get((bit / 64) as usize)?;
        if bits >> (bit % 64) & 1 == 0 {
            return None;
        }
        let stems = self.stems.get(&prefix)?;
        stems.iter().copied().find(|&id| {
            self.word(id).is_some_and(|word| {
                let stem = word.text.as_bytes();
                text.as_bytes().get(..stem.len()).is_some_and(|it| it.eq_ignore_ascii_case(stem))
            })
        })
    }

    /// Returns the longest word that `text` begins with, and its length in bytes.
    ///
    /// For scripts that put no blanks between words, and for Latin words that have lost theirs.
    pub(super) fn longest_prefix(&self, text: &str) -> Option<(WordId, usize)> {
        self.buckets.get(bucket(text)?)?.iter().find_map(|&id| {
            let word = self.word(id)?.text.as_bytes();
            let start = text.as_bytes().get(..word.len())?;
            start.eq_ignore_ascii_case(word).then_some((id, word.len()))
        })
    }
}

const BUCKETS: usize = 1_024;

/// Returns where words that begin like `text` are kept: by the first character in scripts without
/// blanks, by the first two letters in ASCII.
fn bucket(text: &str) -> Option<usize> {
    match *text.as_bytes() {
        [first, second, _, ..] if first.is_ascii_alphabetic() && second.is_ascii_alphabetic() => {
            Some(usize::from(first & 31) << 5 | usize::from(second & 31))
        }
        [first, ..] if !first.is_ascii() => {
            let first = text.chars().next().filter(|&ch| is_unspaced(ch))?;
            Some(u32::from(first) as usize % BUCKETS)
        }
        _ => None,
    }
}

fn spread(hashed: u64) -> usize {
    usize::try_from((hashed ^ (hashed >> 29)) & 0xffff_ffff).unwrap_or_default()
}

/// Scripts in which words are not separated by blanks, or carry endings without end.
pub(super) fn is_unspaced(ch: char) -> bool {
    matches!(u32::from(ch), 0xe00..=0xeff | 0x3005 | 0x3041..=0x30ff | 0x3400..=0x9fff
        | 0xac00..=0xd7a3)
}

/// Rotates a letter by thirteen places.
pub(super) fn rotate(ch: char) -> char {
    let turn = |base: u8, ch: char| {
        u8::try_from(ch).map_or(ch, |byte| char::from((byte - base + 13) % 26 + base))
    };
    match ch {
        'a'..='z' => turn(b'a', ch),
        'A'..='Z' => turn(b'A', ch),
        _ => ch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_that_a_pattern_names_has_words() {
        let dictionary = Dictionary::get();
        let derived: Vec<Class> = dictionary
            .tracks
            .iter()
            .filter_map(|track| match track.outcome {
                Outcome::Class(class) => Some(class),
                Outcome::Rule(_) => None,
            })
            .collect();

        let empty: Vec<&String> = dictionary
            .classes
            .iter()
            .filter(|(_, class)| {
                !derived.contains(class)
                    && !dictionary.words.iter().any(|word| word.classes.contains(class))
            })
            .map(|(name, _)| name)
            .collect();

        assert_eq!(empty, Vec::<&String>::new());
    }

    #[test]
    fn words_are_found_without_regard_to_case() {
        assert!(Dictionary::get().find_text("IGNORE").is_some());
        assert!(Dictionary::get().find_text("ignored-not-a-word").is_none());
    }
}

//! The words and patterns of the rules, compiled once.

mod build;
pub(super) mod key;

use std::{collections::HashMap, ops::Range, sync::LazyLock};

use super::{grammar::Gap, patterns::Rule};

/// A class of words.
pub(super) type Class = u16;

/// One bit for each class that a condition asks for.
pub(super) type Marks = u128;

/// A word that some rule asks for.
pub(super) type WordId = u16;

/// What a pattern does when it sees a word at one of its steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The state of the step before; [`Entry::NONE`] for a first step.
    pub(super) before: u16,
    /// Where the state of this step is kept; [`Entry::NONE`] if the track is complete with it.
    pub(super) slot: u16,
    /// The track that is complete with this step.
    pub(super) track: u16,
    pub(super) gap: Gap,
}

impl Entry {
    pub(super) const NONE: u16 = u16::MAX;
}

/// What the patterns do on a word or on a phrase that stands for a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    /// What those that have begun do, as a range of [`Dictionary::groups`].
    later: Range<usize>,
    /// Those that begin with it, as a range of [`Dictionary::entries`].
    firsts: Range<usize>,
}

/// Entries of one word that wait for the same step at the same distance.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) before: u16,
    pub(super) gap: Gap,
    /// Of [`Dictionary::entries`].
    range: Range<usize>,
}

impl Group {
    /// Returns the groups of `entries`, which are sorted by them and will stand from `start` on.
    fn all(entries: &[Entry], start: usize) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for (place, &Entry { before, gap, .. }) in (start..).zip(entries) {
            match groups.last_mut() {
                Some(last) if (last.before, last.gap) == (before, gap) => {
                    last.range.end = place + 1;
                }
                _ => groups.push(Self { before, gap, range: place..place + 1 }),
            }
        }
        groups
    }
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
    NotAfter(Marks, u32),
    NotWithin(Marks),
    NotBefore(Marks),
    NotInSentence(Marks),
    NotOnLine(Marks),
    InSentence(Marks),
}

/// A word with what the patterns do on it.
#[derive(Debug, Default)]
pub(super) struct Word {
    pub(super) text: String,
    /// What the patterns do on it.
    pub(super) steps: Steps,
    classes: Vec<Class>,
    /// The marks of its classes.
    pub(super) marks: Marks,
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
    words: Vec<Word>,
    /// The length of the longest of them, in bytes.
    longest: usize,
    /// The [`key`] of each word.
    keys: Vec<u64>,
    /// Open addressing by key; zero is free, else the number of the word plus one.
    table: Vec<u16>,
    /// Beginnings of words by their first five bytes.
    stems: HashMap<u64, Vec<WordId>>,
    /// One bit for each five bytes that some stem begins with.
    stem_filter: Vec<u64>,
    /// Words by [`bucket`], longest first.
    buckets: Vec<Vec<Prefix>>,
    /// One bit for each three letters that some word in the buckets begins with.
    prefix_filter: Vec<u64>,
    entries: Vec<Entry>,
    groups: Vec<Group>,
    class_steps: Vec<Steps>,
    pub(super) tracks: Vec<Track>,
    pub(super) rules: Vec<&'static Rule>,
    pub(super) slots: usize,
    classes: HashMap<String, Class>,
    pub(super) signs: Signs,
    /// The mark of words that speak of attacks or examples.
    pub(super) meta: Marks,
    /// The mark of words that say what became of an attack.
    pub(super) defend: Marks,
    /// The mark of words that report what somebody says.
    pub(super) reported: Marks,
    /// The marks of names of commands.
    commands: Marks,
}

/// The numbers of the signs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signs {
    pub(super) pipe: Option<WordId>,
    pub(super) redirect: Option<WordId>,
    pub(super) append: Option<WordId>,
    pub(super) here: Option<WordId>,
    pub(super) then: Option<WordId>,
    pub(super) url: Option<WordId>,
    pub(super) email: Option<WordId>,
    pub(super) address: Option<WordId>,
    pub(super) secret: Option<WordId>,
    pub(super) secret_name: Option<WordId>,
    pub(super) credential: Option<WordId>,
    pub(super) variable: Option<WordId>,
}

/// The beginning of a word in a bucket, to compare eight bytes at once.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    bytes: u64,
    mask: u64,
    length: usize,
    id: WordId,
}

static DICTIONARY: LazyLock<Dictionary> = LazyLock::new(build::build);

impl Dictionary {
    /// Returns the dictionary of this crate's rules.
    pub(super) fn get() -> &'static Self {
        &DICTIONARY
    }

    pub(super) fn word(&self, id: WordId) -> Option<&Word> {
        self.words.get(usize::from(id))
    }

    /// Returns whether a word is the name of a command.
    pub(super) fn is_command(&self, id: WordId) -> bool {
        self.word(id).is_some_and(|word| word.marks & self.commands != 0)
    }

    /// Returns what the patterns do on a phrase of a class.
    pub(super) fn class_steps(&self, class: Class) -> Option<&Steps> {
        self.class_steps.get(usize::from(class))
    }

    /// Returns what the patterns that have begun do, later steps first.
    pub(super) fn later(&self, steps: &Steps) -> &[Group] {
        self.groups.get(steps.later.clone()).unwrap_or_default()
    }

    /// Returns the entries of a group.
    pub(super) fn of_group(&self, group: &Group) -> &[Entry] {
        self.entries.get(group.range.clone()).unwrap_or_default()
    }

    /// Returns the first steps of the patterns that begin.
    pub(super) fn firsts(&self, steps: &Steps) -> &[Entry] {
        self.entries.get(steps.firsts.clone()).unwrap_or_default()
    }

    /// Finds a word by itself or by its beginning; `key` is its [`key`].
    pub(super) fn find(&self, text: &str, key: u64) -> Option<WordId> {
        self.find_whole(text, key).or_else(|| self.find_stem(text))
    }

    /// Finds a word whose key has not been computed.
    pub(super) fn find_text(&self, text: &str) -> Option<WordId> {
        if self.longest < text.len() {
            return self.find_stem(text);
        }
        self.find(text, key::of(text.as_bytes()))
    }

    fn find_whole(&self, text: &str, key: u64) -> Option<WordId> {
        let mask = self.table.len() - 1;
        let mut index = key::spread(key) & mask;
        loop {
            let id = self.table.get(index)?.checked_sub(1)?;
            if *self.keys.get(usize::from(id))? == key
                && (key::is_exact(key) || self.word(id)?.text.eq_ignore_ascii_case(text))
            {
                return Some(id);
            }
            index = (index + 1) & mask;
        }
    }

    fn find_stem(&self, text: &str) -> Option<WordId> {
        let start = key::start(text.as_bytes().get(..STEM_PREFIX)?);
        if !has_bit(&self.stem_filter, key::spread(start)) {
            return None;
        }
        let stems = self.stems.get(&start)?;
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
        let bytes = text.as_bytes();
        if !has_bit(&self.prefix_filter, filter_index(bytes)?) {
            return None;
        }
        let start = key::start(bytes);
        self.buckets.get(bucket(text)?)?.iter().find_map(|prefix| {
            let matches = (start ^ prefix.bytes) & prefix.mask == 0
                && (prefix.length <= 8 || {
                    let word = self.word(prefix.id)?.text.as_bytes();
                    bytes.get(..prefix.length)?.eq_ignore_ascii_case(word)
                });
            matches.then_some((prefix.id, prefix.length))
        })
    }
}

const STEM_PREFIX: usize = 5;
/// How many bits the filters have.
const FILTER_BITS: usize = 1 << 15;

fn has_bit(filter: &[u64], index: usize) -> bool {
    let index = index % FILTER_BITS;
    filter.get(index / 64).is_some_and(|bits| bits >> (index % 64) & 1 == 1)
}

/// Returns the bit for the first three bytes of a text, or `None` if it is shorter.
fn filter_index(bytes: &[u8]) -> Option<usize> {
    let [first, second, third, ..] = *bytes else { return None };
    let index = |byte: u8, shift: usize| usize::from(byte & 31) << shift;
    Some(index(first, 10) | index(second, 5) | index(third, 0))
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
    fn there_are_bits_for_all_classes_that_conditions_ask_for() {
        let dictionary = Dictionary::get();
        let asks_for_nothing = |check: &Check| match *check {
            Check::Begins | Check::Ends | Check::Hidden => false,
            Check::NotAfter(marks, _)
            | Check::NotWithin(marks)
            | Check::NotBefore(marks)
            | Check::NotInSentence(marks)
            | Check::NotOnLine(marks)
            | Check::InSentence(marks) => marks == 0,
        };

        let mut checks = dictionary.tracks.iter().flat_map(|track| &track.conditions);

        let named = [dictionary.meta, dictionary.defend, dictionary.reported, dictionary.commands];
        assert!(!named.contains(&0) && !checks.any(asks_for_nothing));
    }

    #[test]
    fn words_are_found_without_regard_to_case() {
        assert!(Dictionary::get().find_text("IGNORE").is_some());
        assert!(Dictionary::get().find_text("ignored-not-a-word").is_none());
    }
}

//! Which lines of a long text deserve a closer look: those with a rare word of the quotation.
//!
//! To come close to a line of the quotation, a line needs half of its words, and so at least one of
//! any larger half. The rarest of them are searched for, all in one pass; how rare a word is, a
//! sample of the text tells.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, Input, MatchKind};

use super::dense::Dense;
use super::survey::{is_word_byte, words};

/// How many words are searched for, at most: so many still go through the searcher's fast path.
const WORDS: usize = 48;
/// How many lines of the text the sample has.
const SAMPLED: usize = 1_024;
/// How many hits are expected at most, as a share of the sampled lines.
const EXPECTED: usize = SAMPLED / 8;
/// How many bytes a word needs not to turn up inside of others all the time; shorter ones are only
/// searched for if there are no others.
const LONG: usize = 3;

/// The words to be searched for.
pub(super) struct Probes {
    searcher: AhoCorasick,
}

impl Probes {
    /// Chooses from the words of each line of the quotation, the rarest first; `None` if there are none.
    ///
    /// Words that are common say little about the place, and are left out.
    pub(super) fn choose(text: &Dense, lines: Vec<Vec<&str>>) -> Option<Self> {
        let costs = costs(text, &lines);
        let key = |word: &&str| (costs.get(*word).copied().unwrap_or_default(), (*word).to_owned());
        let mut halves: Vec<&str> = Vec::new();
        for mut words in lines {
            words.sort_by_cached_key(key);
            halves.extend(words.get(..words.len().min(words.len() / 2 + 1)).unwrap_or_default());
        }
        halves.sort_by_cached_key(key);
        halves.dedup();
        if halves.iter().any(|word| LONG <= word.len()) {
            halves.retain(|word| LONG <= word.len());
        }
        let mut expected = 0;
        let chosen = halves.iter().take(WORDS).enumerate().take_while(|(at, word)| {
            expected += key(word).0;
            *at == 0 || expected <= EXPECTED
        });
        let chosen: Vec<&str> = chosen.map(|(_, word)| *word).collect();
        let mut builder = AhoCorasick::builder();
        let searcher = builder.match_kind(MatchKind::LeftmostLongest).build(&chosen).ok()?;
        (!chosen.is_empty()).then_some(Self { searcher })
    }

    /// Yields the lines of `text` from `first` on that have one of the words.
    pub(super) fn lines<'a>(
        &'a self,
        text: &'a Dense,
        first: usize,
    ) -> impl Iterator<Item = usize> + 'a {
        let mut from = text.range(first).map_or(text.as_str().len(), |range| range.start);
        std::iter::from_fn(move || {
            loop {
                let input = Input::new(text.as_str()).range(from..);
                let hit = self.searcher.find(input)?;
                from = hit.end();
                if is_whole(text.as_str().as_bytes(), hit.start(), hit.end()) {
                    let line = text.line_at(hit.start());
                    from = text.range(line)?.end;
                    return Some(line);
                }
            }
        })
    }
}

/// Returns how often each word of the quotation stands in a sample of the text.
fn costs<'a>(text: &Dense, lines: &[Vec<&'a str>]) -> HashMap<&'a str, usize> {
    let mut costs: HashMap<&str, usize> = lines.iter().flatten().map(|word| (*word, 0)).collect();
    for line in (0..text.len()).step_by(1.max(text.len() / SAMPLED)) {
        for word in words(text.line(line)) {
            if let Some(cost) = costs.get_mut(word) {
                *cost += 1;
            }
        }
    }
    costs
}

/// Returns whether a match is not part of a longer word.
fn is_whole(text: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).and_then(|before| text.get(before));
    let joins = |byte: Option<&u8>| byte.is_some_and(|byte| is_word_byte(*byte));
    !joins(before) && !joins(text.get(end))
}

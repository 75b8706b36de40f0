//! Runs all patterns over the hits of a text in one pass.

use super::{
    dictionary::{Check, Class, Dictionary, Entry, Outcome, Track},
    grammar::Gap,
    token::Hit,
};

/// A rule that matched, by its number, and the first and last hit of the match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) rule: usize,
    pub(super) first: usize,
    pub(super) last: usize,
}

/// How far the surroundings of a match are looked at, in hits.
const SURROUNDINGS: usize = 24;

/// Returns the matches in `hits`; `is_hidden` tells whether a hit lies in text that is not shown.
pub(super) fn find(hits: &[Hit], is_hidden: impl Fn(&Hit) -> bool) -> Vec<Match> {
    let dictionary = Dictionary::get();
    let mut matcher = Matcher {
        dictionary,
        hits,
        is_hidden,
        states: vec![State::default(); dictionary.slots],
        derived: Vec::new(),
        matches: Vec::new(),
    };
    for (index, hit) in hits.iter().enumerate() {
        matcher.feed(index, hit);
    }
    matcher.matches
}

/// How far the newest partial match has come at one step; a `last` of zero is none.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    first: u32,
    /// The index of the last hit, plus one.
    last: u32,
}

struct Matcher<'h, F> {
    dictionary: &'static Dictionary,
    hits: &'h [Hit],
    is_hidden: F,
    states: Vec<State>,
    derived: Vec<(Class, usize)>,
    matches: Vec<Match>,
}

impl<F: Fn(&Hit) -> bool> Matcher<'_, F> {
    fn feed(&mut self, index: usize, hit: &Hit) {
        let Some(word) = self.dictionary.word(hit.word) else { return };
        for entry in &word.entries {
            self.step(*entry, index, index);
        }
        // Phrases may be parts of phrases, but not without end.
        for _ in 0..8 {
            let Some((class, first)) = self.derived.pop() else { break };
            let entries = self.dictionary.class_entries.get(usize::from(class));
            for entry in entries.into_iter().flatten() {
                self.step(*entry, first, index);
            }
        }
        self.derived.clear();
    }

    /// Lets a word or phrase that goes from hit `first` to hit `last` be a step of a pattern.
    fn step(&mut self, entry: Entry, first: usize, last: usize) {
        let slot = usize::from(entry.slot);
        let start = if entry.is_first {
            first
        } else {
            let Some(state) = slot.checked_sub(1).and_then(|it| self.states.get(it)).copied()
            else {
                return;
            };
            if !self.follows(state, first, entry.gap) {
                return;
            }
            state.first as usize
        };
        match entry.completes {
            Some(track) => self.complete(track, start, last),
            None => {
                if let Some(state) = self.states.get_mut(slot) {
                    let number = |index| u32::try_from(index).unwrap_or(u32::MAX);
                    *state = State { first: number(start), last: number(last).saturating_add(1) };
                }
            }
        }
    }

    fn follows(&self, state: State, first: usize, gap: Gap) -> bool {
        let Some(last) = (state.last as usize).checked_sub(1) else { return false };
        if first <= last {
            return false;
        }
        let (Some(before), Some(hit)) = (self.hits.get(last), self.hits.get(first)) else {
            return false;
        };
        let distance = hit.position.saturating_sub(before.position);
        match gap {
            Gap::Next => distance <= u32::from(self.weighs(hit)),
            Gap::Close => distance <= 4 && before.clause == hit.clause,
            Gap::Clause => distance <= 10 && before.clause == hit.clause,
            Gap::Sentence => distance <= 30 && before.sentence == hit.sentence,
            Gap::Line => before.line == hit.line,
            Gap::Near => distance <= 60,
        }
    }

    fn complete(&mut self, track: u16, first: usize, last: usize) {
        let Some(track): Option<&'static Track> = self.dictionary.tracks.get(usize::from(track))
        else {
            return;
        };
        if !track.conditions.iter().all(|check| self.holds(*check, first, last)) {
            return;
        }
        match track.outcome {
            Outcome::Class(class) => self.derived.push((class, first)),
            Outcome::Rule(rule) => self.matches.push(Match { rule, first, last }),
        }
    }

    fn holds(&self, check: Check, first: usize, last: usize) -> bool {
        let (Some(start), Some(end)) = (self.hits.get(first), self.hits.get(last)) else {
            return false;
        };
        match check {
            Check::Begins => start.begins,
            Check::Ends => end.ends,
            Check::Hidden => (self.is_hidden)(start) && (self.is_hidden)(end),
            Check::NotAfter(class, reach) => !self
                .hits
                .iter()
                .skip(last + 1)
                .take_while(|it| it.position <= end.position + reach && it.sentence == end.sentence)
                .take(SURROUNDINGS)
                .any(|it| self.is(it, class)),
            Check::NotWithin(class) => {
                let within = self.hits.get(first..=last).unwrap_or_default();
                !within.iter().take(SURROUNDINGS).any(|it| self.is(it, class))
            }
            Check::NotBefore(class) => !self
                .before(first)
                .take_while(|it| start.position <= it.position + 1 && it.sentence == start.sentence)
                .any(|it| self.is(it, class)),
            Check::NotInSentence(class) => !self.in_sentence(first, class),
            Check::InSentence(class) => self.in_sentence(first, class),
            Check::NotOnLine(class) => {
                let line = start.line;
                !self.around(first, move |it| it.line == line).any(|it| self.is(it, class))
            }
        }
    }

    fn in_sentence(&self, first: usize, class: Class) -> bool {
        let sentence = self.hits.get(first).map(|it| it.sentence);
        self.around(first, move |it| Some(it.sentence) == sentence).any(|it| self.is(it, class))
    }

    fn before(&self, index: usize) -> impl Iterator<Item = &Hit> {
        self.hits.get(..index).unwrap_or_default().iter().rev().take(SURROUNDINGS)
    }

    fn around(
        &self,
        index: usize,
        same: impl Fn(&Hit) -> bool + Copy,
    ) -> impl Iterator<Item = &Hit> {
        let after = self.hits.get(index..).unwrap_or_default().iter().take(SURROUNDINGS);
        self.before(index)
            .take_while(move |it| same(it))
            .chain(after.take_while(move |it| same(it)))
    }

    fn weighs(&self, hit: &Hit) -> bool {
        self.dictionary.word(hit.word).is_some_and(|word| !word.role.is_weightless())
    }

    fn is(&self, hit: &Hit, class: Class) -> bool {
        self.dictionary.word(hit.word).is_some_and(|word| word.classes.contains(&class))
    }
}

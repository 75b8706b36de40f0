//! Runs all patterns over the hits of a text in one pass.

use super::{
    dictionary::{Check, Class, Dictionary, Entry, Marks, Outcome, Steps, Track},
    grammar::Gap,
    nearby::Nearby,
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

/// For how many hits it is kept what is in their reach; few phrases are longer.
const REACHES: usize = 64;

/// What is kept from one text to the next, so that short texts cost little.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    states: Vec<State>,
    /// How many hits there have been; states of earlier texts are not beyond it.
    base: u32,
}

/// Gives the matches in the hits of `nearby` to `report`, by their last hits; `is_hidden` tells
/// whether a hit lies in text that is not shown.
pub(super) fn find(
    nearby: &Nearby<'_>,
    scratch: &mut Scratch,
    is_hidden: impl Fn(&Hit) -> bool,
    report: impl FnMut(Match),
) {
    let dictionary = Dictionary::get();
    let hits = nearby.hits();
    let count = u32::try_from(hits.len()).unwrap_or(u32::MAX);
    let next = scratch.base.checked_add(count).filter(|_| !scratch.states.is_empty());
    if next.is_none() {
        scratch.states.clear();
        scratch.states.resize(dictionary.slots, State::default());
        scratch.base = 0;
    }
    let base = scratch.base;
    scratch.base = next.unwrap_or(count);
    let mut matcher = Matcher {
        dictionary,
        nearby,
        is_hidden,
        report,
        states: &mut scratch.states,
        base,
        windows: Windows::default(),
        reaches: [[0; Gap::COUNT]; REACHES],
        derived: Vec::new(),
    };
    for (index, hit) in hits.iter().enumerate() {
        matcher.feed(index, hit);
    }
}

/// How far the newest partial match has come at one step; both are numbers of hits.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    first: u32,
    /// The last hit, plus one.
    last: u32,
}

/// For each gap the first hit from which the newest one is in reach, as an index.
///
/// Positions, clauses, sentences and lines only rise, so all hits from there on are in reach.
#[derive(Clone, Copy, Debug, Default)]
struct Windows {
    same: usize,
    next: usize,
    close: usize,
    clause: usize,
    sentence: usize,
    line: usize,
    near: usize,
}

impl Windows {
    /// Moves on to the hit at `index`.
    fn advance(&mut self, hits: &[Hit], index: usize) {
        let Some(hit) = hits.get(index) else { return };
        let beyond = |it: &Hit, reach: u32| it.position + reach < hit.position;
        let before = hits.get(..index).unwrap_or_default();
        self.line = skip(before, self.line, |it| it.line != hit.line);
        self.near = skip(before, self.near, |it| beyond(it, 60));
        let out = |it: &Hit| it.sentence != hit.sentence || beyond(it, 30);
        self.sentence = skip(before, self.sentence, out);
        let out = |it: &Hit| it.clause != hit.clause || beyond(it, 10);
        self.clause = skip(before, self.clause, out);
        self.close = skip(before, self.close.max(self.clause), |it| beyond(it, 4));
        self.next = skip(before, self.next, |it| beyond(it, 1));
        self.same = skip(before, self.same.max(self.next), |it| beyond(it, 0));
    }

    fn start(&self, gap: Gap, weighs: bool) -> usize {
        match gap {
            Gap::Next if weighs => self.next,
            Gap::Next => self.same,
            Gap::Close => self.close,
            Gap::Clause => self.clause,
            Gap::Sentence => self.sentence,
            Gap::Line => self.line,
            Gap::Near => self.near,
        }
    }
}

/// Returns the first hit from `from` on that is not out of reach.
fn skip(hits: &[Hit], from: usize, is_out: impl Fn(&Hit) -> bool) -> usize {
    let rest = hits.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|hit| is_out(hit)).count()
}

struct Matcher<'h, F, R> {
    dictionary: &'static Dictionary,
    nearby: &'h Nearby<'h>,
    is_hidden: F,
    report: R,
    states: &'h mut [State],
    /// The number of the first hit.
    base: u32,
    windows: Windows,
    /// For the latest hits, each at its number modulo [`REACHES`], the numbers of the first hits in
    /// reach, by gap.
    reaches: [[u32; Gap::COUNT]; REACHES],
    derived: Vec<(Class, u32)>,
}

impl<F: Fn(&Hit) -> bool, R: FnMut(Match)> Matcher<'_, F, R> {
    fn feed(&mut self, index: usize, hit: &Hit) {
        let dictionary = self.dictionary;
        let Some(word) = dictionary.word(hit.word) else { return };
        self.windows.advance(self.nearby.hits(), index);
        let newest = self.base + number(index);
        let weighs = !word.role.is_weightless();
        if let Some(reach) = self.reaches.get_mut(newest as usize % REACHES) {
            for (reach, gap) in reach.iter_mut().zip(Gap::ALL) {
                *reach = self.base + number(self.windows.start(gap, weighs));
            }
        }
        self.take(&word.steps, newest, newest);
        // Phrases may be parts of phrases, but not without end.
        for _ in 0..8 {
            let Some((class, first)) = self.derived.pop() else { break };
            if let Some(steps) = dictionary.class_steps(class) {
                self.take(steps, first, newest);
            }
        }
        self.derived.clear();
    }

    /// Lets what goes from hit `first` to hit `last` be a step of patterns.
    fn take(&mut self, steps: &Steps, first: u32, last: u32) {
        let dictionary = self.dictionary;
        let reach = self.reaches.get(first as usize % REACHES).copied().unwrap_or_default();
        let is_kept = ((last - first) as usize) < REACHES;
        for group in dictionary.later(steps) {
            let Some(state) = self.states.get(usize::from(group.before)).copied() else { continue };
            let from = reach.get(group.gap as usize).copied().unwrap_or_default();
            let follows = from < state.last && state.last <= first;
            if follows && is_kept || !is_kept && self.follows(state, first, group.gap) {
                for entry in dictionary.of_group(group) {
                    self.step(*entry, state.first, last);
                }
            }
        }
        // Last, so that a word can be the second step after itself.
        for entry in dictionary.firsts(steps) {
            self.step(*entry, first, last);
        }
    }

    /// Takes a step of a pattern that began at hit `first`.
    #[inline]
    fn step(&mut self, entry: Entry, first: u32, last: u32) {
        if entry.track != Entry::NONE {
            self.complete(entry.track, first, last);
        } else if let Some(state) = self.states.get_mut(usize::from(entry.slot)) {
            *state = State { first, last: last + 1 };
        }
    }

    fn hit(&self, number: u32) -> Option<&Hit> {
        self.nearby.hits().get(number.checked_sub(self.base)? as usize)
    }

    fn follows(&self, state: State, first: u32, gap: Gap) -> bool {
        if state.last <= self.base || first < state.last {
            return false;
        }
        let (Some(before), Some(hit)) = (self.hit(state.last - 1), self.hit(first)) else {
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

    fn complete(&mut self, track: u16, first: u32, last: u32) {
        let place = |number: u32| number.saturating_sub(self.base) as usize;
        let (first, last) = (place(first), place(last));
        let Some(track): Option<&'static Track> = self.dictionary.tracks.get(usize::from(track))
        else {
            return;
        };
        if !track.conditions.iter().all(|check| self.holds(*check, first, last)) {
            return;
        }
        match track.outcome {
            Outcome::Class(class) => self.derived.push((class, self.base + number(first))),
            Outcome::Rule(rule) => (self.report)(Match { rule, first, last }),
        }
    }

    fn holds(&self, check: Check, first: usize, last: usize) -> bool {
        let hits = self.nearby.hits();
        let (Some(start), Some(end)) = (hits.get(first), hits.get(last)) else {
            return false;
        };
        match check {
            Check::Begins => start.begins,
            Check::Ends => end.ends,
            Check::Hidden => (self.is_hidden)(start) && (self.is_hidden)(end),
            Check::NotAfter(marks, reach) => {
                !self.nearby.has_from(last + 1, SURROUNDINGS, marks, |it| {
                    it.position <= end.position + reach && it.sentence == end.sentence
                })
            }
            Check::NotWithin(marks) => {
                let count = (last + 1 - first).min(SURROUNDINGS);
                !self.nearby.has_from(first, count, marks, |_| true)
            }
            Check::NotBefore(marks) => !self.nearby.has_before(first, SURROUNDINGS, marks, |it| {
                start.position <= it.position + 1 && it.sentence == start.sentence
            }),
            Check::NotInSentence(marks) => {
                !self.around(first, marks, |it| it.sentence == start.sentence)
            }
            Check::InSentence(marks) => {
                self.around(first, marks, |it| it.sentence == start.sentence)
            }
            Check::NotOnLine(marks) => !self.around(first, marks, |it| it.line == start.line),
        }
    }

    fn around(&self, index: usize, marks: Marks, same: impl Fn(&Hit) -> bool) -> bool {
        self.nearby.has_before(index, SURROUNDINGS, marks, &same)
            || self.nearby.has_from(index, SURROUNDINGS, marks, &same)
    }

    fn weighs(&self, hit: &Hit) -> bool {
        self.dictionary.word(hit.word).is_some_and(|word| !word.role.is_weightless())
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

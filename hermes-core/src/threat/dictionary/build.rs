//! Compiles the lists of words and rules into a [`Dictionary`].

use std::collections::HashMap;

use super::{
    BUCKETS, Check, Class, Dictionary, Disguise, Entry, FILTER_BITS, Outcome, Role, STEM_PREFIX,
    Track, Word, WordId, bucket, hash, rotate, spread,
};
use crate::threat::{
    grammar::{Condition, Pattern},
    normalize::Folded,
    patterns::{self, Rule},
    words,
};

/// Compiles the words and rules of this crate.
pub(super) fn build() -> Dictionary {
    Builder::default().build()
}

#[derive(Default)]
struct Builder {
    classes: HashMap<String, Class>,
    words: Vec<Word>,
    ids: HashMap<String, WordId>,
    members: HashMap<Class, Vec<WordId>>,
    stems: Vec<WordId>,
    class_entries: Vec<Vec<Entry>>,
    tracks: Vec<Track>,
    rules: Vec<&'static Rule>,
    slots: u16,
}

impl Builder {
    fn build(mut self) -> Dictionary {
        self.add_words();
        for &(class, sources) in words::phrases() {
            let class = self.class(class);
            for source in sources.split(';') {
                self.add_track(source, Outcome::Class(class));
            }
        }
        for (index, rule @ Rule { patterns, .. }) in patterns::rules().enumerate() {
            self.rules.push(rule);
            for source in *patterns {
                self.add_track(source, Outcome::Rule(index));
            }
        }
        self.share_stems();
        self.spread_entries();
        self.finish()
    }

    fn add_words(&mut self) {
        for &(class, list) in words::lists() {
            let class = self.class(class);
            for text in list.split_whitespace() {
                match text.strip_suffix('*') {
                    Some(stem) => self.add_stem(stem, class),
                    None => {
                        self.add_word(text, class);
                    }
                }
            }
        }
        for &name in words::SIGNS {
            let class = self.class(name);
            let id = self.add_word(&format!("\0{name}"), class);
            if words::WEIGHTLESS.contains(&name) {
                self.set_role(id, Role::Sign);
            }
        }
        for &text in words::DISGUISED {
            let reversed: String = text.chars().rev().collect();
            let rotated: String = text.chars().map(rotate).collect();
            self.add_disguise(&reversed, Disguise::Reversed);
            self.add_disguise(&rotated, Disguise::Rotated);
        }
        self.mark(words::FILLERS, Role::Filler);
        self.mark(words::BREAKERS, Role::Breaker);
        self.mark(words::OPENERS, Role::Opener);
    }

    fn add_disguise(&mut self, text: &str, disguise: Disguise) {
        let class = self.class("DISGUISED");
        let id = self.add_word(text, class);
        if let Some(word) = self.words.get_mut(usize::from(id)) {
            word.disguise = Some(disguise);
        }
    }

    fn mark(&mut self, list: &str, role: Role) {
        for text in list.split_whitespace() {
            let class = self.class(text);
            let id = self.add_word(text, class);
            self.set_role(id, role);
        }
    }

    fn set_role(&mut self, id: WordId, role: Role) {
        if let Some(word) = self.words.get_mut(usize::from(id)) {
            word.role = role;
        }
    }

    fn class(&mut self, name: &str) -> Class {
        let next = Class::try_from(self.classes.len()).unwrap_or(Class::MAX);
        *self.classes.entry(name.to_owned()).or_insert(next)
    }

    fn add_word(&mut self, text: &str, class: Class) -> WordId {
        let text = Folded::new(text).text().to_lowercase();
        let next = WordId::try_from(self.words.len()).unwrap_or(WordId::MAX);
        let id = *self.ids.entry(text.clone()).or_insert(next);
        if id == next {
            self.words.push(Word { text, ..Word::default() });
        }
        self.assign(id, class);
        id
    }

    fn add_stem(&mut self, text: &str, class: Class) {
        let key = format!("{}*", Folded::new(text).text());
        if let Some(&id) = self.ids.get(&key) {
            self.assign(id, class);
            return;
        }
        let id = WordId::try_from(self.words.len()).unwrap_or(WordId::MAX);
        let text = Folded::new(text).text().to_lowercase();
        self.words.push(Word { text, ..Word::default() });
        self.ids.insert(key, id);
        self.stems.push(id);
        self.assign(id, class);
    }

    fn assign(&mut self, id: WordId, class: Class) {
        if let Some(word) = self.words.get_mut(usize::from(id))
            && !word.classes.contains(&class)
        {
            word.classes.push(class);
            self.members.entry(class).or_default().push(id);
        }
    }

    /// Returns the class of a step's alternative; a word in lower case is a class by itself.
    fn alternative(&mut self, name: &str) -> Class {
        let class = self.class(name);
        if !name.starts_with(|first: char| first.is_ascii_uppercase()) {
            self.add_word(name, class);
        }
        class
    }

    fn add_track(&mut self, source: &str, outcome: Outcome) {
        let pattern = Pattern::parse(source);
        let track = u16::try_from(self.tracks.len()).unwrap_or(u16::MAX);
        let last = pattern.steps.len().saturating_sub(1);
        for (step, (gap, alternatives)) in pattern.steps.into_iter().enumerate() {
            let completes = (step == last).then_some(track);
            let entry = Entry { slot: self.slots, gap, is_first: step == 0, completes };
            self.slots += 1;
            for name in alternatives {
                let class = self.alternative(&name);
                let wanted = usize::from(class) + 1;
                if self.class_entries.len() < wanted {
                    self.class_entries.resize_with(wanted, Vec::new);
                }
                if let Some(entries) = self.class_entries.get_mut(usize::from(class)) {
                    entries.push(entry);
                }
            }
        }
        let conditions = pattern.conditions.iter().map(|it| self.check(it)).collect();
        self.tracks.push(Track { outcome, conditions });
    }

    fn check(&mut self, condition: &Condition) -> Check {
        match condition {
            Condition::Begins => Check::Begins,
            Condition::Ends => Check::Ends,
            Condition::Hidden => Check::Hidden,
            Condition::NotAfter(name) => Check::NotAfter(self.alternative(name), 1),
            Condition::NotSoonAfter(name) => Check::NotAfter(self.alternative(name), 3),
            Condition::NotWithin(name) => Check::NotWithin(self.alternative(name)),
            Condition::NotBefore(name) => Check::NotBefore(self.alternative(name)),
            Condition::NotInSentence(name) => Check::NotInSentence(self.alternative(name)),
            Condition::NotOnLine(name) => Check::NotOnLine(self.alternative(name)),
            Condition::InSentence(name) => Check::InSentence(self.alternative(name)),
        }
    }

    /// Gives the classes of a beginning to the whole words that begin so and would hide it.
    fn share_stems(&mut self) {
        let texts: Vec<String> = self.words.iter().map(|word| word.text.clone()).collect();
        for stem in self.stems.clone() {
            let Some(word) = self.words.get(usize::from(stem)) else { continue };
            let (text, classes) = (word.text.clone(), word.classes.clone());
            let hidden = (0..).zip(&texts).filter(|(_, whole)| whole.starts_with(&text));
            let pairs = hidden.flat_map(|(id, _)| classes.iter().map(move |class| (id, *class)));
            for (id, class) in pairs {
                self.assign(id, class);
            }
        }
    }

    /// Gives every word the entries of its classes, later steps first, so that one word does not
    /// serve as two steps of a pattern.
    fn spread_entries(&mut self) {
        for entries in &mut self.class_entries {
            entries.sort_by_key(|it| std::cmp::Reverse(it.slot));
        }
        for (class, ids) in &self.members {
            let Some(entries) = self.class_entries.get(usize::from(*class)) else { continue };
            for &id in ids {
                if let Some(word) = self.words.get_mut(usize::from(id)) {
                    word.entries.extend(entries);
                }
            }
        }
        for word in &mut self.words {
            word.entries.sort_by_key(|it| std::cmp::Reverse(it.slot));
            word.entries.dedup_by_key(|it| it.slot);
        }
    }

    fn finish(self) -> Dictionary {
        let size = (self.words.len() * 4).next_power_of_two();
        let mut table = vec![0; size];
        let mut buckets: Vec<Vec<WordId>> = vec![Vec::new(); BUCKETS];
        let mut stems: HashMap<u64, Vec<WordId>> = HashMap::new();
        let mut stem_filter = vec![0; (FILTER_BITS / 64) as usize];
        for (id, word) in (0..).zip(&self.words) {
            if self.stems.contains(&id) {
                let prefix = word.text.as_bytes().get(..STEM_PREFIX).map(hash).unwrap_or_default();
                stems.entry(prefix).or_default().push(id);
                let bit = prefix % FILTER_BITS;
                if let Some(bits) = stem_filter.get_mut((bit / 64) as usize) {
                    *bits |= 1u64 << (bit % 64);
                }
                continue;
            }
            insert(&mut table, hash(word.text.as_bytes()), id);
            if let Some(ids) = bucket(&word.text).and_then(|it| buckets.get_mut(it)) {
                ids.push(id);
            }
        }
        for ids in &mut buckets {
            let length = |id: &WordId| self.words.get(usize::from(*id)).map(|it| it.text.len());
            ids.sort_by_key(|id| std::cmp::Reverse(length(id)));
        }
        let mut class_entries = self.class_entries;
        class_entries.resize_with(self.classes.len(), Vec::new);
        Dictionary {
            words: self.words,
            table,
            stems,
            stem_filter,
            buckets,
            class_entries,
            tracks: self.tracks,
            rules: self.rules,
            slots: usize::from(self.slots),
            classes: self.classes,
        }
    }
}

fn insert(table: &mut [u16], hashed: u64, id: WordId) {
    let mask = table.len() - 1;
    let mut index = spread(hashed) & mask;
    while table.get(index).is_some_and(|&it| it != 0) {
        index = (index + 1) & mask;
    }
    if let Some(place) = table.get_mut(index) {
        *place = id + 1;
    }
}

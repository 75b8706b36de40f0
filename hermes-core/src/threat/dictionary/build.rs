//! Compiles the lists of words and rules into a [`Dictionary`].

use std::{cmp::Reverse, collections::HashMap};

use super::{
    BUCKETS, Check, Class, Dictionary, Disguise, Entry, FILTER_BITS, Group, Marks, Outcome, Prefix,
    Role, STEM_PREFIX, Signs, Steps, Track, Word, WordId, bucket, filter_index, key, rotate,
};
use crate::threat::{
    grammar::{Condition, Gap, Pattern},
    normalize::Folded,
    patterns::{self, Rule},
    words,
};

/// Compiles the words and rules of this crate.
pub(super) fn build() -> Dictionary {
    Builder::default().build()
}

/// A step after another one: the state of that one, the distance, and the alternatives.
type Step = (u16, Gap, Vec<Class>);

#[derive(Default)]
struct Builder {
    classes: HashMap<String, Class>,
    words: Vec<Word>,
    ids: HashMap<String, WordId>,
    members: HashMap<Class, Vec<WordId>>,
    stems: Vec<WordId>,
    /// The states of steps, which patterns that begin alike share.
    states: HashMap<Step, u16>,
    entries: Vec<Entry>,
    groups: Vec<Group>,
    /// The classes that conditions ask for; the place of each is its bit.
    marked: Vec<Class>,
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
        let mut before = Entry::NONE;
        for (step, (gap, names)) in pattern.steps.into_iter().enumerate() {
            let classes = names.iter().map(|name| self.alternative(name)).collect();
            if step == last {
                let entry = Entry { before, slot: Entry::NONE, track, gap };
                self.enter(&classes, entry);
            } else {
                before = self.state((before, gap, classes));
            }
        }
        let conditions = pattern.conditions.iter().map(|it| self.check(it)).collect();
        self.tracks.push(Track { outcome, conditions });
    }

    /// Returns where the state of a step is kept.
    fn state(&mut self, step: Step) -> u16 {
        if let Some(&slot) = self.states.get(&step) {
            return slot;
        }
        let slot = self.slots;
        self.slots += 1;
        let (before, gap, ref classes) = step;
        self.enter(classes, Entry { before, slot, track: Entry::NONE, gap });
        self.states.insert(step, slot);
        slot
    }

    fn enter(&mut self, classes: &Vec<Class>, entry: Entry) {
        for &class in classes {
            let wanted = usize::from(class) + 1;
            if self.class_entries.len() < wanted {
                self.class_entries.resize_with(wanted, Vec::new);
            }
            if let Some(entries) = self.class_entries.get_mut(usize::from(class)) {
                entries.push(entry);
            }
        }
    }

    fn check(&mut self, condition: &Condition) -> Check {
        match condition {
            Condition::Begins => Check::Begins,
            Condition::Ends => Check::Ends,
            Condition::Hidden => Check::Hidden,
            Condition::NotAfter(name) => Check::NotAfter(self.mark_of(name), 1),
            Condition::NotSoonAfter(name) => Check::NotAfter(self.mark_of(name), 3),
            Condition::NotWithin(name) => Check::NotWithin(self.mark_of(name)),
            Condition::NotBefore(name) => Check::NotBefore(self.mark_of(name)),
            Condition::NotInSentence(name) => Check::NotInSentence(self.mark_of(name)),
            Condition::NotOnLine(name) => Check::NotOnLine(self.mark_of(name)),
            Condition::InSentence(name) => Check::InSentence(self.mark_of(name)),
        }
    }

    /// Returns the bits of the classes that a condition asks for.
    fn mark_of(&mut self, names: &str) -> Marks {
        names.split('/').fold(0, |marks, name| marks | self.mark_of_class(name))
    }

    fn mark_of_class(&mut self, name: &str) -> Marks {
        let class = self.alternative(name);
        let known = self.marked.iter().position(|&it| it == class);
        let index = known.unwrap_or_else(|| {
            self.marked.push(class);
            self.marked.len() - 1
        });
        u32::try_from(index).ok().and_then(|bit| 1_u128.checked_shl(bit)).unwrap_or_default()
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

    /// Gives every word the entries of its classes.
    fn spread_entries(&mut self) {
        let mut words = std::mem::take(&mut self.words);
        for word in &mut words {
            let of_class = |class: &Class| self.class_entries.get(usize::from(*class));
            let entries = word.classes.iter().filter_map(of_class).flatten().copied().collect();
            word.steps = self.steps(entries);
        }
        self.words = words;
    }

    /// Returns the entries of every class by itself, for the phrases that stand for it.
    fn class_steps(&mut self) -> Vec<Steps> {
        let entries = std::mem::take(&mut self.class_entries);
        entries.into_iter().map(|entries| self.steps(entries)).collect()
    }

    /// Sorts entries, later steps first, so that one word does not serve as two steps of a
    /// pattern: a step is kept in a later slot than the one before it.
    fn steps(&mut self, mut entries: Vec<Entry>) -> Steps {
        entries.sort_by_key(|it| {
            let is_first = it.before == Entry::NONE;
            (is_first, Reverse(it.before), it.gap, Reverse((it.slot, it.track)))
        });
        entries.dedup_by_key(|it| (it.slot, it.track, it.before));
        let firsts = entries.partition_point(|it| it.before != Entry::NONE);
        let (start, first_group) = (self.entries.len(), self.groups.len());
        self.groups.extend(Group::all(entries.get(..firsts).unwrap_or_default(), start));
        self.entries.extend(entries);
        Steps { later: first_group..self.groups.len(), firsts: start + firsts..self.entries.len() }
    }

    /// Gives every word the bits of its classes.
    fn spread_marks(&mut self) {
        for word in &mut self.words {
            for (bit, class) in (0..Marks::BITS).zip(&self.marked) {
                word.marks |= Marks::from(word.classes.contains(class)) << bit;
            }
        }
    }

    fn finish(mut self) -> Dictionary {
        let meta = self.mark_of("META");
        let defend = self.mark_of("DEFEND");
        let reported = self.mark_of("REPORTED");
        let commands = ["NETCMD", "READCMD", "SHELL"].map(|class| self.mark_of(class));
        self.spread_marks();
        let class_steps = self.class_steps();
        let size = (self.words.len() * 4).next_power_of_two();
        let mut dictionary = Dictionary {
            keys: self.words.iter().map(|word| key::of(word.text.as_bytes())).collect(),
            longest: self.words.iter().map(|word| word.text.len()).max().unwrap_or_default(),
            words: self.words,
            table: vec![0; size],
            stems: HashMap::new(),
            stem_filter: vec![0; FILTER_BITS / 64],
            buckets: vec![Vec::new(); BUCKETS],
            prefix_filter: vec![0; FILTER_BITS / 64],
            entries: self.entries,
            groups: self.groups,
            class_steps,
            tracks: self.tracks,
            rules: self.rules,
            slots: usize::from(self.slots),
            meta,
            defend,
            reported,
            commands: commands.into_iter().fold(0, |marks, mark| marks | mark),
            signs: Signs::default(),
            classes: self.classes,
        };
        dictionary.class_steps.resize_with(dictionary.classes.len(), Steps::default);
        for id in (0..).take(dictionary.words.len()) {
            if self.stems.contains(&id) {
                dictionary.add_stem(id);
            } else {
                dictionary.add_whole(id);
            }
        }
        for prefixes in &mut dictionary.buckets {
            prefixes.sort_by_key(|it| Reverse(it.length));
        }
        dictionary.signs = Signs::new(&dictionary);
        dictionary
    }
}

impl Dictionary {
    fn add_stem(&mut self, id: WordId) {
        let Some(word) = self.words.get(usize::from(id)) else { return };
        let start = word.text.as_bytes().get(..STEM_PREFIX).map(key::start).unwrap_or_default();
        self.stems.entry(start).or_default().push(id);
        set_bit(&mut self.stem_filter, key::spread(start));
    }

    fn add_whole(&mut self, id: WordId) {
        let Some(word) = self.words.get(usize::from(id)) else { return };
        let bytes = word.text.as_bytes();
        insert(&mut self.table, key::of(bytes), id);
        let place = bucket(&word.text).and_then(|it| self.buckets.get_mut(it));
        let (Some(prefixes), Some(bit)) = (place, filter_index(bytes)) else { return };
        let length = bytes.len();
        let bits = u32::try_from(length * 8).unwrap_or(u32::MAX);
        let mask = 1_u64.checked_shl(bits).unwrap_or_default().wrapping_sub(1);
        prefixes.push(Prefix { bytes: key::start(bytes), mask, length, id });
        set_bit(&mut self.prefix_filter, bit);
    }
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
            secret_name: sign("SECRET_NAME"),
            credential: sign("AUTH_VAR"),
            variable: sign("VAR"),
        }
    }
}

fn set_bit(filter: &mut [u64], index: usize) {
    let index = index % FILTER_BITS;
    if let Some(bits) = filter.get_mut(index / 64) {
        *bits |= 1 << (index % 64);
    }
}

fn insert(table: &mut [u16], key: u64, id: WordId) {
    let mask = table.len() - 1;
    let mut index = key::spread(key) & mask;
    while table.get(index).is_some_and(|&it| it != 0) {
        index = (index + 1) & mask;
    }
    if let Some(place) = table.get_mut(index) {
        *place = id + 1;
    }
}

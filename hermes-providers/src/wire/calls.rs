//! Tool calls put together from what servers send as fragments of them.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use hermes_core::{message::CallId, provider::ModelEvent};

/// A fragment of a call, as the wire brings it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fragment<'a> {
    /// The index on the wire, which several calls may share.
    pub(crate) index: u64,
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) name: Option<Cow<'a, str>>,
    pub(crate) arguments: Cow<'a, str>,
}

/// The calls of one message.
///
/// Which call a fragment belongs to is decided by its id first, then by its index. A new id with a
/// name, another name, or an object that starts after a whole one begins a new call, whatever the
/// index says. Every call gets an index and an id of its own.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    slots: Vec<Slot>,
    ids: Ids,
    is_over_limit: bool,
}

/// The ids that were given out.
#[derive(Debug, Default)]
struct Ids {
    taken: HashSet<String>,
    /// The next number to put after an id that is taken.
    next: HashMap<String, u32>,
}

impl Ids {
    /// Returns `id`, with a number after it if another call of the message has it.
    fn distinct(&mut self, id: &str) -> String {
        if self.taken.insert(id.to_owned()) {
            return id.to_owned();
        }
        let next = self.next.entry(id.to_owned()).or_insert(2);
        loop {
            let numbered = format!("{id}_{next}");
            *next = next.saturating_add(1);
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

#[derive(Debug)]
struct Slot {
    index: u64,
    /// The id as the wire brought it.
    wire_id: Option<String>,
    /// The id as it was given out, unlike all others of the message.
    id: Option<String>,
    name: String,
    arguments: String,
    scanner: Scanner,
}

impl Calls {
    /// The most calls of one reply. No model means to make more; one that does is caught in a loop.
    pub(crate) const LIMIT: usize = 1024;

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns whether there were more calls than a reply may have, of which the first are here.
    pub(crate) fn is_over_limit(&self) -> bool {
        self.is_over_limit
    }

    /// Takes a fragment and writes what it brings to `out`. Returns the number of its call.
    pub(crate) fn push(&mut self, fragment: &Fragment<'_>, out: &mut VecDeque<ModelEvent>) -> u32 {
        let (mut at, mut is_new) = match self.find(fragment) {
            Some(at) => (at, false),
            None if self.is_full() => return number(Self::LIMIT),
            None => (self.open(fragment.index, fragment.id.as_deref()), true),
        };
        let first = number(at);
        let mut rest: &str = &fragment.arguments;
        if self.slots.get(at).is_some_and(|slot| slot.repeats(rest)) {
            rest = "";
        }
        loop {
            let is_glued =
                !is_new && self.slots.get(at).is_some_and(|it| it.scanner.starts_anew(rest));
            if is_glued && self.is_full() {
                return first;
            }
            if is_glued {
                at = self.open_glued(at, fragment);
                is_new = true;
            }
            let Some(slot) = self.slots.get_mut(at) else { return first };
            let (event, taken) = slot.take(number(at), fragment, rest, is_new);
            out.push_back(match &fragment.id {
                Some(id) => self.with_id(at, id, event),
                None => event,
            });
            rest = rest.get(taken..).unwrap_or_default();
            is_new = false;
            if rest.is_empty() {
                return first;
            }
        }
    }

    /// Returns the call that a fragment goes on with.
    fn find(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let same_index = |slot: &Slot| slot.index == fragment.index;
        let at = self.slots.iter().rposition(same_index)?;
        let slot = self.slots.get(at)?;
        let Some(id) = fragment.id.as_deref() else {
            return slot.goes_by(fragment.name.as_deref()).then_some(at);
        };
        let same_id = |slot: &Slot| same_index(slot) && slot.wire_id.as_deref() == Some(id);
        if let Some(at) = self.slots.iter().rposition(same_id) {
            return Some(at);
        }
        let is_late_id = slot.wire_id.is_none() && slot.goes_by(fragment.name.as_deref());
        // Some servers make up an id for every fragment.
        let goes_on = fragment.name.is_none() && !slot.scanner.is_complete();
        (is_late_id || goes_on).then_some(at)
    }

    /// Returns whether there is room for no further call, and takes note that there is one.
    fn is_full(&mut self) -> bool {
        self.is_over_limit = Self::LIMIT <= self.slots.len();
        self.is_over_limit
    }

    fn open(&mut self, index: u64, wire_id: Option<&str>) -> usize {
        let id = wire_id.map(|id| self.ids.distinct(id));
        self.slots.push(Slot {
            index,
            wire_id: wire_id.map(str::to_owned),
            id,
            name: String::new(),
            arguments: String::new(),
            scanner: Scanner::default(),
        });
        self.slots.len() - 1
    }

    /// Opens a call for an object that follows on a whole one.
    fn open_glued(&mut self, after: usize, fragment: &Fragment<'_>) -> usize {
        let before = self.slots.get(after);
        let name = before.map(|slot| slot.name.clone()).unwrap_or_default();
        let before_id = before.and_then(|slot| slot.wire_id.clone());
        let id = fragment.id.as_deref().map(str::to_owned).or(before_id);
        let at = self.open(fragment.index, id.as_deref());
        if let Some(slot) = self.slots.get_mut(at) {
            slot.name = name;
        }
        at
    }

    /// Adds an id that comes late.
    fn with_id(&mut self, at: usize, id: &str, event: ModelEvent) -> ModelEvent {
        if self.slots.get(at).is_none_or(|slot| slot.wire_id.is_some()) {
            return event;
        }
        let distinct = self.ids.distinct(id);
        if let Some(slot) = self.slots.get_mut(at) {
            slot.wire_id = Some(id.to_owned());
            slot.id = Some(distinct.clone());
        }
        match event {
            ModelEvent::CallDelta { index, name, arguments, .. } => {
                let id = Some(CallId::new(distinct));
                ModelEvent::CallDelta { index, id, name, arguments }
            }
            other => other,
        }
    }
}

impl Slot {
    /// Returns whether a fragment with `name` can belong to this call.
    fn goes_by(&self, name: Option<&str>) -> bool {
        let Some(name) = name else { return true };
        let is_longer = self.arguments.is_empty() && name.starts_with(&self.name);
        self.name.is_empty() || self.name == name || is_longer
    }

    /// Returns whether `text` is all the arguments over again.
    fn repeats(&self, text: &str) -> bool {
        let text = text.trim();
        // A blank repeats nothing, and some models end in blanks without end.
        !text.is_empty() && self.scanner.is_complete() && self.arguments.trim() == text
    }

    /// Takes as much of `text` as belongs to this call. Returns the event and the bytes taken.
    fn take(
        &mut self,
        number: u32,
        fragment: &Fragment<'_>,
        text: &str,
        is_new: bool,
    ) -> (ModelEvent, usize) {
        let mut name = is_new.then(|| self.name.clone()).filter(|it| !it.is_empty());
        if let Some(new) = fragment.name.as_deref()
            && new != self.name
        {
            new.clone_into(&mut self.name);
            name = Some(self.name.clone());
        }
        let start = self.arguments.len();
        let taken = self.scanner.feed(text, &mut self.arguments);
        let event = ModelEvent::CallDelta {
            index: number,
            id: self.id.as_deref().filter(|_| is_new).map(CallId::new),
            name: name.map(Arc::from),
            arguments: self.arguments.get(start..).unwrap_or_default().to_owned(),
        };
        (event, taken)
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Follows the outline of JSON text: where its object ends, and where strings are.
///
/// Control characters in strings, which some servers leave as they are, come out escaped; nothing
/// else is changed.
#[derive(Debug, Default)]
struct Scanner {
    depth: u32,
    in_string: bool,
    is_escaped: bool,
    state: State,
}

#[derive(Debug, Default, PartialEq)]
enum State {
    #[default]
    Blank,
    Open,
    Complete,
    /// Not an object, or more after it: the text is passed on and left to whoever parses it.
    Other,
}

impl Scanner {
    fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// Returns whether `text` starts a new object after a whole one.
    fn starts_anew(&self, text: &str) -> bool {
        self.is_complete() && text.starts_with('{')
    }

    /// Copies `text` to `out` up to where a new object starts. Returns the bytes taken.
    fn feed(&mut self, text: &str, out: &mut String) -> usize {
        if self.is_plain(text) {
            out.push_str(text);
            return text.len();
        }
        let mut copied = 0;
        // All that matters is ASCII, which is never part of another character.
        for (at, byte) in text.bytes().enumerate() {
            if byte == b'{' && self.is_complete() {
                out.push_str(text.get(copied..at).unwrap_or_default());
                return at;
            }
            self.step(byte);
            if self.in_string && byte < b' ' {
                out.push_str(text.get(copied..at).unwrap_or_default());
                out.push_str(&escaped(byte));
                copied = at + 1;
            }
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        text.len()
    }

    /// Returns whether `text` is all within a string and changes nothing, as most of what comes does.
    fn is_plain(&self, text: &str) -> bool {
        let is_special = |byte: u8| matches!(byte, b'"' | b'\\' | 0..b' ');
        self.in_string && !self.is_escaped && !text.bytes().any(is_special)
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            let ends = byte == b'"' && !self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            self.in_string = !ends;
            return;
        }
        match (&self.state, byte) {
            (State::Blank, b'{') => {
                self.state = State::Open;
                self.depth = 1;
            }
            (State::Open, b'"') => self.in_string = true,
            (State::Open, b'{' | b'[') => self.depth = self.depth.saturating_add(1),
            (State::Open, b'}' | b']') => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.state = State::Complete;
                }
            }
            (State::Open, _) | (_, b' ' | b'\t' | b'\r' | b'\n') => {}
            _ => self.state = State::Other,
        }
    }
}

fn escaped(control: u8) -> String {
    match control {
        b'\n' => "\\n".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\t' => "\\t".to_owned(),
        other => format!("\\u{other:04x}"),
    }
}

#[cfg(test)]
mod tests {
    use hermes_core::provider::Assembly;

    use super::*;

    fn fragment<'a>(
        index: u64,
        id: Option<&'a str>,
        name: Option<&'a str>,
        arguments: &'a str,
    ) -> Fragment<'a> {
        Fragment {
            index,
            id: id.map(Cow::Borrowed),
            name: name.map(Cow::Borrowed),
            arguments: Cow::Borrowed(arguments),
        }
    }

    /// Compares the calls that `fragments` make up: id, name, arguments.
    #[track_caller]
    fn check(fragments: &[Fragment<'_>], expected: &[(&str, &str, &str)]) {
        let mut calls = Calls::default();
        let mut out = VecDeque::new();
        for fragment in fragments {
            calls.push(fragment, &mut out);
        }
        let mut assembly = Assembly::default();
        for event in out {
            assembly.push(event);
        }
        let message = assembly.into_message();
        let found: Vec<_> =
            message.calls().map(|it| (it.id.as_str(), &*it.name, it.arguments.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn fragments_join() {
        check(
            &[
                fragment(0, Some("a"), Some("ping"), ""),
                fragment(1, Some("b"), Some("pong"), "{\"x"),
                fragment(0, None, None, "{\"n\":"),
                fragment(1, None, None, "\":2}"),
                fragment(0, None, None, "1}"),
            ],
            &[("a", "ping", "{\"n\":1}"), ("b", "pong", "{\"x\":2}")],
        );
    }

    #[test]
    fn a_new_id_at_a_used_index_is_a_new_call() {
        check(
            &[
                fragment(0, Some("a1"), Some("write"), "{\"p\":\"a\"}"),
                fragment(0, Some("a2"), Some("write"), "{\"p\":\"b\"}"),
            ],
            &[("a1", "write", "{\"p\":\"a\"}"), ("a2", "write", "{\"p\":\"b\"}")],
        );
    }

    #[test]
    fn interleaved_ids_at_one_index_stay_apart() {
        check(
            &[
                fragment(0, Some("a"), Some("x"), "{\"n\":"),
                fragment(0, Some("b"), Some("x"), "{\"n\":"),
                fragment(0, Some("a"), None, "1}"),
                fragment(0, Some("b"), None, "2}"),
            ],
            &[("a", "x", "{\"n\":1}"), ("b", "x", "{\"n\":2}")],
        );
    }

    #[test]
    fn ids_may_come_late_or_change_or_never_come() {
        check(
            &[fragment(0, None, Some("x"), "{"), fragment(0, Some("late"), None, "}")],
            &[("late", "x", "{}")],
        );
        check(
            &[fragment(0, Some("r1"), Some("x"), "{"), fragment(0, Some("r2"), None, "}")],
            &[("r1", "x", "{}")],
        );
        check(
            &[fragment(0, None, Some("x"), "{\"a\":1}"), fragment(0, None, Some("y"), "{}")],
            &[("call_0", "x", "{\"a\":1}"), ("call_1", "y", "{}")],
        );
    }

    #[test]
    fn one_id_for_two_indexes_becomes_two() {
        check(
            &[fragment(0, Some("c"), Some("x"), "{}"), fragment(1, Some("c"), Some("x"), "{}")],
            &[("c", "x", "{}"), ("c_2", "x", "{}")],
        );
    }

    #[test]
    fn objects_glued_together_are_taken_apart() {
        let whole = "{\"d\":1}{\"d\":\"}{\"} \n{\"d\":{\"e\":[]}}";
        let expected = [
            ("g", "cal", "{\"d\":1}"),
            ("g_2", "cal", "{\"d\":\"}{\"} \n"),
            ("g_3", "cal", "{\"d\":{\"e\":[]}}"),
        ];
        check(&[fragment(0, Some("g"), Some("cal"), whole)], &expected);
        for at in 1..whole.len() {
            let (head, tail) = whole.split_at(at);
            check(
                &[fragment(0, Some("g"), Some("cal"), head), fragment(0, None, None, tail)],
                &expected,
            );
        }
    }

    #[test]
    fn a_number_that_is_taken_already_is_passed_over() {
        check(
            &[
                fragment(0, Some("g_2"), Some("x"), "{}"),
                fragment(1, Some("g"), Some("x"), "{}{}{}"),
            ],
            &[("g_2", "x", "{}"), ("g", "x", "{}"), ("g_3", "x", "{}"), ("g_4", "x", "{}")],
        );
    }

    #[test]
    fn a_reply_holds_so_many_calls_and_no_more() {
        let objects = "{}".repeat(Calls::LIMIT);
        let (mut calls, mut out) = (Calls::default(), VecDeque::new());
        calls.push(&fragment(0, Some("g"), Some("x"), &objects), &mut out);
        assert!(!calls.is_over_limit());
        assert_eq!(out.len(), Calls::LIMIT);

        calls.push(&fragment(0, None, None, "{\"n\":1}"), &mut out);
        calls.push(&fragment(1, Some("h"), Some("x"), "{}"), &mut out);

        assert!(calls.is_over_limit());
        assert_eq!(out.len(), Calls::LIMIT);
    }

    #[test]
    fn ids_are_told_apart_in_one_pass() {
        let mut ids = Ids::default();

        // Looking for a free number from the start each time would take 5,000,000,000 steps.
        let last = (0..100_000).map(|_| ids.distinct("g")).last();

        assert_eq!(last.as_deref(), Some("g_100000"));
    }

    #[test]
    fn what_is_said_twice_counts_once() {
        check(
            &[
                fragment(0, Some("a"), Some("list"), "{\"c\":1}"),
                fragment(0, Some("a"), Some("list"), ""),
                fragment(0, Some("a"), Some("list"), "{\"c\":1}"),
            ],
            &[("a", "list", "{\"c\":1}")],
        );
    }

    #[test]
    fn blanks_without_end_are_read_in_one_pass() {
        let (mut calls, mut out) = (Calls::default(), VecDeque::new());
        calls.push(&fragment(0, Some("a"), Some("x"), "{}"), &mut out);

        // Looking at all of them each time would take 20,000,000,000 steps.
        for _ in 0..200_000 {
            calls.push(&fragment(0, None, None, " "), &mut out);
        }

        assert_eq!(calls.slots.len(), 1);
    }

    #[test]
    fn control_characters_in_strings_are_escaped() {
        check(
            &[fragment(0, Some("a"), Some("w"), "{\n\"t\":\"one\ntwo\\\"\u{1}\"}")],
            &[("a", "w", "{\n\"t\":\"one\\ntwo\\\"\\u0001\"}")],
        );
    }

    #[test]
    fn what_is_no_object_is_passed_on() {
        check(&[fragment(0, Some("a"), Some("w"), "[1] {")], &[("a", "w", "[1] {")]);
        check(&[fragment(0, Some("a"), Some("w"), "{} and {}")], &[("a", "w", "{} and {}")]);
    }
}

//! Tool calls put together from what servers send as fragments of them.

#[cfg(test)]
mod tests;

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

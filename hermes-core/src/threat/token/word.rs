//! Reads words: plain ones, and long ones with joiners or letters beyond ASCII.

use std::ops::Range;

use super::{Tokenizer, strange::GLUED_MIN, tag};
use crate::threat::{
    dictionary::{
        WordId, is_unspaced,
        key::{self, Run},
    },
    normalize::is_alphanumeric,
    variable,
};

/// The longest end of a word with joiners that is looked up as a whole.
const REST_MAX: usize = 24;
/// The longest name of a command that is put together.
const COMMAND_MAX: usize = 20;
/// The last labels of names that are taken for hosts where no scheme says so; none of them is also
/// a common ending of file names.
const TOP_LEVEL: [&str; 15] = [
    "com", "net", "org", "example", "test", "invalid", "xyz", "top", "info", "biz", "ru", "cn",
    "site", "online", "onion",
];
/// What the variables of the environment are reached by.
const ENVIRONMENTS: [&str; 3] = ["process.env.", "import.meta.env.", "bun.env."];

impl Tokenizer<'_> {
    /// Reads a word: letters and digits, with what may stand inside a word.
    pub(super) fn word(&mut self) {
        let start = self.at;
        let run = key::run(self.bytes, start);
        if self.joint(run.end).is_some() && self.quoted_inside(start) {
            return;
        }
        if self.goes_on(run.end) {
            return self.long_word(start);
        }
        self.at = run.end;
        self.plain_word(start..run.end, run);
    }

    /// Reads the name of a command that a shell would put together: `cu''rl`, `c\url`, `wg$@et`.
    fn quoted_inside(&mut self, start: usize) -> bool {
        let mut name = std::mem::take(&mut self.word);
        name.clear();
        let mut end = start;
        while name.len() < COMMAND_MAX {
            let byte = self.byte(end);
            if byte.is_ascii_alphabetic() {
                name.push(char::from(byte));
                end += 1;
            } else if let Some(joint) = self.joint(end) {
                end += joint;
            } else {
                break;
            }
        }
        let found = self.dictionary.find_text(&name).filter(|_| start + name.len() < end);
        self.word = name;
        let is_command = found.is_some_and(|id| self.dictionary.is_command(id));
        if is_command {
            self.count(u64::MAX, None);
            self.push(found, start..end);
            self.at = end;
        }
        is_command
    }

    /// Returns how many bytes at `at` a shell reads as nothing at all, inside of a word.
    fn joint(&self, at: usize) -> Option<usize> {
        let length = match (self.byte(at), self.byte(at + 1)) {
            (b'\\', _) => 1,
            (b'\'', b'\'') | (b'"', b'"') | (b'$', b'@') => 2,
            _ => return None,
        };
        self.byte(at + length).is_ascii_alphabetic().then_some(length)
    }

    /// Returns whether a word goes on after its ASCII letters, behind a joiner or in another script.
    pub(super) fn goes_on(&self, end: usize) -> bool {
        match self.byte(end) {
            b'.' | b'_' | b'-' | b'\'' | b'*' => self.is_inside(end + 1),
            b'<' => tag::inside_word(self.bytes, end).is_some(),
            0x80.. => {
                let rest = self.text.get(end..).and_then(|rest| rest.chars().next());
                rest.is_some_and(|ch| ch == '\u{2019}' || is_alphanumeric(ch) && !is_unspaced(ch))
            }
            _ => false,
        }
    }

    fn plain_word(&mut self, range: Range<usize>, run: Run) {
        let text = self.text.get(range.clone()).unwrap_or_default();
        let in_path = self.in_path(range.start);
        if (in_path || self.after_backslash(range.start)) && self.path_name(text, &range) {
            return;
        }
        if range.len() == 1 && !run.has_digits {
            self.letters.extend(text.chars().map(|ch| (ch, range.start)));
        } else if !self.letters.is_empty() {
            self.flush_letters();
        }
        let found = self.dictionary.find(text, run.key);
        let found = found.or_else(|| if run.has_digits { self.respelled(text) } else { None });
        let found = found.or_else(|| self.after_escape(text, range.start));
        let entry = found.and_then(|id| self.dictionary.word(id));
        if let Some(disguise) = entry.and_then(|word| word.disguise) {
            self.disguise(disguise);
        } else if found.is_none() && (GLUED_MIN <= text.len() || run.has_digits && 3 <= text.len())
        {
            self.strange_word(text, &range);
        }
        if !in_path {
            self.count(run.key, entry);
        }
        self.push(found, range.clone());
        if found.is_some() && self.byte(range.end) == b':' {
            let rest = self.bytes.get(range.end..).unwrap_or_default();
            if rest.starts_with(b"://") {
                self.push(self.signs.url, range);
            }
        }
    }

    /// Returns whether a slash stands before `start`.
    pub(super) fn in_path(&self, start: usize) -> bool {
        start.checked_sub(1).is_some_and(|at| self.byte(at) == b'/')
    }

    /// Finds a word that an escape stands before, as in `\\ncurl`: its first letter is none of it.
    fn after_escape(&self, text: &str, start: usize) -> Option<WordId> {
        let is_escape = start.checked_sub(1).is_some_and(|at| self.byte(at) == b'\\')
            && matches!(self.byte(start), b'n' | b'r' | b't');
        let rest = text.get(1..).filter(|_| is_escape)?;
        self.dictionary.find_text(rest)
    }

    /// Returns whether a backslash between two names stands before `start`.
    fn after_backslash(&self, start: usize) -> bool {
        start.checked_sub(1).is_some_and(|at| self.byte(at) == b'\\')
            && start.checked_sub(2).is_some_and(
                |at| matches!(self.byte(at), b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'%' | b':'),
            )
    }

    /// Looks up a word that only means something as the last name of a path.
    pub(super) fn path_name(&mut self, text: &str, range: &Range<usize>) -> bool {
        if 16 < text.len() || self.byte(range.end) == b'/' {
            return false;
        }
        let mut name = std::mem::take(&mut self.word);
        name.clear();
        name.push('/');
        name.push_str(text);
        let found = self.dictionary.find_text(&name);
        self.word = name;
        self.push(found, range.clone());
        found.is_some()
    }

    /// Reads a word with joiners, or with letters beyond ASCII.
    pub(super) fn long_word(&mut self, start: usize) {
        let mut word = std::mem::take(&mut self.word);
        let mut joints = std::mem::take(&mut self.joints);
        word.clear();
        joints.clear();
        let mut end = start;
        loop {
            let rest = self.bytes.get(end..).unwrap_or_default();
            let run = end + rest.iter().take_while(|it| it.is_ascii_alphanumeric()).count();
            word.push_str(self.text.get(end..run).unwrap_or_default());
            end = run;
            let width = match self.byte(end) {
                joiner @ (b'.' | b'_' | b'-') if self.is_inside(end + 1) || end == start => {
                    if !word.is_empty() {
                        joints.push((word.len(), end + 1));
                    }
                    word.push(char::from(joiner));
                    Some(1)
                }
                b'\'' | b'*' if self.is_inside(end + 1) => Some(1),
                // What a shell puts together: `.ba''shrc`.
                b'\'' | b'"' => self.joint(end),
                b'<' => tag::inside_word(self.bytes, end),
                0x80.. => self.push_beyond_ascii(&mut word, end),
                _ => None,
            };
            let Some(width) = width else { break };
            end += width;
        }
        word.make_ascii_lowercase();
        self.at = end.max(start + 1);
        self.look_up_parts(&word, &joints, start..end);
        self.word = word;
        self.joints = joints;
    }

    /// Adds the character beyond ASCII at `at` to a word that goes on with it; returns its length.
    fn push_beyond_ascii(&self, word: &mut String, at: usize) -> Option<usize> {
        let ch = self.text.get(at..)?.chars().next()?;
        let width = ch.len_utf8();
        if is_alphanumeric(ch) && !is_unspaced(ch) {
            word.push(ch);
        } else if ch != '\u{2019}' || !self.is_inside(at + width) {
            return None;
        }
        Some(width)
    }

    /// Returns whether a word goes on at `next`, after a joiner.
    pub(super) fn is_inside(&self, next: usize) -> bool {
        if self.byte(next).is_ascii_alphanumeric() {
            return true;
        }
        let rest = self.bytes.get(next..).unwrap_or_default();
        let marks = rest.iter().take(3).take_while(|it| matches!(it, b'_' | b'-' | b'*')).count();
        match self.byte(next + marks) {
            0x80.. => {
                let rest = self.text.get(next + marks..).and_then(|rest| rest.chars().next());
                rest.is_some_and(|ch| is_alphanumeric(ch) && !is_unspaced(ch))
            }
            byte => byte.is_ascii_alphanumeric(),
        }
    }

    /// Looks a long word up as a whole, then in parts.
    pub(super) fn look_up_parts(
        &mut self,
        word: &str,
        joints: &[(usize, usize)],
        range: Range<usize>,
    ) {
        let is_spelled = is_spelled(word);
        if !is_spelled {
            self.flush_letters();
        }
        if let Some(id) = self.find_spelled(word) {
            return self.whole_word(id, word, &range);
        }
        if is_spelled && !joints.is_empty() {
            let letters = word.char_indices().filter(|(_, ch)| !matches!(ch, '.' | '_' | '-'));
            let places = std::iter::once(range.start).chain(joints.iter().map(|&(_, place)| place));
            self.letters.extend(letters.zip(places).map(|((_, ch), place)| (ch, place)));
            return;
        }
        if super::strange::ENCODED_MIN <= word.len() {
            self.encoded(&range);
        }
        if word.starts_with(|first: char| first.is_ascii_digit()) && is_address(word) {
            self.count(u64::MAX, None);
            if !word.starts_with("127.") {
                self.push(self.signs.address, range);
            }
            return;
        }
        let quoted =
            range.start.checked_sub(1).is_some_and(|at| matches!(self.byte(at), b'"' | b'\''));
        if quoted && variable::is_secret_name(word) {
            self.push(self.signs.variable, range.clone());
        }
        if word.starts_with('-') {
            self.count(u64::MAX, None);
            return;
        }
        let mut from = (0, range.start);
        for &(folded, original) in joints.iter().chain([&(word.len(), range.end)]) {
            let part = word.get(from.0..folded).unwrap_or_default();
            let part = part.trim_start_matches(['.', '_', '-']);
            if 0 < from.0 && self.rest_of_word(word, from.0, from.1..range.end) {
                break;
            }
            let is_dotted = from.0 == 0 && word.starts_with('.');
            let hyphen = word.get(folded..).is_some_and(|rest| rest.starts_with('-'));
            if is_dotted && hyphen && self.dotted(word, folded, from.1..original) {
                from = (folded, original);
                continue;
            }
            self.part(part, from.1..original);
            from = (folded, original);
        }
        self.push_email(&range);
        self.push_name(word, &range);
        self.push_host(word, &range);
        self.push_environment(word, &range);
    }

    /// Takes a long word that some rule asks for.
    fn whole_word(&mut self, id: WordId, word: &str, range: &Range<usize>) {
        let entry = self.dictionary.word(id);
        if let Some(disguise) = entry.and_then(|word| word.disguise) {
            self.disguise(disguise);
        }
        if !self.in_path(range.start) {
            self.count(u64::MAX, entry);
        }
        self.push(Some(id), range.clone());
        if matches!(self.bytes.get(range.end..range.end + 2), Some([b'[', b'"' | b'\''])) {
            self.push(self.signs.variable, range.clone());
        }
        self.push_email(range);
        self.push_name(word, range);
    }

    /// Notes that a long word is the name of a host without a scheme before it.
    fn push_host(&mut self, word: &str, range: &Range<usize>) {
        let before = range.start.checked_sub(1).map_or(b' ', |at| self.byte(at));
        let is_host = word.rsplit_once('.').is_some_and(|(name, top)| {
            !name.is_empty() && !name.starts_with('.') && TOP_LEVEL.contains(&top)
        });
        if is_host && !matches!(before, b'/' | b'@' | b'.' | b'-' | b'_') {
            self.push(self.signs.url, range.clone());
        }
    }

    /// Notes that a long word reads a secret of the environment, like `process.env.API_KEY`.
    fn push_environment(&mut self, word: &str, range: &Range<usize>) {
        let name = ENVIRONMENTS.iter().find_map(|it| word.strip_prefix(it));
        if name.is_some_and(variable::is_secret_name) {
            self.push(self.dictionary.find_text("os.environ"), range.clone());
            self.push(self.signs.variable, range.clone());
        }
    }

    /// Notes that a long word is the name of a secret, written as constants are.
    fn push_name(&mut self, word: &str, range: &Range<usize>) {
        let text = self.text.get(range.clone()).unwrap_or_default();
        let is_constant = word.contains('_') && !text.bytes().any(|byte| byte.is_ascii_lowercase());
        if is_constant && variable::is_secret_name(word) {
            self.push(self.signs.secret_name, range.clone());
        }
    }

    /// Looks up what is left of a long word as one word.
    pub(super) fn rest_of_word(&mut self, word: &str, from: usize, range: Range<usize>) -> bool {
        let rest = word.get(from..).unwrap_or_default().trim_start_matches(['.', '_', '-']);
        if REST_MAX < rest.len() || !rest.contains('_') {
            return false;
        }
        let Some(id) = self.find_spelled(rest) else { return false };
        self.count(u64::MAX, self.dictionary.word(id));
        self.push(Some(id), range);
        true
    }

    /// Looks up the first part of a long word with the dot that it begins with, as in `.env-file`.
    fn dotted(&mut self, word: &str, end: usize, range: Range<usize>) -> bool {
        let found = word.get(..end).and_then(|part| self.find_spelled(part));
        if found.is_some() {
            self.count(u64::MAX, found.and_then(|id| self.dictionary.word(id)));
            self.push(found, range);
        }
        found.is_some()
    }

    pub(super) fn part(&mut self, part: &str, range: Range<usize>) {
        let mut letters = part.chars();
        if let (Some(letter), None) = (letters.next(), letters.next()) {
            self.letters.push((letter, range.start));
        } else if !part.is_empty() {
            self.flush_letters();
        }
        if part.is_empty() {
            return;
        }
        let found = self.find_spelled(part);
        if found.is_none() && part.is_ascii() && 3 <= part.len() {
            self.strange_word(part, &range);
        }
        let entry = found.and_then(|id| self.dictionary.word(id));
        if let Some(disguise) = entry.and_then(|word| word.disguise) {
            self.disguise(disguise);
        }
        self.count(u64::MAX, entry);
        self.push(found, range);
    }

    pub(super) fn push_email(&mut self, range: &Range<usize>) {
        let after_at = range.start.checked_sub(1).is_some_and(|at| self.byte(at) == b'@');
        let named = range.start.checked_sub(2).is_some_and(|at| {
            let byte = self.byte(at);
            byte.is_ascii_alphanumeric() || byte == b'.'
        });
        if after_at && named {
            self.push(self.signs.email, range.clone());
        }
    }
}

/// Returns whether joiners stand between all letters of `word`.
fn is_spelled(word: &str) -> bool {
    let mut parts = word.split(['.', '_', '-']);
    parts.all(|part| {
        let mut letters = part.chars();
        letters.next().is_some() && letters.next().is_none()
    })
}

/// Returns whether `word` is an IPv4 address.
fn is_address(word: &str) -> bool {
    word.bytes().filter(|&byte| byte == b'.').count() == 3
        && word.split('.').all(|part| part.parse::<u8>().is_ok())
}

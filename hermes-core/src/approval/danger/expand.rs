//! Puts words together as a shell would, as far as the script itself says what is in them.

use super::{
    fold::{Glyph, Text, placed, string},
    walk::{Data, Taint, Walk},
    word::{Piece, Word, literal},
};

/// A word as the command gets it.
#[derive(Clone, Debug, Default)]
pub(super) struct Arg {
    pub(super) text: Text,
    /// The same as a string.
    pub(super) word: String,
    pub(super) taint: Taint,
    /// What the file has that it names, where that is the output of a command.
    pub(super) content: Option<Data>,
    /// Whether something in it is not known; it is then left out.
    pub(super) is_unknown: bool,
    /// Whether what is not known comes first.
    pub(super) begins_unknown: bool,
    pub(super) has_pattern: bool,
}

impl Arg {
    /// Creates the argument that is `text`.
    pub(super) fn of(text: Text) -> Self {
        Self { word: string(&text), text, ..Self::default() }
    }

    /// Creates an argument of which nothing is known.
    pub(super) fn unknown(taint: Taint) -> Self {
        Self { taint, is_unknown: true, begins_unknown: true, ..Self::default() }
    }

    fn note_unknown(&mut self) {
        self.begins_unknown |= self.text.is_empty();
        self.is_unknown = true;
    }
}

/// The fields of a word under construction.
#[derive(Debug, Default)]
struct Fields {
    done: Vec<Arg>,
    open: Option<Arg>,
}

impl Fields {
    fn open(&mut self) -> &mut Arg {
        self.open.get_or_insert_default()
    }

    fn split(&mut self) {
        self.done.extend(self.open.take());
    }

    fn add(&mut self, text: &[Glyph], splits: bool) {
        for glyph in text {
            if splits && glyph.ch.is_whitespace() {
                self.split();
            } else {
                self.open().text.push(*glyph);
            }
        }
    }

    fn finish(mut self) -> Vec<Arg> {
        self.split();
        for arg in &mut self.done {
            arg.word = string(&arg.text);
        }
        self.done
    }
}

impl Walk {
    /// How many words braces may make of one.
    const MAX_BRANCHES: usize = 256;

    /// Returns the arguments that `words` become.
    pub(super) fn args(&mut self, words: &[Word]) -> Vec<Arg> {
        let mut args = Vec::new();
        for word in words {
            let mut branches = Vec::new();
            if !branch(word, Self::MAX_BRANCHES, &mut branches) {
                self.cut();
            }
            for branch in branches {
                args.extend(self.fields(&branch));
            }
        }
        args
    }

    /// Returns the one argument that `word` becomes where it is not split.
    pub(super) fn one(&mut self, word: &Word) -> Arg {
        let args = self.fields(word);
        let mut joined = Arg::default();
        for arg in args {
            if !joined.text.is_empty() {
                let at = arg.text.first().map_or((0, 0), |glyph| (glyph.start, glyph.start));
                joined.text.extend(placed(" ", at));
            }
            joined.taint = joined.taint.with(arg.taint);
            joined.is_unknown |= arg.is_unknown;
            joined.begins_unknown |= joined.text.is_empty() && arg.begins_unknown;
            joined.content = joined.content.or(arg.content);
            joined.text.extend(arg.text);
        }
        joined.word = string(&joined.text);
        joined
    }

    fn fields(&mut self, word: &Word) -> Vec<Arg> {
        let mut fields = Fields::default();
        if word.is_empty() {
            fields.open();
        }
        for piece in word {
            match piece {
                Piece::Text { glyph, is_quoted } => {
                    let arg = fields.open();
                    arg.text.push(*glyph);
                    arg.has_pattern |= !is_quoted && "*?[".contains(glyph.ch);
                }
                Piece::Variable { name, tail, is_quoted, place } => {
                    let data = self.variable(name, tail);
                    let splits = !is_quoted || is_list(name, tail);
                    self.put(&mut fields, data, splits, *place);
                }
                Piece::Command { script, is_quoted, place } => {
                    let mut data = self.script(script, Data::default());
                    data.text = data.text.map(trimmed);
                    self.put(&mut fields, data, !is_quoted, *place);
                }
                Piece::Process { script, place } => {
                    let data = self.script(script, Data::default());
                    let arg = fields.open();
                    arg.text.extend(placed("/dev/fd/63", *place));
                    arg.content = Some(data);
                }
            }
        }
        fields.finish()
    }

    fn put(&mut self, fields: &mut Fields, data: Data, splits: bool, place: (usize, usize)) {
        match data.text {
            Some(text) if self.spend(text.len()) => {
                // What was put in stands where it was put in.
                let text: Text =
                    text.iter().map(|it| Glyph { start: place.0, end: place.1, ..*it }).collect();
                fields.add(&text, splits);
                if !splits {
                    fields.open();
                }
            }
            _ => fields.open().note_unknown(),
        }
        if data.taint != Taint::default() {
            let arg = fields.open();
            arg.taint = arg.taint.with(data.taint);
        }
    }

    /// Returns what a variable holds, changed as `tail` says.
    fn variable(&mut self, name: &str, tail: &Word) -> Data {
        let tail_text = literal(tail).unwrap_or_default();
        if name == "IFS" {
            return Data::of(placed(" ", (0, 0)));
        }
        if let Some(name) = name.strip_prefix('!') {
            let target = self.variables.get(name).and_then(|data| data.text.as_deref()).map(string);
            return target.map(|it| self.variable(&it, tail)).unwrap_or_default();
        }
        let known = self.variables.get(name).cloned();
        if tail_text.starts_with(":-") || tail_text.starts_with('-') {
            return known.unwrap_or_else(|| self.rest(tail));
        }
        if tail_text.starts_with(":=") || tail_text.starts_with('=') {
            let data = known.unwrap_or_else(|| self.rest(tail));
            self.variables.insert(name.to_owned(), data.clone());
            return data;
        }
        if !tail.is_empty() && tail_text.is_empty() {
            // A default with commands in it, which run.
            let rest = self.rest(tail);
            return known.unwrap_or(rest);
        }
        let Some(mut data) = known else { return Data::default() };
        data.text = data.text.and_then(|text| changed(&text, &tail_text));
        data
    }

    /// Returns what stands behind the operator of a default.
    fn rest(&mut self, tail: &Word) -> Data {
        let is_sign = |piece: &&Piece| matches!(piece, Piece::Text { glyph, .. } if ":-=+?".contains(glyph.ch));
        let signs = tail.iter().take(2).take_while(is_sign).count();
        let word: Word = tail.iter().skip(signs).cloned().collect();
        let arg = self.one(&word);
        Data { text: (!arg.is_unknown).then_some(arg.text), taint: arg.taint }
    }
}

/// Returns the text without the line ends after it.
fn trimmed(mut text: Text) -> Text {
    let end = text.iter().rposition(|glyph| glyph.ch != '\n').map_or(0, |at| at.saturating_add(1));
    text.truncate(end);
    text
}

fn is_list(name: &str, tail: &[Piece]) -> bool {
    name == "@" || (name != "*" && literal(tail).is_some_and(|it| it.starts_with("[@]")))
}

/// Applies what stands behind a variable's name, `None` if that is not known.
fn changed(text: &[Glyph], tail: &str) -> Option<Text> {
    if tail.is_empty() || tail == "[@]" || tail == "[*]" {
        return Some(text.to_vec());
    }
    if let Some(index) = tail.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        let index: usize = index.parse().ok()?;
        let mut words = text.split(|glyph| glyph.ch.is_whitespace()).filter(|it| !it.is_empty());
        return words.nth(index).map(<[Glyph]>::to_vec);
    }
    let upper = |ch: char| ch.to_ascii_uppercase();
    let lower = |ch: char| ch.to_ascii_lowercase();
    let mapped = |map: fn(char) -> char| {
        text.iter().map(|glyph| Glyph { ch: map(glyph.ch), ..*glyph }).collect::<Text>()
    };
    match tail {
        "^^" | "@U" => return Some(mapped(upper)),
        ",," | "@L" => return Some(mapped(lower)),
        _ => {}
    }
    if let Some(part) = tail.strip_prefix(':') {
        let (start, length) = part.split_once(':').unwrap_or((part, "1000000"));
        let (start, length): (usize, usize) =
            (start.trim().parse().ok()?, length.trim().parse().ok()?);
        return Some(text.iter().skip(start).take(length).copied().collect());
    }
    if let Some(part) = tail.strip_prefix("//").or_else(|| tail.strip_prefix('/')) {
        let (from, to) = part.split_once('/').unwrap_or((part, ""));
        let at = text.first().map_or((0, 0), |glyph| (glyph.start, glyph.end));
        return (!from.is_empty()).then(|| placed(&string(text).replace(from, to), at));
    }
    let plain = string(text);
    let prefix = tail.trim_start_matches('#');
    let suffix = tail.trim_start_matches('%');
    let kept = match tail.chars().next()? {
        '#' => plain.strip_prefix(prefix).unwrap_or(&plain).to_owned(),
        '%' => plain.strip_suffix(suffix).unwrap_or(&plain).to_owned(),
        _ => return None,
    };
    let at = text.first().map_or((0, 0), |glyph| (glyph.start, glyph.end));
    Some(placed(&kept, at))
}

/// Writes the words that a word with braces becomes to `branches`. Returns whether that were all.
fn branch(word: &Word, most: usize, branches: &mut Vec<Word>) -> bool {
    let mut queue = vec![word.clone()];
    let mut is_whole = true;
    while let Some(word) = queue.pop() {
        let room = queue.len().saturating_add(branches.len()) < most && word.len() < 2_000;
        let braces = first_braces(&word);
        is_whole &= room || braces.is_none();
        match braces.filter(|_| room) {
            Some((open, commas, close)) => {
                let mut start = open;
                let mut parts = Vec::new();
                for end in commas.into_iter().chain([close]) {
                    let before = word.iter().take(open);
                    let part = word.iter().take(end).skip(start.saturating_add(1));
                    let after = word.iter().skip(close.saturating_add(1));
                    parts.push(before.chain(part).chain(after).cloned().collect());
                    start = end;
                }
                queue.extend(parts.into_iter().rev());
            }
            None => branches.push(word),
        }
    }
    is_whole
}

/// Returns where the first braces with a comma open, are divided, and close.
fn first_braces(word: &Word) -> Option<(usize, Vec<usize>, usize)> {
    let sign = |at: usize| match word.get(at) {
        Some(Piece::Text { glyph, is_quoted: false }) => Some(glyph.ch),
        _ => None,
    };
    let open = (0..word.len()).find(|at| sign(*at) == Some('{'))?;
    let (mut depth, mut commas) = (0_usize, Vec::new());
    for at in open..word.len() {
        match sign(at) {
            Some('{') => depth = depth.saturating_add(1),
            Some(',') if depth == 1 => commas.push(at),
            Some('}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (!commas.is_empty()).then_some((open, commas, at));
                }
            }
            _ => {}
        }
    }
    None
}

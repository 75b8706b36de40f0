//! Backslash escapes that slipped into a quotation: decoded where the file has the plain character.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;
use std::rc::Rc;

use memchr::{memchr, memchr_iter, memmem};
use similar::DiffOp;

use super::canon::{self, Canon};
use super::find::{self, Found, Wording};
use super::survey::words;
use super::token::{diff, tokens};
use super::{PatchError, Strategy};

/// The escapes that are understood, with what they stand for.
const ESCAPES: [(&str, char); 5] =
    [("\\n", '\n'), ("\\t", '\t'), ("\\r", '\r'), ("\\\"", '"'), ("\\'", '\'')];

/// How many candidates are looked at more closely.
const CANDIDATES: usize = 8;

/// Finds `asked` by reading its escapes as the file shows that they are meant.
pub(super) fn find(
    text: &str,
    canon: &Canon<'_>,
    asked: &Wording,
    every: bool,
) -> Result<Option<Found>, PatchError> {
    if memchr(b'\\', asked.old.as_bytes()).is_none() {
        return Ok(None);
    }
    let mut wordings: Vec<Wording> = unescaped(asked).into_iter().collect();
    let pieces = pieces(&asked.old);
    for span in candidates(text, canon, asked) {
        let region = text.get(span.clone()).unwrap_or_default();
        let Some(decoded) = decide(&pieces, region) else { continue };
        let wording = match decode_both(&pieces, &decoded, &asked.new) {
            Ok(wording) => wording,
            Err(escape) => return Err(drift(text, span.start, escape)),
        };
        if !wordings.contains(&wording) {
            wordings.push(wording);
        }
    }
    let mut found: Option<Found> = None;
    for wording in wordings {
        let Some(more) = find::canonical(text, canon, &wording, every) else { continue };
        found.get_or_insert(Found::none(Strategy::Escapes)).extend(more);
    }
    Ok(found.filter(|found| !every || found.places.windows(2).all(same_wording)))
}

fn same_wording(places: &[find::Place]) -> bool {
    matches!(places, [left, right] if Rc::ptr_eq(&left.wording, &right.wording))
}

fn drift(text: &str, at: usize, escape: &'static str) -> PatchError {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    PatchError::EscapeDrift { line: memchr_iter(b'\n', before).count() + 1, escape }
}

/// Decodes both texts in full, for a caller who escaped them once too often, backslashes included.
fn unescaped(asked: &Wording) -> Option<Wording> {
    if !asked.old.contains("\\\\") {
        return None;
    }
    let full = |text: &str| -> String {
        let decode = |piece: &str| match piece {
            "\\\\" => "\\".to_owned(),
            _ => plain(piece).map_or_else(|| piece.to_owned(), String::from),
        };
        pieces(text).into_iter().map(decode).collect()
    };
    Some(Wording::new(&full(&asked.old), &full(&asked.new)))
}

/// Returns the ranges of the text that equal `old` if escapes are decoded in both.
fn candidates(text: &str, canon: &Canon<'_>, asked: &Wording) -> Vec<Range<usize>> {
    let old = Flat::new(&asked.old);
    let pattern = canon::canonical(&old.text);
    let is_blank = pattern.trim_matches('\n').is_empty();
    if old.shrunk.is_empty() || is_blank || !has_words(canon.as_str(), &pattern) {
        return Vec::new();
    }
    let file = Flat::new(text);
    let decoded = (!file.shrunk.is_empty()).then(|| Canon::new(&file.text));
    let canon = decoded.as_ref().unwrap_or(canon);
    let hits = find::hits(canon.as_str(), &pattern).take(CANDIDATES);
    hits.filter_map(|hit| canon.source_range(&hit)).map(|range| file.source_range(&range)).collect()
}

/// Returns whether a text has the longest words of a pattern somewhere. Decoding an escape joins no
/// words, so that a text without one of them cannot have the pattern.
fn has_words(text: &str, pattern: &str) -> bool {
    const SOUGHT: usize = 8;
    let mut words: Vec<&str> = words(pattern).collect();
    words.sort_unstable_by_key(|word| (Reverse(word.len()), *word));
    words.dedup();
    words.iter().take(SOUGHT).all(|word| memmem::find(text.as_bytes(), word.as_bytes()).is_some())
}

/// A text with all escapes decoded, and the way back.
struct Flat<'a> {
    text: Cow<'a, str>,
    /// Where in `text` the decoded characters stand; each is one byte shorter than its escape.
    shrunk: Vec<usize>,
}

impl<'a> Flat<'a> {
    fn new(source: &'a str) -> Self {
        if memchr(b'\\', source.as_bytes()).is_none() {
            return Self { text: Cow::Borrowed(source), shrunk: Vec::new() };
        }
        let mut text = String::with_capacity(source.len());
        let mut shrunk = Vec::new();
        let mut rest = source;
        while let Some(at) = memchr(b'\\', rest.as_bytes()) {
            let (before, escape) = rest.split_at_checked(at).unwrap_or((rest, ""));
            text.push_str(before);
            let len = escape.chars().take(2).map(char::len_utf8).sum();
            let (escape, after) = escape.split_at_checked(len).unwrap_or((escape, ""));
            if let Some(plain) = plain(escape) {
                shrunk.push(text.len());
                text.push(plain);
            } else {
                text.push_str(escape);
            }
            rest = after;
        }
        text.push_str(rest);
        Self { text: Cow::Owned(text), shrunk }
    }

    fn source_range(&self, range: &Range<usize>) -> Range<usize> {
        let source = |at: usize| at + self.shrunk.partition_point(|&shrunk| shrunk < at);
        source(range.start)..source(range.end)
    }
}

fn plain(escape: &str) -> Option<char> {
    ESCAPES.iter().find(|(text, _)| *text == escape).map(|(_, plain)| *plain)
}

/// Splits a text into tokens of which every escape, and every escaped backslash, is one.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        let (before, escape) = rest.split_at_checked(at).unwrap_or((rest, ""));
        pieces.extend(tokens(before));
        let len = escape.chars().take(2).map(char::len_utf8).sum();
        let (escape, after) = escape.split_at_checked(len).unwrap_or((escape, ""));
        if plain(escape).is_some() || escape == "\\\\" {
            pieces.push(escape);
            rest = after;
        } else {
            pieces.extend(escape.get(..1));
            rest = rest.get(at + 1..).unwrap_or_default();
        }
    }
    pieces.extend(tokens(rest));
    pieces
}

/// A visible character, or a run of blanks and escapes that stand for blanks.
#[derive(Debug, PartialEq, Eq)]
enum Atom {
    Visible(String),
    Blanks,
}

/// Says of every piece of `old` whether it is an escape to be decoded: the region has the plain
/// character in its place. `None` if the region has an escape where `old` has another or none.
fn decide(old: &[&str], region: &str) -> Option<Vec<bool>> {
    let mut decoded = vec![false; old.len()];
    let file_pieces = pieces(region);
    let (old_atoms, file_atoms) = (atoms(old), atoms(&file_pieces));
    let mut old_atoms = old_atoms.into_iter().peekable();
    let mut file_atoms = file_atoms.into_iter().peekable();
    loop {
        let blanks = |atom: &(Atom, Vec<usize>)| atom.0 == Atom::Blanks;
        let old_run = old_atoms.next_if(blanks).map_or_else(Vec::new, |(_, escapes)| escapes);
        let file_run = file_atoms.next_if(blanks).map_or_else(Vec::new, |(_, escapes)| escapes);
        let texts = |pieces: &[&str], run: &[usize]| -> Vec<String> {
            run.iter().filter_map(|&at| pieces.get(at)).map(|piece| (*piece).to_owned()).collect()
        };
        if file_run.is_empty() {
            for &at in &old_run {
                set(&mut decoded, at);
            }
        } else if texts(old, &old_run) != texts(&file_pieces, &file_run) {
            return None;
        }
        let (left, right) = match (old_atoms.next(), file_atoms.next()) {
            (Some(left), Some(right)) => (left, right),
            (None, None) => break,
            _ => return None,
        };
        match (left.0 == right.0, left.1.first(), right.1.first()) {
            (true, Some(&at), None) => set(&mut decoded, at),
            (true, Some(_), Some(_)) | (true, None, None) => {}
            _ => return None,
        }
    }
    decoded.contains(&true).then_some(decoded)
}

fn set(decoded: &mut [bool], at: usize) {
    if let Some(decoded) = decoded.get_mut(at) {
        *decoded = true;
    }
}

/// Returns what is to be seen of `pieces`, each with the indices of the escapes that it is made of.
fn atoms(pieces: &[&str]) -> Vec<(Atom, Vec<usize>)> {
    let mut atoms: Vec<(Atom, Vec<usize>)> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let plain = plain(piece);
        let text = plain.map_or_else(|| (*piece).to_owned(), String::from);
        let escapes = plain.map(|_| index);
        if !canon::is_blank(&text) {
            atoms.push((Atom::Visible(canon::canonical(&text)), escapes.into_iter().collect()));
        } else if let Some((Atom::Blanks, run)) = atoms.last_mut() {
            run.extend(escapes);
        } else {
            atoms.push((Atom::Blanks, escapes.into_iter().collect()));
        }
    }
    atoms
}

/// Decodes `old` as decided, and `new` in the same way; fails with the escape of which `new` does not
/// show how it is meant.
fn decode_both(old: &[&str], decoded: &[bool], new: &str) -> Result<Wording, &'static str> {
    let new_pieces = pieces(new);
    let example = Example::new(old, decoded, &new_pieces);
    let mut written = Written::with_capacity(new.len());
    for op in diff(old, &new_pieces) {
        let (_, old_range, new_range) = op.as_tag_tuple();
        if matches!(op, DiffOp::Equal { .. }) {
            for at in old_range {
                written.push(&decode_if(old, at, decoded.get(at) == Some(&true)));
            }
        } else {
            for at in new_range {
                let piece = new_pieces.get(at).copied().unwrap_or_default();
                let decode = match plain(piece) {
                    Some(_) => example.is_meant(piece, written.starts_line)?,
                    None => false,
                };
                written.push(&decode_if(&new_pieces, at, decode));
            }
        }
    }
    let old: String =
        (0..old.len()).map(|at| decode_if(old, at, decoded.get(at) == Some(&true))).collect();
    Ok(Wording::new(&old, &written.text))
}

fn decode_if<'a>(pieces: &[&'a str], at: usize, decode: bool) -> Cow<'a, str> {
    let piece = pieces.get(at).copied().unwrap_or_default();
    plain(piece).filter(|_| decode).map_or(Cow::Borrowed(piece), |c| Cow::Owned(c.to_string()))
}

/// A text that knows whether what comes next is the first on its line.
struct Written {
    text: String,
    starts_line: bool,
}

impl Written {
    fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), starts_line: true }
    }

    fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
        self.starts_line = match piece.rsplit_once('\n') {
            Some((_, last)) => canon::is_blank(last),
            None => self.starts_line && canon::is_blank(piece),
        };
    }
}

/// How the escapes of `old` are meant: the example for those that only `new` has.
struct Example {
    /// For each of [`ESCAPES`], how many of `old` are read as the plain character, and how many are kept.
    counts: [(usize, usize); ESCAPES.len()],
    /// Whether `new` has line feeds of its own where `old` has only escapes, so that these are text.
    only_new_breaks_lines: bool,
}

impl Example {
    fn new(old: &[&str], decoded: &[bool], new: &[&str]) -> Self {
        let mut counts = [(0, 0); ESCAPES.len()];
        for (piece, decoded) in old.iter().zip(decoded) {
            let kind = ESCAPES.iter().zip(&mut counts).find(|((escape, _), _)| escape == piece);
            if let Some((_, (read, kept))) = kind {
                *(if *decoded { read } else { kept }) += 1;
            }
        }
        let breaks_lines = |pieces: &[&str]| pieces.iter().any(|piece| piece.contains('\n'));
        Self { counts, only_new_breaks_lines: breaks_lines(new) && !breaks_lines(old) }
    }

    /// Returns whether an escape that only `new` has stands for the plain character.
    fn is_meant(&self, escape: &str, starts_line: bool) -> Result<bool, &'static str> {
        let known = ESCAPES.iter().zip(self.counts).find(|((text, _), _)| *text == escape);
        let Some(((text, _), (read, kept))) = known else { return Ok(false) };
        match *text {
            "\\t" if 0 < read => Ok(starts_line),
            "\\t" => Ok(starts_line && self.counts.iter().any(|(read, _)| 0 < *read) && kept == 0),
            "\\n" if self.only_new_breaks_lines => Ok(false),
            _ if read == 0 => Ok(false),
            _ if kept == 0 => Ok(true),
            text => Err(text),
        }
    }
}

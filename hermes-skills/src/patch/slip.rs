//! Small slips of the pen in a quotation, forgiven where the new text has the file's spelling.

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use memchr::memmem;

use super::Strategy;
use super::canon::{self, Canon, split_line};
use super::dense::Dense;
use super::find::{self, Found, Place, Wording};
use super::survey::Window;
use super::token::tokens;

/// Words that turn a sentence around, and those that are nearly written like one; none of them is ever a
/// slip of another word.
const DECISIVE: [&str; 65] = [
    "no", "not", "now", "non", "never", "none", "nor", "without", "with", "within", "cannot",
    "can", "cant", "dont", "doesnt", "wont", "isnt", "on", "off", "of", "in", "out", "true",
    "false", "yes", "and", "or", "any", "all", "min", "max", "less", "least", "most", "must",
    "may", "neither", "either", "nobody", "nothing", "kein", "keine", "keinen", "ein", "eine",
    "einen", "nicht", "nie", "ohne", "nur", "pas", "sans", "dans", "jamais", "sin", "con", "nunca",
    "senza", "mai", "não", "sem", "com", "niet", "geen", "een",
];

/// Beginnings that turn a word around.
const REVERSING: [&str; 14] =
    ["un", "in", "im", "ir", "il", "dis", "non", "de", "mis", "re", "anti", "ex", "a", "pre"];

/// The longest line, in bytes, in which slips are looked for.
const LINE_LIMIT: usize = 2_000;
/// The longest word, in characters, in which they are.
const WORD_LIMIT: usize = 64;
/// How many characters of a cut first line must be there, at least.
const CUT_LEAST: usize = 10;

/// A word of `old` and the file's spelling of it.
type Respelling = (String, String);

/// Finds the one place whose lines all are equal to those of `old` or small slips of them.
pub(super) fn find(
    text: &str,
    (canon, dense): (&Canon<'_>, &Dense),
    windows: &[Window],
    asked: &Wording,
) -> Option<Found> {
    let pattern = Dense::new(&canon::canonical(&asked.old));
    let reader = Reader::new(asked, dense);
    let far: Vec<Option<usize>> =
        windows.iter().map(|window| distance(&pattern, dense, window.first)).collect();
    let places = windows.iter().zip(&far).filter_map(|(window, own)| {
        let wording = reader.reword(&pattern, window.first)?;
        let as_near = far.iter().filter(|other| other.is_some() && *other <= own).count();
        if own.is_some() && 1 < as_near {
            return None;
        }
        let hit = dense.canon_range(&(window.first..window.first + pattern.len()))?;
        let place = find::place(text, canon, &hit, &Rc::new(wording))?;
        fits(text, &place).then_some(place)
    });
    Found::gather(Strategy::Slips, places, false)
}

/// Counts the words that differ between the quotation and a window, if all are slips.
///
/// Of two windows that are equally near, what `new` has in common with one of them says nothing: it may be
/// what the other one is to become.
fn distance(pattern: &Dense, dense: &Dense, first: usize) -> Option<usize> {
    let lines = pattern.iter().enumerate().map(|(at, quoted)| match dense.line(first + at) {
        file if file == quoted => Some(0),
        file if LINE_LIMIT < quoted.len() || LINE_LIMIT < file.len() => None,
        file => slips(quoted, file).map(|slips| slips.len()),
    });
    lines.sum()
}

/// Returns whether the rewording has become canonically equal to the place, blank lines aside.
fn fits(text: &str, place: &Place) -> bool {
    let region = text.get(place.span.clone()).unwrap_or_default();
    let (region, old) = (canon::canonical(region), canon::canonical(&place.wording.old));
    Dense::new(&region).iter().eq(Dense::new(&old).iter())
}

/// Judges differences in the light of what the caller wants to write.
struct Reader<'a> {
    asked: &'a Wording,
    dense: &'a Dense,
    new_words: HashSet<&'a str>,
}

impl<'a> Reader<'a> {
    fn new(asked: &'a Wording, dense: &'a Dense) -> Self {
        Self { asked, dense, new_words: tokens(&asked.new).into_iter().collect() }
    }

    /// Rewords `old` to what the window has, and `new` where it keeps a slip; `None` if they differ in
    /// more than slips.
    fn reword(&self, pattern: &Dense, first: usize) -> Option<Wording> {
        let mut old = Vec::new();
        let mut respelt = BTreeMap::new();
        let mut at = 0;
        for line in self.asked.old.split('\n') {
            if canon::is_blank(line) {
                old.push(line.to_owned());
                continue;
            }
            let (quoted, file) = (pattern.line(at), self.dense.line(first + at));
            let last = at + 1 == pattern.len();
            old.push(self.reword_line(line, quoted, file, (at == 0 && !last, &mut respelt))?);
            at += 1;
        }
        let new = tokens(&self.asked.new);
        let new = new.into_iter().map(|word| respelt.get(word).map_or(word, String::as_str));
        let mostly_equal = equal_lines(pattern, self.dense, first) * 2 >= pattern.len();
        let certain = respelt.is_empty() || (1 < pattern.len() && mostly_equal);
        certain.then(|| Wording { old: old.join("\n"), new: new.collect() })
    }

    fn reword_line(
        &self,
        line: &str,
        quoted: &str,
        file: &str,
        (first, respelt): (bool, &mut BTreeMap<String, String>),
    ) -> Option<String> {
        if quoted == file {
            return Some(line.to_owned());
        }
        if LINE_LIMIT < quoted.len() || LINE_LIMIT < file.len() {
            return None;
        }
        let (indent, body, trail) = split_line(line);
        if first && let Some(rest) = self.cut_off(quoted, file) {
            return Some(format!("{indent}{body}{rest}"));
        }
        let slips = slips(quoted, file)?;
        for (index, (wrong, right)) in &slips {
            if self.is_carried(wrong, right) || respelt.get(wrong) == Some(right) {
                continue;
            }
            if !self.is_misspelt(quoted, *index, wrong, right) {
                return None;
            }
            respelt.insert(wrong.clone(), right.clone());
            if 1 < respelt.len() {
                return None;
            }
        }
        let mut words = 0;
        let mut reworded = String::with_capacity(line.len());
        for token in tokens(body) {
            let slip = is_word(token).then(|| slips.get(&words)).flatten();
            words += usize::from(is_word(token));
            reworded.push_str(slip.map_or(token, |(_, right)| right));
        }
        Some(format!("{indent}{reworded}{trail}"))
    }

    /// Returns the end of the file's line that `quoted` lacks, if `new` has it.
    fn cut_off<'t>(&self, quoted: &str, file: &'t str) -> Option<&'t str> {
        let rest = file.strip_prefix(quoted)?;
        if quoted.chars().count() < CUT_LEAST || rest.chars().count() < 2 {
            return None;
        }
        let known = quoted.chars().rev().take(CUT_LEAST).map(char::len_utf8).sum::<usize>();
        let seam = file.get(quoted.len() - known..)?;
        canon::canonical(&self.asked.new).contains(seam).then_some(rest)
    }

    /// Returns whether `new` spells the word as the file does.
    fn is_carried(&self, wrong: &str, right: &str) -> bool {
        self.new_words.contains(right) && !self.new_words.contains(wrong)
    }

    /// Returns whether a word of prose is misspelt for certain: it is long, a letter is missing, doubled or
    /// out of place, the file has the misspelling nowhere, and neither spelling is a form of the other.
    fn is_misspelt(&self, quoted: &str, word: usize, wrong: &str, right: &str) -> bool {
        const LEAST: usize = 6;
        let prose = |word: &str| word.chars().skip(1).all(char::is_lowercase);
        let (wrong_len, right_len) = (wrong.chars().count(), right.chars().count());
        prose(wrong)
            && prose(right)
            && LEAST <= wrong_len.min(right_len)
            && (wrong_len != right_len || same_letters(wrong, right))
            && !wrong.starts_with(right)
            && !right.starts_with(wrong)
            && strsim::osa_distance(wrong, right) == 1
            && stands_alone(quoted, word)
            && memmem::find(self.dense.as_str().as_bytes(), wrong.as_bytes()).is_none()
    }
}

fn same_letters(left: &str, right: &str) -> bool {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    sorted(left) == sorted(right)
}

/// Counts the lines of the quotation that the window has as they are.
fn equal_lines(pattern: &Dense, dense: &Dense, first: usize) -> usize {
    pattern.iter().enumerate().filter(|(at, line)| dense.line(first + at) == *line).count()
}

fn is_word(token: &str) -> bool {
    token.chars().next().is_some_and(char::is_alphabetic)
}

/// Returns whether the word of that index has blanks or plain punctuation around it, so that it is no
/// part of a name, path, flag or value.
fn stands_alone(line: &str, word: usize) -> bool {
    let tokens = tokens(line);
    let at = tokens.iter().enumerate().filter(|(_, token)| is_word(token)).nth(word);
    let Some((at, _)) = at else { return false };
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let after = tokens.get(at + 1);
    let next = tokens.get(at + 2);
    let opens = before.is_none_or(|token| canon::is_blank(token) || *token == "(");
    let ends = match after {
        None => true,
        Some(&("." | "," | ";" | "!" | "?" | ")")) => {
            next.is_none_or(|token| canon::is_blank(token))
        }
        Some(token) => canon::is_blank(token),
    };
    opens && ends
}

/// Returns the words, by their index among the words of `quoted`, in which it differs from `file`, or
/// `None` if the difference is more than small slips in words.
fn slips(quoted: &str, file: &str) -> Option<BTreeMap<usize, Respelling>> {
    let (old, new) = (tokens(quoted), tokens(file));
    if old.len() != new.len() {
        return None;
    }
    let mut slips = BTreeMap::new();
    let mut words = 0;
    for (wrong, right) in old.iter().zip(new) {
        if *wrong != right {
            if !is_slip(wrong, right) {
                return None;
            }
            slips.insert(words, ((*wrong).to_owned(), right.to_owned()));
        }
        words += usize::from(is_word(wrong));
    }
    (slips.len() * 2 <= old.len()).then_some(slips)
}

/// Returns whether one word may be the other with a slip of the pen in it.
fn is_slip(wrong: &str, right: &str) -> bool {
    const SHORT: usize = 6;
    if !is_word(wrong) || !is_word(right) {
        return false;
    }
    let len = wrong.chars().count().max(right.chars().count());
    let allowed = if len < SHORT { 1 } else { 2 };
    let (lower_wrong, lower_right) = (wrong.to_lowercase(), right.to_lowercase());
    (2..=WORD_LIMIT).contains(&len)
        && strsim::osa_distance(wrong, right) <= allowed
        && !DECISIVE.contains(&lower_right.as_str())
        && !DECISIVE.contains(&lower_wrong.as_str())
        && !reverses(&lower_wrong, &lower_right)
        && !reverses(&lower_right, &lower_wrong)
        && unspaced(wrong) == unspaced(right)
}

/// Returns whether `long` is `short` turned into its opposite.
fn reverses(long: &str, short: &str) -> bool {
    let stem = |word: &str| -> Vec<String> {
        REVERSING.iter().filter_map(|start| word.strip_prefix(start)).map(str::to_owned).collect()
    };
    let stems = stem(long);
    stems.iter().any(|rest| rest == short)
        || stems.iter().any(|rest| 2 < rest.len() && stem(short).contains(rest))
}

/// The characters of scripts in which a single one is a word.
fn unspaced(word: &str) -> String {
    word.chars().filter(|c| find::is_unspaced(*c)).collect()
}

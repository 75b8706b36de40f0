//! Finds the places that a quoted passage may mean.

use std::iter;
use std::ops::Range;
use std::rc::Rc;

use memchr::{memchr, memmem, memrchr};

use super::canon::{self, Canon};
use super::dense::Dense;
use super::survey::survey;
use super::{INEXACT_LIMIT, PLACES_LIMIT, PatchError, Strategy, dress, escape, hint, lf, slip};

/// What may stand before the first line of a text, and belongs to none.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// One reading of what the caller wants replaced by what, in LF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wording {
    pub(super) old: String,
    pub(super) new: String,
}

/// A place that fits, with the wording of `old` that is canonically equal to it.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The bytes of the LF text.
    pub(super) span: Range<usize>,
    pub(super) wording: Rc<Wording>,
    /// Whether the span begins where a line does.
    pub(super) starts_line: bool,
    /// Whether the span ends where a line does.
    pub(super) ends_line: bool,
    /// Whether the span takes whole lines, be it up to the start of the next one.
    pub(super) is_whole: bool,
}

/// What the first strategy with a match found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) strategy: Strategy,
    /// The places that fit; the first few of them if only one was asked for.
    pub(super) places: Vec<Place>,
    /// How many places fit, counted to one past [`PLACES_LIMIT`].
    pub(super) total: usize,
}

impl Found {
    /// Returns what there is before anything is found.
    pub(super) fn none(strategy: Strategy) -> Self {
        Self { strategy, places: Vec::new(), total: 0 }
    }

    /// Gathers places; `None` if there are none.
    pub(super) fn gather(
        strategy: Strategy,
        places: impl Iterator<Item = Place>,
        every: bool,
    ) -> Option<Self> {
        let mut found = Self::none(strategy);
        places.take(PLACES_LIMIT + 1).for_each(|place| found.add(place, every));
        (0 < found.total).then_some(found)
    }

    /// Takes in what another search found.
    pub(super) fn extend(&mut self, more: Self) {
        self.places.extend(more.places);
        self.total += more.total;
    }

    fn add(&mut self, place: Place, every: bool) {
        self.total += 1;
        if every || self.places.len() < hint::SHOWN_PLACES {
            self.places.push(place);
        }
    }
}

impl Wording {
    pub(super) fn new(old: &str, new: &str) -> Self {
        Self { old: lf::to_lf(old).into_owned(), new: lf::to_lf(new).into_owned() }
    }

    /// Drops blank lines that both texts have at an edge, and those that only `old` has there.
    fn without_edges(&self) -> Self {
        let old = self.old.trim_matches('\n');
        let leading = self.old.len() - self.old.trim_start_matches('\n').len();
        let trailing = self.old.len() - self.old.trim_end_matches('\n').len();
        let mut new = self.new.as_str();
        for _ in 0..leading {
            new = new.strip_prefix('\n').unwrap_or(new);
        }
        for _ in 0..trailing {
            new = new.strip_suffix('\n').unwrap_or(new);
        }
        Self { old: old.to_owned(), new: new.to_owned() }
    }
}

/// Tries the strategies in turn and returns what the first one with a match found.
pub(super) fn find(text: &str, asked: &Wording, every: bool) -> Result<Found, PatchError> {
    if let Some(found) = exact(text, asked, every) {
        return Ok(found);
    }
    if INEXACT_LIMIT < text.len() || INEXACT_LIMIT < asked.old.len() {
        return Err(hint::not_found(text, asked, Vec::new()));
    }
    let canon = Canon::new(text);
    if !every && let Some(found) = dress::find_diff(text, &canon, &asked.without_edges()) {
        return Ok(found);
    }
    if let Some(found) = canonical(text, &canon, asked, every) {
        return Ok(found);
    }
    let bare = asked.without_edges();
    if bare.old != asked.old
        && let Some(mut found) = canonical(text, &canon, &bare, every)
    {
        found.strategy = found.strategy.max(Strategy::BlankLines);
        return Ok(found);
    }
    if let Some(found) = escape::find(text, &canon, asked, every)? {
        return Ok(found);
    }
    if !every && let Some(found) = dress::find(text, &canon, &bare) {
        return Ok(found);
    }
    let dense = Dense::new(canon.as_str());
    approximate(text, (&canon, &dense), &bare, every)
}

/// Looks for what is merely similar, where that is allowed; otherwise says what is.
fn approximate(
    text: &str,
    (canon, dense): (&Canon<'_>, &Dense),
    asked: &Wording,
    every: bool,
) -> Result<Found, PatchError> {
    let pattern = Dense::new(&canon::canonical(&asked.old));
    if !every && let Some(found) = without_blanks(text, (canon, dense), &pattern, asked) {
        return Ok(found);
    }
    let windows = survey(dense, &pattern);
    if !every && let Some(found) = slip::find(text, (canon, dense), &windows, asked) {
        return Ok(found);
    }
    let closest = hint::closest(text, (canon, dense), &windows, pattern.len());
    Err(hint::not_found(text, asked, closest))
}

/// Finds the lines of `old` whatever blank lines lie between them.
fn without_blanks(
    text: &str,
    (canon, dense): (&Canon<'_>, &Dense),
    pattern: &Dense,
    asked: &Wording,
) -> Option<Found> {
    if pattern.len() < 2 {
        return None;
    }
    let wording = Rc::new(asked.clone());
    let places = dense
        .find_all(pattern)
        .filter_map(|lines| place(text, canon, &dense.canon_range(&lines)?, &wording));
    Found::gather(Strategy::BlankLines, places, false)
}

/// Finds `old` as it stands, leftmost first, without overlaps. Where one match is wanted, one that
/// overlaps the only other counts as well.
fn exact(text: &str, asked: &Wording, every: bool) -> Option<Found> {
    let finder = memmem::Finder::new(&asked.old);
    let len = asked.old.len();
    let wording = Rc::new(asked.clone());
    let feed_at = |at: usize| text.as_bytes().get(at).is_none_or(|&byte| byte == b'\n');
    let place = |start: usize| {
        let starts_line = start.checked_sub(1).is_none_or(feed_at);
        let ends_line = feed_at(start + len);
        Place {
            span: start..start + len,
            wording: Rc::clone(&wording),
            starts_line,
            ends_line,
            is_whole: starts_line && ends_line,
        }
    };
    let starts = finder.find_iter(text.as_bytes());
    let mut found = Found::gather(Strategy::Exact, starts.map(place), every)?;
    if let ([only], false) = (found.places.as_slice(), every) {
        let after = only.span.start + 1;
        let again = text.as_bytes().get(after..).and_then(|rest| finder.find(rest));
        if let Some(again) = again {
            found.add(place(after + again), every);
        }
    }
    Some(found)
}

/// Finds `old` in canonical form; whole lines are preferred to parts of them.
pub(super) fn canonical(
    text: &str,
    canon: &Canon<'_>,
    asked: &Wording,
    every: bool,
) -> Option<Found> {
    let pattern = canon::canonical(&asked.old);
    if pattern.trim_matches('\n').is_empty() {
        return None;
    }
    let wording = Rc::new(asked.clone());
    let mut best: Option<(bool, Found)> = None;
    let (mut total, mut taken) = (0, None::<usize>);
    for hit in hits(canon.as_str(), &pattern).take(PLACES_LIMIT + 1) {
        total += 1;
        let Some(mut place) = place(text, canon, &hit, &wording) else { continue };
        if let Some(end) = taken.filter(|_| every) {
            place.span.start = place.span.start.max(end);
        }
        taken = Some(place.span.end);
        let kind = kind(text, &place);
        let is_part = !every && !place.is_whole;
        match &mut best {
            Some((known, _)) if !*known && is_part => {}
            Some((known, found)) if *known == is_part => {
                found.strategy = found.strategy.max(kind);
                found.add(place, every);
            }
            _ => best = Found::gather(kind, iter::once(place), every).map(|found| (is_part, found)),
        }
    }
    let (_, mut found) = best?;
    if PLACES_LIMIT < total {
        // What comes after was not looked at, so that none of these can be called the best.
        found.total = total;
    }
    Some(found)
}

/// Yields the matches of `pattern` that cut through no word, number or path.
pub(super) fn hits<'a>(text: &'a str, pattern: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let finder = memmem::Finder::new(pattern);
    // A rejected match may hide one that overlaps it; looking again one character further is only
    // allowed while it costs no more than reading the text a few times.
    let mut budget = 4 * text.len();
    let mut from = 0;
    iter::from_fn(move || {
        loop {
            let start = from + finder.find(text.as_bytes().get(from..)?)?;
            let hit = start..start + pattern.len();
            if is_clean_cut(text, hit.start) && is_clean_cut(text, hit.end) {
                from = hit.end;
                return Some(hit);
            }
            let step = text.get(start..).and_then(|rest| rest.chars().next());
            from = if pattern.len() < budget {
                start + step.map_or(1, char::len_utf8)
            } else {
                hit.end
            };
            budget = budget.saturating_sub(pattern.len());
        }
    })
}

/// Returns whether cutting `text` at `at` leaves words, numbers, paths and flags whole.
fn is_clean_cut(text: &str, at: usize) -> bool {
    let Some((before, after)) = text.split_at_checked(at) else { return false };
    let mut before = before.chars().rev();
    let mut after = after.chars();
    let (Some(left), Some(right)) = (before.next(), after.next()) else { return true };
    let joined = match (is_word(left), is_word(right)) {
        (true, true) => !is_unspaced(left) && !is_unspaced(right),
        (true, false) => {
            let next = after.next();
            is_joint(right) && next.is_some_and(is_word) || left.is_numeric() && right == '%'
        }
        (false, true) => {
            is_joint(left) && (is_sign(left) || before.next().is_some_and(|c| !c.is_whitespace()))
        }
        (false, false) if left == right => is_joint(left),
        (false, false) => is_joint(left) && is_joint(right) && after.next().is_some_and(is_word),
    };
    !joined
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || canon::is_mark(c)
}

/// Returns whether `c` belongs to the word that follows even where nothing stands before it: the sign of
/// a number, the dash of a flag, the start of a path or a variable.
fn is_sign(c: char) -> bool {
    matches!(c, '-' | '+' | '.' | '/' | '\\' | '@' | '$' | '~' | '%')
}

/// Returns whether `c` belongs to a script that puts no spaces between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '\u{e00}'..='\u{eff}')
}

/// Returns whether `c` joins words to a longer name, number, path or flag.
fn is_joint(c: char) -> bool {
    matches!(c, '-' | '.' | '/' | '\\' | ':' | '@' | '#' | '$' | '~' | '+' | '%')
}

/// Turns a match into a place, extended to whole lines where it covers all that is visible of them.
pub(super) fn place(
    text: &str,
    canon: &Canon<'_>,
    hit: &Range<usize>,
    wording: &Rc<Wording>,
) -> Option<Place> {
    let mut span = canon.source_range(hit)?;
    let bytes = canon.as_str().as_bytes();
    let starts_line = hit.start == 0 || bytes.get(hit.start - 1) == Some(&b'\n');
    let ends_line = bytes.get(hit.end).is_none_or(|&next| next == b'\n');
    let feeds_start = bytes.get(hit.start) == Some(&b'\n');
    let feeds_end = hit.end.checked_sub(1).and_then(|last| bytes.get(last)) == Some(&b'\n');
    let is_whole = (starts_line || feeds_start) && (ends_line || feeds_end);
    if starts_line {
        let head = text.as_bytes().get(..span.start)?;
        span.start = memrchr(b'\n', head).map_or(0, |at| at + 1);
        if span.start == 0 && text.starts_with(BYTE_ORDER_MARK) {
            span.start = BYTE_ORDER_MARK.len_utf8();
        }
    }
    if ends_line {
        let tail = text.as_bytes().get(span.end..)?;
        span.end = memchr(b'\n', tail).map_or(text.len(), |at| span.end + at);
    }
    Some(Place { span, wording: Rc::clone(wording), starts_line, ends_line, is_whole })
}

/// Returns the strictest strategy under which a place is equal to its wording.
fn kind(text: &str, place: &Place) -> Strategy {
    let region = text.get(place.span.clone()).unwrap_or_default();
    let pairs = || region.split('\n').zip(place.wording.old.split('\n'));
    if pairs().all(|(file, old)| file.trim() == old.trim()) {
        return Strategy::Indentation;
    }
    let words_equal =
        |(file, old): (&str, &str)| file.split_whitespace().eq(old.split_whitespace());
    if pairs().all(words_equal) { Strategy::Whitespace } else { Strategy::Typography }
}

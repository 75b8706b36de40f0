//! What a quotation may be dressed in: line numbers, quote or diff marks, a code fence, entities.
//!
//! Models copy a passage together with what a viewer, a mail or a diff put around it. It is taken off
//! only where the file shows that it does not belong: the passage as quoted is not there, the bare one
//! is, and `new` is dressed alike or not at all.

use std::collections::HashSet;

use super::Strategy;
use super::canon::Canon;
use super::find::{self, Found, Place, Wording};

/// Where a bare wording may be found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Anywhere,
    /// Only on whole lines.
    Lines,
    /// Only on whole lines next to which the file has no fence.
    Unfenced,
}

/// Finds the lines of a diff; tried before all other inexact strategies, since context lines are there but
/// for a blank, and `+` would be taken for text.
pub(super) fn find_diff(text: &str, canon: &Canon<'_>, asked: &Wording) -> Option<Found> {
    let wording = diff(asked)?;
    exact(text, canon, &wording)
}

/// Finds whole lines that are exactly those of `wording`.
fn exact(text: &str, canon: &Canon<'_>, wording: &Wording) -> Option<Found> {
    let found = bare(text, canon, wording, Scope::Lines)?;
    let is_exact = |place: &Place| text.get(place.span.clone()) == Some(place.wording.old.as_str());
    found.places.iter().all(is_exact).then_some(found)
}

/// Finds what `asked` reads without its dressing; the first reading with a match decides.
pub(super) fn find(text: &str, canon: &Canon<'_>, asked: &Wording) -> Option<Found> {
    // A blank after a number belongs to it or to the line: what the file has exactly tells.
    let numbered = [numbers(asked, true), numbers(asked, false)];
    let found = numbered.iter().flatten().find_map(|wording| exact(text, canon, wording));
    if found.is_some() {
        return found;
    }
    let [with_blank, without_blank] = numbered;
    let readings = [
        (with_blank, Scope::Lines),
        (without_blank, Scope::Lines),
        (quote(asked), Scope::Lines),
        (fence(asked), Scope::Unfenced),
        (json(asked), Scope::Anywhere),
        (entities(asked), Scope::Anywhere),
        (code_points(asked), Scope::Anywhere),
    ];
    readings.into_iter().find_map(|(wording, scope)| bare(text, canon, &wording?, scope))
}

fn bare(text: &str, canon: &Canon<'_>, wording: &Wording, scope: Scope) -> Option<Found> {
    let mut found = find::canonical(text, canon, wording, false)?;
    let fits = found.places.iter().all(|place| match scope {
        Scope::Anywhere => true,
        Scope::Lines => place.starts_line && place.ends_line,
        Scope::Unfenced => place.starts_line && place.ends_line && !is_fenced(text, place),
    });
    found.strategy = Strategy::Dressing;
    fits.then_some(found)
}

/// Returns whether the file itself has a fence next to a place: then it is not certain whose one is.
fn is_fenced(text: &str, place: &Place) -> bool {
    let before = text.get(..place.span.start).unwrap_or_default().trim_end_matches('\n');
    let after = text.get(place.span.end..).unwrap_or_default().trim_start_matches('\n');
    let line = |line: Option<&str>| line.is_some_and(|line| line.trim_start().starts_with(FENCE));
    line(before.rsplit('\n').next()) || line(after.split('\n').next())
}

const FENCE: &str = "```";

/// Takes the dressing off `old`, and off `new` if it has any.
fn both(asked: &Wording, bare: impl Fn(&str) -> Option<String>) -> Option<Wording> {
    let old = bare(&asked.old)?;
    let new = match bare(&asked.new) {
        Some(new) => new,
        None if asked.new.split('\n').any(|line| bare(line).is_some()) => return None,
        None => asked.new.clone(),
    };
    Some(Wording { old, new })
}

/// Applies `bare` to every line.
fn each_line<'a>(text: &'a str, bare: impl Fn(&'a str) -> Option<&'a str>) -> Option<String> {
    let lines: Option<Vec<&str>> = text.split('\n').map(bare).collect();
    Some(lines?.join("\n"))
}

/// Takes off line numbers that count up, with or without a blank after the separator.
fn numbers(asked: &Wording, blank: bool) -> Option<Wording> {
    let parts: Option<Vec<(u64, &str)>> = asked.old.split('\n').map(numbered).collect();
    let counts_up = parts?.windows(2).all(|pair| matches!(pair, [(n, _), (m, _)] if n + 1 == *m));
    if !counts_up {
        return None;
    }
    both(asked, |text| {
        each_line(text, |line| {
            let (_, rest) = numbered(line)?;
            if blank && !rest.is_empty() { rest.strip_prefix(' ') } else { Some(rest) }
        })
    })
    .filter(|wording| wording.new != asked.new || !has_numbers(&asked.new))
}

fn has_numbers(text: &str) -> bool {
    text.split('\n').any(|line| numbered(line).is_some())
}

fn numbered(line: &str) -> Option<(u64, &str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = line.split_at_checked(digits)?;
    Some((number.parse().ok()?, rest.strip_prefix(['|', '\t', ':', '→'])?))
}

/// Takes off the marks of a quoted mail.
fn quote(asked: &Wording) -> Option<Wording> {
    both(asked, |text| {
        each_line(text, |line| if line == ">" { Some("") } else { line.strip_prefix("> ") })
    })
}

/// Takes off the marks of a diff: `-` and blanks before the lines of `old`, `+` and blanks before those of
/// `new`.
fn diff(asked: &Wording) -> Option<Wording> {
    let side = |text: &str, mark: char| {
        each_line(
            text,
            |line| if line.is_empty() { Some("") } else { line.strip_prefix([' ', mark]) },
        )
    };
    let has = |text: &str, mark: char| text.split('\n').any(|line| line.starts_with(mark));
    if !has(&asked.old, '-') && !has(&asked.new, '+') {
        return None;
    }
    // A line of both sides stands in both; one that only begins with a blank is no line of a diff.
    let context: HashSet<&str> = asked.old.split('\n').collect();
    let is_context = |line: &str| !line.starts_with(' ') || context.contains(line);
    if !asked.new.split('\n').all(is_context) {
        return None;
    }
    Some(Wording { old: side(&asked.old, '-')?, new: side(&asked.new, '+')? })
}

/// Takes off a code fence.
fn fence(asked: &Wording) -> Option<Wording> {
    both(asked, |text| {
        let (first, rest) = text.trim_matches('\n').split_once('\n')?;
        let (inner, last) = rest.rsplit_once('\n')?;
        let info = first.strip_prefix(FENCE)?;
        let is_fence = last == FENCE && !info.contains([' ', '`']) && !inner.contains(FENCE);
        is_fence.then(|| inner.to_owned())
    })
    .filter(|wording| !wording.new.contains(FENCE))
}

/// Reads both texts as strings of JSON, if `old` has an escape to show that it is one.
fn json(asked: &Wording) -> Option<Wording> {
    if !asked.old.contains('\\') {
        return None;
    }
    let read = |text: &str| serde_json::from_str::<String>(text.trim()).ok();
    Some(Wording::new(&read(&asked.old)?, &read(&asked.new)?))
}

/// The entities that are understood, with what they stand for.
const ENTITIES: [(&str, &str); 6] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&apos;", "'"),
    ("&amp;", "&"),
];

/// Decodes entities; `new` has to have all of a kind decoded or none.
fn entities(asked: &Wording) -> Option<Wording> {
    let has_any = |text: &str| ENTITIES.iter().any(|(entity, _)| text.contains(entity));
    if !has_any(&asked.old) {
        return None;
    }
    let decoded = |text: &str| {
        ENTITIES.iter().fold(text.to_owned(), |text, (entity, plain)| text.replace(entity, plain))
    };
    let without = |text: &str| {
        ENTITIES.iter().fold(text.to_owned(), |text, (entity, _)| text.replace(entity, ""))
    };
    let raw = without(&asked.new);
    let is_used = |entity: &str| asked.old.contains(entity) || asked.new.contains(entity);
    let is_mixed = ENTITIES.iter().any(|(entity, plain)| is_used(entity) && raw.contains(plain));
    match (has_any(&asked.new), is_mixed) {
        (true, true) => None,
        (true, false) => Some(Wording { old: decoded(&asked.old), new: decoded(&asked.new) }),
        (false, _) => Some(Wording { old: decoded(&asked.old), new: asked.new.clone() }),
    }
}

/// Decodes `\u2014` and its like, in both texts.
fn code_points(asked: &Wording) -> Option<Wording> {
    if !asked.old.contains("\\u") {
        return None;
    }
    Some(Wording { old: units(&asked.old)?, new: units(&asked.new)? })
}

/// Returns `text` with its code units read, `None` if one of them is half a character.
fn units(text: &str) -> Option<String> {
    let mut parts = text.split("\\u");
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    let mut pending: Vec<u16> = Vec::new();
    for part in parts {
        let digits = part.get(..4).filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let rest = if unit.is_some() { part.get(4..).unwrap_or_default() } else { part };
        pending.extend(unit);
        let ends =
            !rest.is_empty() || pending.last().is_none_or(|unit| !(0xd800..0xdc00).contains(unit));
        if ends {
            decoded.push_str(&String::from_utf16(&pending).ok()?);
            pending.clear();
        }
        if unit.is_none() {
            decoded.push_str("\\u");
        }
        decoded.push_str(rest);
    }
    pending.is_empty().then_some(decoded)
}

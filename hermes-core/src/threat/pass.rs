//! One pass over a text: fold, cut, match, and look into what is disguised.

use std::ops::Range;

use super::{
    Finding, Scope, Severity, decode,
    dictionary::{Dictionary, Marks},
    invisible,
    markup::Hidden,
    matcher::{self, Match, Scratch},
    normalize::Folded,
    secret,
    token::{self, Disguised, Hit},
};

/// How often a disguise may be inside another.
const DEPTH_MAX: usize = 2;

/// Returns the findings of `scope` in `text`, unordered.
pub(super) fn find(text: &str, scope: Scope) -> Vec<Finding> {
    let mut findings = at_depth(text, scope, 0, &mut Scratch::default());
    findings.extend(invisible::find(text));
    findings
}

fn at_depth(text: &str, scope: Scope, depth: usize, scratch: &mut Scratch) -> Vec<Finding> {
    let folded = Folded::new(text);
    let tokens = token::tokenize(folded.text());
    let hidden = Hidden::find(folded.text());
    let mut findings: Vec<Finding> =
        matcher::find(&tokens.hits, scratch, |hit| hidden.contains(hit.range.start))
            .into_iter()
            .filter_map(|found| judge(folded.text(), &tokens.hits, found, scope))
            .collect();
    findings.extend(hidden.into_findings(scope));
    if scope == Scope::Strict {
        findings.extend(secret::find(folded.text(), &tokens.disguised));
    }
    if depth < DEPTH_MAX {
        for disguised in &tokens.disguised {
            findings.extend(behind(folded.text(), disguised, scope, depth, scratch));
        }
    }
    for finding in &mut findings {
        finding.range = folded.original(&finding.range);
    }
    findings
}

/// Returns what is found behind a disguise, as findings about the disguise.
fn behind(
    text: &str,
    disguised: &Disguised,
    scope: Scope,
    depth: usize,
    scratch: &mut Scratch,
) -> Vec<Finding> {
    let decoded =
        text.get(disguised.range.clone()).and_then(|it| decode::decode(disguised.kind, it));
    let Some(decoded) = decoded else { return Vec::new() };
    let mut findings = at_depth(&decoded, scope, depth + 1, scratch);
    for finding in &mut findings {
        finding.range = disguised.range.clone();
    }
    findings
}

fn judge(text: &str, hits: &[Hit], found: Match, scope: Scope) -> Option<Finding> {
    let rule = Dictionary::get().rules.get(found.rule).filter(|rule| rule.scope <= scope)?;
    let range = hits.get(found.first)?.range.start..hits.get(found.last)?.range.end;
    let mentioned = is_mentioned(text, hits, &found, &range);
    let severity = if mentioned { Severity::Warn } else { rule.severity };
    Some(Finding::new(rule.id, severity, range, rule.reason))
}

/// Returns whether a quotation mark stands right before the range.
fn is_quoted(text: &str, range: &Range<usize>) -> bool {
    let before = text.get(..range.start).unwrap_or_default();
    before.ends_with(['"', '\'', '`', '\u{201c}', '\u{2018}', '\u{ab}', '\u{201e}', '\u{300c}'])
}

/// Returns whether a match is only spoken of: quoted as an attack or example, or reported together
/// with what became of it.
fn is_mentioned(text: &str, hits: &[Hit], found: &Match, range: &Range<usize>) -> bool {
    let dictionary = Dictionary::get();
    let sentence = hits.get(found.first).map(|hit| hit.sentence);
    let is = |hit: &Hit, marks: Marks| {
        dictionary.word(hit.word).is_some_and(|word| word.marks & marks != 0)
    };
    let before = |marks: Marks| {
        let hits = hits.get(..found.first).unwrap_or_default().iter().rev().take(SURROUNDINGS);
        hits.take_while(|hit| Some(hit.sentence) == sentence).any(|hit| is(hit, marks))
    };
    let after = |marks: Marks| {
        let hits = hits.get(found.last + 1..).unwrap_or_default().iter().take(SURROUNDINGS);
        hits.take_while(|hit| Some(hit.sentence) == sentence).any(|hit| is(hit, marks))
    };
    let quoted = is_quoted(text, range);
    quoted && (before(dictionary.meta) || after(dictionary.defend))
        || before(dictionary.reported) && after(dictionary.defend)
}

/// How many hits on each side of a match are looked at.
const SURROUNDINGS: usize = 12;

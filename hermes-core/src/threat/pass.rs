//! One pass over a text: fold, cut, match, and look into what is disguised.

use std::ops::Range;

use super::{
    Finding, Scope, Severity, decode,
    dictionary::Dictionary,
    invisible,
    markup::Hidden,
    matcher::{self, Match},
    normalize::Folded,
    secret,
    token::{self, Disguised, Hit},
};

/// How often a disguise may be inside another.
const DEPTH_MAX: usize = 2;

/// Returns the findings of `scope` in `text`, unordered.
pub(super) fn find(text: &str, scope: Scope) -> Vec<Finding> {
    let mut findings = at_depth(text, scope, 0);
    findings.extend(invisible::find(text));
    findings
}

fn at_depth(text: &str, scope: Scope, depth: usize) -> Vec<Finding> {
    let folded = Folded::new(text);
    let tokens = token::tokenize(folded.text());
    let hidden = Hidden::find(folded.text());
    let mut findings: Vec<Finding> =
        matcher::find(&tokens.hits, |hit| hidden.contains(hit.range.start))
            .into_iter()
            .filter_map(|found| judge(folded.text(), &tokens.hits, found, scope))
            .collect();
    findings.extend(hidden.into_findings(scope));
    if scope == Scope::Strict {
        findings.extend(secret::find(folded.text(), &tokens.disguised));
    }
    if depth < DEPTH_MAX {
        for disguised in &tokens.disguised {
            findings.extend(behind(folded.text(), disguised, scope, depth));
        }
    }
    for finding in &mut findings {
        finding.range = folded.original(&finding.range);
    }
    findings
}

/// Returns what is found behind a disguise, as findings about the disguise.
fn behind(text: &str, disguised: &Disguised, scope: Scope, depth: usize) -> Vec<Finding> {
    let decoded =
        text.get(disguised.range.clone()).and_then(|it| decode::decode(disguised.kind, it));
    let Some(decoded) = decoded else { return Vec::new() };
    let mut findings = at_depth(&decoded, scope, depth + 1);
    for finding in &mut findings {
        finding.range = disguised.range.clone();
    }
    findings
}

fn judge(text: &str, hits: &[Hit], found: Match, scope: Scope) -> Option<Finding> {
    let rule = Dictionary::get().rules.get(found.rule).filter(|rule| rule.scope <= scope)?;
    let range = hits.get(found.first)?.range.start..hits.get(found.last)?.range.end;
    let mentioned = is_quoted(text, &range) && is_spoken_of(hits, found.first);
    let severity = if mentioned { Severity::Warn } else { rule.severity };
    Some(Finding::new(rule.id, severity, range, rule.reason))
}

/// Returns whether a quotation mark stands right before the range.
fn is_quoted(text: &str, range: &Range<usize>) -> bool {
    let before = text.get(..range.start).unwrap_or_default();
    before.ends_with(['"', '\'', '`', '\u{201c}', '\u{2018}', '\u{ab}', '\u{201e}', '\u{300c}'])
}

/// How many hits before a match are looked at.
const SPOKEN_OF: usize = 12;

/// Returns whether the sentence speaks of attacks or examples before the match.
fn is_spoken_of(hits: &[Hit], first: usize) -> bool {
    let dictionary = Dictionary::get();
    let Some(meta) = dictionary.class("META") else { return false };
    let sentence = hits.get(first).map(|hit| hit.sentence);
    hits.get(..first)
        .unwrap_or_default()
        .iter()
        .rev()
        .take(SPOKEN_OF)
        .take_while(|hit| Some(hit.sentence) == sentence)
        .any(|hit| dictionary.word(hit.word).is_some_and(|word| word.classes.contains(&meta)))
}

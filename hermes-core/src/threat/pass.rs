//! One pass over a text: fold, cut, match, and look into what is disguised.

use std::ops::Range;

use super::{
    Finding, Scope, Severity, decode,
    dictionary::{Dictionary, Marks},
    invisible,
    markup::Hidden,
    matcher::{self, Match, Scratch},
    nearby::Nearby,
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
    let nearby = Nearby::new(&tokens.hits);
    let is_hidden = |hit: &Hit| hidden.contains(hit.range.start);
    let mut judge = Judge::new(folded.text(), &nearby, scope);
    matcher::find(&nearby, scratch, is_hidden, |found| judge.judge(&found, is_hidden));
    let mut findings = judge.findings;
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

/// Makes findings of matches.
struct Judge<'t> {
    text: &'t str,
    nearby: &'t Nearby<'t>,
    scope: Scope,
    /// The number of each rule's latest finding, plus one.
    latest: Vec<usize>,
    findings: Vec<Finding>,
}

impl<'t> Judge<'t> {
    fn new(text: &'t str, nearby: &'t Nearby<'t>, scope: Scope) -> Self {
        Self { text, nearby, scope, latest: Vec::new(), findings: Vec::new() }
    }

    /// Takes a match into the latest finding of its rule if both say the same about one place, so
    /// that a text of nothing but attacks makes few findings.
    fn judge(&mut self, found: &Match, is_hidden: impl Fn(&Hit) -> bool) {
        let rules = &Dictionary::get().rules;
        let Some(rule) = rules.get(found.rule).filter(|rule| rule.scope <= self.scope) else {
            return;
        };
        let Some(range) = self.range(found) else { return };
        let first = self.nearby.hits().get(found.first);
        let mentioned = !first.is_some_and(is_hidden) && self.is_mentioned(found, &range);
        let severity = if mentioned { Severity::Warn } else { rule.severity };
        // Most texts have no match, and there are many small ones behind disguises.
        self.latest.resize(rules.len(), 0);
        let Some(latest) = self.latest.get_mut(found.rule) else { return };
        let kept = latest.checked_sub(1).and_then(|index| self.findings.get_mut(index));
        if let Some(kept) = kept
            && kept.severity == severity
            && range.start <= kept.range.end
            && kept.range.start <= range.end
        {
            kept.range.start = kept.range.start.min(range.start);
            kept.range.end = kept.range.end.max(range.end);
            return;
        }
        self.findings.push(Finding::new(rule.id, severity, range, rule.reason));
        *latest = self.findings.len();
    }

    fn range(&self, found: &Match) -> Option<Range<usize>> {
        let hits = self.nearby.hits();
        Some(hits.get(found.first)?.range.start..hits.get(found.last)?.range.end)
    }

    /// Returns whether a match is only spoken of: quoted as an attack or example, or reported
    /// together with what became of it.
    fn is_mentioned(&self, found: &Match, range: &Range<usize>) -> bool {
        let dictionary = Dictionary::get();
        let Some(sentence) = self.nearby.hits().get(found.first).map(|hit| hit.sentence) else {
            return false;
        };
        let inside = |hit: &Hit| hit.sentence == sentence;
        let before =
            |marks: Marks| self.nearby.has_before(found.first, SURROUNDINGS, marks, inside);
        let after =
            |marks: Marks| self.nearby.has_from(found.last + 1, SURROUNDINGS, marks, inside);
        (before(dictionary.meta) || after(dictionary.defend)) && is_quoted(self.text, range)
            || before(dictionary.reported) && after(dictionary.defend)
    }
}

/// Returns whether a quotation begins with the range, or with a few words before it.
fn is_quoted(text: &str, range: &Range<usize>) -> bool {
    let mut from = range.start.saturating_sub(QUOTED_MAX);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text.get(from..range.start).unwrap_or_default();
    let is_word = |ch: char| ch.is_alphanumeric() || ch == ' ';
    let Some((at, mark)) = before.char_indices().rev().find(|&(_, ch)| !is_word(ch)) else {
        return false;
    };
    let inside = before.get(at + mark.len_utf8()..).unwrap_or_default();
    let outside = before.get(..at).and_then(|it| it.chars().next_back());
    QUOTATION_MARKS.contains(&mark)
        && (inside.is_empty()
            || !inside.starts_with(' ') && outside.is_none_or(|ch| ch == ' ' || ch == '('))
}

/// What a quotation begins with.
const QUOTATION_MARKS: [char; 8] =
    ['"', '\'', '`', '\u{201c}', '\u{2018}', '\u{ab}', '\u{201e}', '\u{300c}'];
/// How far before a match its quotation may begin, in bytes.
const QUOTED_MAX: usize = 32;

/// How many hits on each side of a match are looked at.
const SURROUNDINGS: usize = 12;

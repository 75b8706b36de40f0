//! What a query asks for: terms joined by AND, OR and NOT, as far as it makes sense.
//!
//! No query is an error. Operators without a term are dropped, an open quote is none, and what FTS5
//! would take for syntax is quoted or passed over.

use std::collections::{BTreeMap, BTreeSet};

use super::segment::is_dense;

/// Characters of a query that are looked at.
const MAX_CHARS: usize = 2_048;
/// Terms of a query that are looked at.
const MAX_TERMS: usize = 32;

/// A query as it is understood.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) terms: Vec<Term>,
    /// One of these must hold.
    alternatives: Vec<Alternative>,
    /// Whether the query has operators, so that nothing else is tried in its place.
    is_explicit: bool,
}

/// A word, or a phrase in quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) text: String,
    /// Whether it is the beginning of a word.
    pub(super) is_prefix: bool,
}

/// Groups of terms of which all wanted ones are there whole, and no other is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Alternative {
    wanted: Vec<Vec<usize>>,
    unwanted: Vec<Vec<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    /// Nothing stands between the two terms.
    Implied,
    And,
    Or,
    Not,
}

/// The rows in which a term stands, with their scores: the lower, the better.
pub(super) type Hits = BTreeMap<i64, f64>;

impl Query {
    /// Reads `text`.
    pub(super) fn parse(text: &str) -> Self {
        let mut query = Self::default();
        let mut join = None;
        for lexeme in lex(text) {
            match lexeme {
                Lexeme::Join(next) => {
                    query.is_explicit = true;
                    join = if join == Some(Join::Not) { join } else { Some(next) };
                }
                Lexeme::Term(term) if query.terms.len() < MAX_TERMS => {
                    query.push(join.take().unwrap_or(Join::Implied), term);
                }
                Lexeme::Term(_) => {}
            }
        }
        query.alternatives.retain(|alternative| !alternative.wanted.is_empty());
        query
    }

    fn push(&mut self, join: Join, term: Term) {
        let number = self.terms.len();
        self.terms.push(term);
        let join = if number == 0 { Join::And } else { join };
        if number == 0 || join == Join::Or {
            self.alternatives.push(Alternative::default());
        }
        let Some(alternative) = self.alternatives.last_mut() else { return };
        match join {
            Join::And | Join::Or => alternative.wanted.push(vec![number]),
            Join::Not => alternative.unwanted.push(vec![number]),
            Join::Implied => alternative.join_latest(number),
        }
    }

    /// Returns the rows that answer the query, the best first, from the hits of each of its terms.
    ///
    /// Where no row has all words of a query without operators, those that have most of them come
    /// first.
    pub(super) fn rank(&self, hits: &[Hits]) -> Vec<i64> {
        let wanted: BTreeSet<usize> =
            self.alternatives.iter().flat_map(|it| it.wanted.iter().flatten().copied()).collect();
        let rows: BTreeSet<i64> = wanted
            .iter()
            .filter_map(|term| hits.get(*term))
            .flat_map(|hits| hits.keys().copied())
            .collect();
        let has =
            |row: i64, term: usize| hits.get(term).is_some_and(|hits| hits.contains_key(&row));
        let matching: Vec<i64> = rows
            .iter()
            .copied()
            .filter(|row| self.alternatives.iter().any(|it| it.holds(|term| has(*row, term))))
            .collect();
        let is_partial = matching.is_empty() && !self.is_explicit;
        let found = if is_partial { rows.into_iter().collect() } else { matching };
        let mut ranked: Vec<(usize, i64, i64)> = found
            .into_iter()
            .map(|row| {
                let scores = wanted.iter().filter_map(|term| hits.get(*term)?.get(&row));
                let covered = if is_partial { scores.clone().count() } else { 0 };
                (covered, fixed(scores.sum()), row)
            })
            .collect();
        ranked.sort_by_key(|(covered, score, row)| (std::cmp::Reverse(*covered), *score, *row));
        ranked.into_iter().map(|(_, _, row)| row).collect()
    }
}

/// Rounds a score, so that sums in another order are equal.
fn fixed(score: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "scores are small, and casts saturate")]
    let fixed = (score * 1e9).round() as i64;
    fixed
}

impl Alternative {
    /// Adds a term to the group of the one before it.
    fn join_latest(&mut self, term: usize) {
        let before = term.saturating_sub(1);
        let group =
            self.wanted.iter_mut().chain(&mut self.unwanted).find(|group| group.contains(&before));
        match group {
            Some(group) => group.push(term),
            None => self.wanted.push(vec![term]),
        }
    }

    fn holds(&self, has: impl Fn(usize) -> bool) -> bool {
        let is_whole = |group: &Vec<usize>| group.iter().all(|term| has(*term));
        self.wanted.iter().all(is_whole) && !self.unwanted.iter().any(is_whole)
    }
}

impl Term {
    /// Returns whether the term needs the index of pairs.
    pub(super) fn is_dense(&self) -> bool {
        self.text.contains(is_dense)
    }

    /// Returns whether the term has signs that no index keeps.
    pub(super) fn has_signs(&self) -> bool {
        self.text.chars().any(|ch| !ch.is_alphanumeric() && !ch.is_whitespace())
    }
}

#[derive(Debug)]
enum Lexeme {
    Join(Join),
    Term(Term),
}

/// Cuts a query into terms and operators.
fn lex(text: &str) -> Vec<Lexeme> {
    let chars: Vec<char> = text.chars().take(MAX_CHARS).collect();
    let mut lexemes = Vec::new();
    let mut rest = chars.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let closing = after.iter().position(|ch| *ch == '"');
        let (word, next) = match (first, closing) {
            ('"', Some(end)) => {
                let (phrase, next) = after.split_at(end);
                let next = next.get(1..).unwrap_or_default();
                let is_prefix = next.first() == Some(&'*');
                lexemes.extend(term(phrase.iter().collect(), is_prefix));
                rest = next;
                continue;
            }
            (ch, _) if separates(*ch) => {
                rest = after;
                continue;
            }
            _ => rest.split_at(rest.iter().position(|ch| separates(*ch)).unwrap_or(rest.len())),
        };
        rest = next;
        let word: String = word.iter().collect();
        lexemes.extend(match word.as_str() {
            "AND" => Some(Lexeme::Join(Join::And)),
            "OR" => Some(Lexeme::Join(Join::Or)),
            "NOT" => Some(Lexeme::Join(Join::Not)),
            _ => term(word.trim_matches('*').to_owned(), word.ends_with('*')),
        });
    }
    lexemes
}

fn term(text: String, is_prefix: bool) -> Option<Lexeme> {
    let has_word = text.chars().any(char::is_alphanumeric);
    has_word.then_some(Lexeme::Term(Term { text, is_prefix }))
}

/// Returns whether `ch` stands between words; what does not, such as `.` and `-`, joins them to a
/// phrase.
fn separates(ch: char) -> bool {
    ch.is_whitespace() || ch.is_control() || ";|,:()[]{}+^\"<>&!=~/\\?".contains(ch)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Ranks three rows in which the letters of their texts stand.
    #[track_caller]
    fn check(query: &str, expected: &[i64]) {
        let rows = [(1, "ab"), (2, "abc"), (3, "c")];
        let query = Query::parse(query);
        let hits: Vec<Hits> = query
            .terms
            .iter()
            .map(|term| {
                let has = |text: &&(i64, &str)| text.1.contains(term.text.as_str());
                rows.iter().filter(has).map(|(row, _)| (*row, -1.0)).collect()
            })
            .collect();
        assert_eq!(query.rank(&hits), expected);
    }

    #[test]
    fn words_must_all_be_there() {
        check("a b", &[1, 2]);
        check("a c", &[2]);
        check("a AND c", &[2]);
    }

    #[test]
    fn one_of_two_is_enough_for_or() {
        check("a OR c", &[2, 1, 3]);
        check("x OR c", &[2, 3]);
    }

    #[test]
    fn not_takes_away() {
        check("c NOT a", &[3]);
        check("c AND NOT a", &[3]);
        check("b NOT c OR c NOT b", &[1, 3]);
    }

    #[test]
    fn half_typed_queries_still_search() {
        check("a AND", &[1, 2]);
        check("OR c NOT", &[2, 3]);
        check("\"a", &[1, 2]);
        check("(c", &[2, 3]);
        check("NOT c", &[2, 3]);
        check("OR OR", &[]);
    }

    #[test]
    fn the_row_with_most_words_comes_first_where_none_has_all() {
        check("a c x", &[2, 1, 3]);
        check("a AND x", &[]);
    }

    #[test]
    fn signs_join_or_separate() {
        let texts = |query: &str| -> Vec<String> {
            Query::parse(query).terms.into_iter().map(|it| it.text).collect()
        };
        assert_eq!(texts("side-door node.js it's R4.1"), ["side-door", "node.js", "it's", "R4.1"]);
        assert_eq!(
            texts("REMINDER: a/b;c|d \"two words\" *** -"),
            ["REMINDER", "a", "b", "c", "d", "two words"]
        );
        assert_eq!(Query::parse("dep*").terms, [Term { text: "dep".to_owned(), is_prefix: true }]);
    }

    proptest! {
        #[test]
        fn any_text_is_a_query(text in "(AND|OR|NOT|[a-c\"*() \u{0}-]|.){0,30}") {
            let query = Query::parse(&text);
            query.rank(&vec![Hits::from([(1, 0.0)]); query.terms.len()]);
        }
    }
}

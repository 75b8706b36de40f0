//! The small language in which rules say what follows what.
//!
//! A pattern is a list of steps. A step is a class of words from [`words`](super::words) in
//! capitals, a word of its own in lower case, or several of these joined by `/`. Between two steps
//! stands how far apart they may be:
//!
//! - nothing: the next word; articles and adverbs do not count.
//! - `-`: the same clause, at most four words on.
//! - `~`: the same clause, at most ten words on.
//! - `~~`: the same sentence, at most thirty words on.
//! - `=`: the same line; a line that ends in a backslash goes on.
//! - `...`: at most sixty words on.
//!
//! Conditions may stand before the first step and after the last one:
//!
//! - `^`: the match begins a clause; `$`: the match ends one.
//! - `!>X`, `!<X`: no word of class `X` comes right after, right before; `!>>X`: none of the next
//!   three.
//! - `!-X`: no word of class `X` in between.
//! - `!~X`, `!=X`: no word of class `X` in the same sentence, on the same line.
//! - `+~X`: some word of class `X` in the same sentence.
//! - `@hidden`: the match lies in text that a reader of the rendered page does not see.

/// How far a step may be from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Gap {
    Next,
    Close,
    Clause,
    Sentence,
    Line,
    Near,
}

impl Gap {
    pub(super) const COUNT: usize = 6;
    pub(super) const ALL: [Self; Self::COUNT] =
        [Self::Next, Self::Close, Self::Clause, Self::Sentence, Self::Line, Self::Near];
}

/// A condition on the surroundings of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Begins,
    Ends,
    Hidden,
    NotAfter(String),
    NotSoonAfter(String),
    NotWithin(String),
    NotBefore(String),
    NotInSentence(String),
    NotOnLine(String),
    InSentence(String),
}

/// A pattern, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Each step's alternatives and its distance from the step before.
    pub(super) steps: Vec<(Gap, Vec<String>)>,
    pub(super) conditions: Vec<Condition>,
}

impl Pattern {
    pub(super) fn parse(source: &str) -> Self {
        let mut pattern = Self::default();
        let mut gap = Gap::Next;
        for token in source.split_whitespace() {
            if let Some(next) = parse_gap(token) {
                gap = next;
            } else if let Some(condition) = parse_condition(token) {
                pattern.conditions.push(condition);
            } else {
                let alternatives = token.split('/').map(str::to_owned).collect();
                pattern.steps.push((std::mem::replace(&mut gap, Gap::Next), alternatives));
            }
        }
        pattern
    }
}

fn parse_gap(token: &str) -> Option<Gap> {
    match token {
        "-" => Some(Gap::Close),
        "~" => Some(Gap::Clause),
        "~~" => Some(Gap::Sentence),
        "=" => Some(Gap::Line),
        "..." => Some(Gap::Near),
        _ => None,
    }
}

fn parse_condition(token: &str) -> Option<Condition> {
    let named = |prefix: &str| token.strip_prefix(prefix).map(str::to_owned);
    match token {
        "^" => return Some(Condition::Begins),
        "$" => return Some(Condition::Ends),
        "@hidden" => return Some(Condition::Hidden),
        _ => {}
    }
    named("!>>")
        .map(Condition::NotSoonAfter)
        .or_else(|| named("!-").map(Condition::NotWithin))
        .or_else(|| named("!>").map(Condition::NotAfter))
        .or_else(|| named("!<").map(Condition::NotBefore))
        .or_else(|| named("!~").map(Condition::NotInSentence))
        .or_else(|| named("!=").map(Condition::NotOnLine))
        .or_else(|| named("+~").map(Condition::InSentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_steps_gaps_and_conditions() {
        let pattern = Pattern::parse("^ IGNORE ~ PRIOR/old DIRECTIVE !>for");

        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            pattern.steps,
            [
                (Gap::Next, names("IGNORE")),
                (Gap::Clause, names("PRIOR old")),
                (Gap::Next, names("DIRECTIVE")),
            ]
        );
        assert_eq!(pattern.conditions, [Condition::Begins, Condition::NotAfter("for".to_owned())]);
    }
}

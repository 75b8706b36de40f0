//! Collects what does not hold.

use serde_json::Value;

use crate::read::Node;

/// The expectations of a case that were looked at.
pub(crate) struct Checks {
    negate: bool,
    count: usize,
    failures: Vec<String>,
}

impl Checks {
    /// Starts with nothing checked. If `negate`, every expectation is inverted.
    pub(crate) fn new(negate: bool) -> Self {
        Self { negate, count: 0, failures: Vec::new() }
    }

    /// Notes whether an expectation holds.
    pub(crate) fn that(&mut self, holds: bool, what: impl Into<String>) {
        self.count += 1;
        if holds == self.negate {
            let not = if self.negate { "not inverted: " } else { "" };
            self.failures.push(format!("{not}{}", what.into()));
        }
    }

    /// Notes that the case could not be run as it stands, whether inverted or not.
    pub(crate) fn broken(&mut self, reason: String) {
        self.failures.push(reason);
    }

    /// Returns how many expectations were looked at.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns whether everything so far holds.
    pub(crate) fn hold(&self) -> bool {
        self.failures.is_empty()
    }

    /// Returns what does not hold.
    pub(crate) fn into_failures(self) -> Vec<String> {
        self.failures
    }

    /// Checks that one of the alternatives of `any_of` holds, each a whole expectation object that
    /// `check` looks at.
    pub(crate) fn any_of(
        &mut self,
        expect: &Node<'_>,
        mut check: impl FnMut(&Node<'_>, &mut Self),
    ) {
        let Some(alternatives) = expect.opt("any_of") else { return };
        let mut reasons = Vec::new();
        let mut holds = false;
        for alternative in alternatives.items() {
            let mut checks = Self::new(false);
            check(&alternative, &mut checks);
            holds |= checks.hold() && 0 < checks.count();
            reasons.push(checks.failures.join(", "));
        }
        self.that(holds, format!("no alternative holds: {}", reasons.join(" | ")));
    }
}

/// Returns whether `text` has one of `words`, whatever the case.
pub(crate) fn contains_any(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(&word.to_lowercase()))
}

/// Returns whether `actual` has everything that `expected` has: objects as subsets, lists in full.
pub(crate) fn has(actual: &Value, expected: &Value) -> bool {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            expected.iter().all(|(key, value)| actual.get(key).is_some_and(|it| has(it, value)))
        }
        (Value::Array(actual), Value::Array(expected)) => {
            actual.len() == expected.len() && actual.iter().zip(expected).all(|(a, e)| has(a, e))
        }
        _ => actual == expected,
    }
}

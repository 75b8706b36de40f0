//! The cases that are known to fail, each with a reason and the issue that will mend it.

use serde::Deserialize;

/// The list in `expected_failures.toml`.
#[derive(Debug, Deserialize)]
pub(crate) struct Expected {
    #[serde(default)]
    failure: Vec<Failure>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    id: String,
    reason: String,
    issue: u32,
}

impl Expected {
    /// Reads the list that is kept with the harness.
    pub(crate) fn read() -> Self {
        toml::from_str(include_str!("expected_failures.toml")).unwrap()
    }

    /// Returns why `id` is expected to fail, if it is.
    pub(crate) fn reason(&self, id: &str) -> Option<String> {
        let failure = self.failure.iter().find(|it| it.id == id)?;
        Some(format!("issue {}: {}", failure.issue, failure.reason))
    }
}

//! What a scan reports.

use std::{borrow::Cow, fmt, ops::Range};

use serde::{Deserialize, Serialize};

/// How much of the rules applies to a text; each scope includes the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// Orders that no text from outside has a reason to hold.
    All,
    /// Context files and tool results: also changes of role and remote control.
    Context,
    /// Memory entries and skills: also credentials, back doors and the agent's own configuration.
    ///
    /// The default.
    #[default]
    Strict,
}

/// Whether a finding keeps a text out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Severity {
    /// The operator should see it; the text may pass.
    Warn,
    /// The text must not reach the model.
    Block,
}

/// One thing that a scan found.
///
/// `Display` gives the id and the reason in one line, without the text itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finding {
    /// The rule, as a stable name such as `prompt_injection` or `invisible_unicode_U+200B`.
    pub id: Cow<'static, str>,
    /// Whether it keeps the text out.
    pub severity: Severity,
    /// The bytes of the scanned text that it speaks of, on character boundaries.
    pub range: Range<usize>,
    /// What is wrong with such a text, as a lower-case phrase without the text itself.
    pub reason: Cow<'static, str>,
}

impl Finding {
    /// Creates a finding; meant for a host's own [`Scanner`](super::Scanner).
    pub fn new(
        id: impl Into<Cow<'static, str>>,
        severity: Severity,
        range: Range<usize>,
        reason: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { id: id.into(), severity, range, reason: reason.into() }
    }

    /// Returns whether the text must be refused because of this.
    pub fn blocks(&self) -> bool {
        self.severity == Severity::Block
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.id, self.reason)
    }
}

//! What a scan of a folder says, to the operator and to a model.

use std::{borrow::Cow, collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Severity {
    /// Worth knowing.
    Low,
    /// Worth a look.
    Medium,
    /// Should not be there without a good reason.
    High,
    /// Destroys, steals or takes over.
    Critical,
}

impl Severity {
    /// Returns the next lower severity; the lowest stays.
    #[must_use]
    pub(super) fn lowered(self) -> Self {
        match self {
            Self::Critical => Self::High,
            Self::High => Self::Medium,
            Self::Medium | Self::Low => Self::Low,
        }
    }
}

impl fmt::Display for Severity {
    /// Writes the name as it is serialised.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        })
    }
}

/// What kind of harm a finding speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Category {
    /// Takes secrets or files out.
    Exfiltration,
    /// Gives the agent orders of its own.
    Injection,
    /// Destroys data.
    Destructive,
    /// Stays after the skill is gone.
    Persistence,
    /// Opens the machine to another.
    Network,
    /// Hides what it does.
    Obfuscation,
    /// Runs code that nobody has seen.
    SupplyChain,
    /// Takes rights that it was not given.
    PrivilegeEscalation,
    /// Holds secrets.
    Secrets,
    /// Leaves its folder.
    Traversal,
    /// Is not what a skill is made of: programs, too many files, too much.
    Structure,
}

impl fmt::Display for Category {
    /// Writes the name as it is serialised.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Exfiltration => "exfiltration",
            Self::Injection => "injection",
            Self::Destructive => "destructive",
            Self::Persistence => "persistence",
            Self::Network => "network",
            Self::Obfuscation => "obfuscation",
            Self::SupplyChain => "supply_chain",
            Self::PrivilegeEscalation => "privilege_escalation",
            Self::Secrets => "secrets",
            Self::Traversal => "traversal",
            Self::Structure => "structure",
        })
    }
}

/// One thing that a scan found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finding {
    /// The file, relative to the folder, with `/`.
    pub file: String,
    /// The line, from 1; 0 if the file as a whole is meant.
    pub line: usize,
    /// The rule, as a stable name.
    pub id: Cow<'static, str>,
    /// What kind of harm it is.
    pub category: Category,
    /// How bad it is where it stands.
    pub severity: Severity,
    /// What is wrong, as a lower-case phrase.
    pub reason: Cow<'static, str>,
    /// The text that was found, cut to 120 characters; for the operator only.
    pub excerpt: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, id, severity, reason, excerpt, .. } = self;
        write!(formatter, "{severity} {file}:{line} {id}: {reason}")?;
        if excerpt.is_empty() { Ok(()) } else { write!(formatter, " ({excerpt:?})") }
    }
}

/// What a folder is, all in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// Nothing above [`Severity::Medium`].
    Safe,
    /// Something of [`Severity::High`].
    Caution,
    /// Something of [`Severity::Critical`].
    Dangerous,
}

impl fmt::Display for Verdict {
    /// Writes the name as it is serialised.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Safe => "safe",
            Self::Caution => "caution",
            Self::Dangerous => "dangerous",
        })
    }
}

/// What was found in a folder.
///
/// `Display` is the report for the operator: the verdict, then a line for each finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// Everything that was found, by file, line and rule.
    pub findings: Vec<Finding>,
    /// What follows from the worst finding.
    pub verdict: Verdict,
    /// The contents of the folder as `sha256:` and 64 hexadecimal digits.
    pub hash: String,
}

impl Report {
    /// How long an excerpt is, in characters.
    pub(super) const EXCERPT_MAX: usize = 120;

    pub(super) fn new(mut findings: Vec<Finding>, hash: String) -> Self {
        findings.sort_by(|left, right| {
            (&left.file, left.line, &left.id, right.severity).cmp(&(
                &right.file,
                right.line,
                &right.id,
                left.severity,
            ))
        });
        findings.dedup_by(|next, kept| {
            (&next.file, next.line, &next.id) == (&kept.file, kept.line, &kept.id)
        });
        let verdict = match findings.iter().map(|finding| finding.severity).max() {
            Some(Severity::Critical) => Verdict::Dangerous,
            Some(Severity::High) => Verdict::Caution,
            _ => Verdict::Safe,
        };
        Self { findings, verdict, hash }
    }

    /// Returns what a model may read: which lines to take out and why, without rules or excerpts.
    ///
    /// Only what decided the verdict is named. An empty text means that there is nothing to do.
    pub fn for_model(&self) -> String {
        let places: BTreeSet<String> = self
            .findings
            .iter()
            .filter(|finding| Severity::High <= finding.severity)
            .map(|Finding { file, line, reason, .. }| match line {
                0 => format!("- {file}: {reason}; leave the file out\n"),
                line => format!("- {file}, line {line}: {reason}; take it out\n"),
            })
            .collect();
        places.into_iter().collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { findings, verdict, hash } = self;
        writeln!(formatter, "{verdict}, {} findings, {hash}", findings.len())?;
        findings.iter().try_for_each(|finding| writeln!(formatter, "{finding}"))
    }
}

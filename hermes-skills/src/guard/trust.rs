//! Where a skill comes from, and what that means for a verdict.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Verdict;

/// How far the source of a skill is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trust {
    /// Shipped with the product.
    Builtin,
    /// From a publisher who reviews what is published.
    Trusted,
    /// Written by the agent itself.
    AgentCreated,
    /// From anyone else.
    Community,
}

/// What may be done with a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// It may be installed.
    Allow,
    /// A person has to say yes first; until then it is not stored.
    Ask,
    /// It must not be installed.
    Block,
}

impl fmt::Display for Trust {
    /// Writes the name as it is serialised.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Builtin => "builtin",
            Self::Trusted => "trusted",
            Self::AgentCreated => "agent_created",
            Self::Community => "community",
        })
    }
}

impl fmt::Display for Decision {
    /// Writes the name as it is serialised.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Block => "block",
        })
    }
}

/// Repositories whose skills are reviewed before they are published.
const REVIEWED: &[&str] =
    &["openai/skills", "anthropics/skills", "huggingface/skills", "NVIDIA/skills"];

/// What registries put before the name of a repository.
const REGISTRIES: &[&str] = &["skills-sh/", "skills.sh/", "skils-sh/", "skils.sh/"];

impl Trust {
    /// Returns how far `source` is trusted, as written in a lock file: `official`,
    /// `agent-created`, or a repository with or without a path below it.
    ///
    /// Case matters, and one prefix of a registry is left out. Everything unknown is
    /// [`Community`](Self::Community).
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_skills::guard::Trust;
    ///
    /// assert_eq!(Trust::of_source("openai/skills/pdf"), Trust::Trusted);
    /// assert_eq!(Trust::of_source("openai/skills-evil"), Trust::Community);
    /// ```
    pub fn of_source(source: &str) -> Self {
        let source =
            REGISTRIES.iter().find_map(|prefix| source.strip_prefix(prefix)).unwrap_or(source);
        let is_reviewed = REVIEWED.iter().any(|repository| {
            source
                .strip_prefix(repository)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        match source {
            "official" => Self::Builtin,
            "agent-created" => Self::AgentCreated,
            _ if is_reviewed => Self::Trusted,
            _ => Self::Community,
        }
    }
}

/// Returns what may be done with a skill of this trust and verdict.
///
/// | | safe | caution | dangerous |
/// |---|---|---|---|
/// | built in | allow | allow | allow |
/// | trusted | allow | allow | block |
/// | agent-created | allow | allow | ask |
/// | community | allow | block | block |
///
/// # Examples
///
/// ```
/// use hermes_skills::guard::{self, Decision, Folder, Trust};
///
/// let report = guard::scan(&Folder::new().file("SKILL.md", "Run `rm -rf ~`.\n"));
///
/// let decision = guard::decide(Trust::of_source("agent-created"), report.verdict);
/// assert_eq!(decision, Decision::Allow);
/// let decision = guard::decide(Trust::of_source("someone/skills"), report.verdict);
/// assert_eq!(decision, Decision::Block);
/// assert_eq!(decision.to_string(), "block");
/// ```
pub fn decide(trust: Trust, verdict: Verdict) -> Decision {
    match (trust, verdict) {
        (_, Verdict::Safe)
        | (Trust::Builtin, _)
        | (Trust::Trusted | Trust::AgentCreated, Verdict::Caution) => Decision::Allow,
        (Trust::AgentCreated, Verdict::Dangerous) => Decision::Ask,
        (Trust::Trusted | Trust::Community, _) => Decision::Block,
    }
}

impl Decision {
    /// Returns the decision after an operator has insisted.
    ///
    /// Insisting answers a question and lifts a block, but not that of a dangerous skill from
    /// outside.
    #[must_use]
    pub fn insisted(self, verdict: Verdict) -> Self {
        match self {
            Self::Block if verdict == Verdict::Dangerous => Self::Block,
            Self::Allow | Self::Ask | Self::Block => Self::Allow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_a_reviewed_repository_is_trusted() {
        assert_eq!(Trust::of_source("skills-sh/anthropics/skills/pdf"), Trust::Trusted);
    }

    #[test]
    fn names_that_only_look_reviewed_are_community() {
        for source in ["nvidia/skills", "evil/openai/skills", "official/x", "agent-created/x"] {
            assert_eq!(Trust::of_source(source), Trust::Community, "{source}");
        }
    }

    #[test]
    fn insisting_does_not_lift_the_block_of_a_dangerous_skill() {
        let insisted = |trust, verdict| decide(trust, verdict).insisted(verdict);

        assert_eq!(insisted(Trust::Community, Verdict::Caution), Decision::Allow);
        assert_eq!(insisted(Trust::AgentCreated, Verdict::Dangerous), Decision::Allow);
        assert_eq!(insisted(Trust::Trusted, Verdict::Dangerous), Decision::Block);
    }
}

//! The rules: what each finds, from which scope on, and how bad it is.

mod addressed;
mod control;
mod deception;
mod exfiltration;
mod orders;
mod persistence;
mod remote;
mod role;
mod takeover;

use super::{Scope, Severity};

/// A class of attack.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) scope: Scope,
    pub(super) severity: Severity,
    pub(super) reason: &'static str,
    /// Patterns in the language of [`grammar`](super::grammar); one is enough.
    pub(super) patterns: &'static [&'static str],
}

const fn block(
    id: &'static str,
    scope: Scope,
    reason: &'static str,
    patterns: &'static [&'static str],
) -> Rule {
    Rule { id, scope, severity: Severity::Block, reason, patterns }
}

const fn warn(
    id: &'static str,
    scope: Scope,
    reason: &'static str,
    patterns: &'static [&'static str],
) -> Rule {
    Rule { id, scope, severity: Severity::Warn, reason, patterns }
}

/// Returns the rules, by class.
pub(super) fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        orders::RULES,
        addressed::RULES,
        role::RULES,
        deception::RULES,
        exfiltration::RULES,
        control::RULES,
        persistence::RULES,
        remote::RULES,
        takeover::RULES,
    ]
    .into_iter()
    .flatten()
}

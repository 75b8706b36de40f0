//! Keys that their makers gave a prefix.

use super::Match;

/// Characters that a key goes on with after its prefix.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tail {
    /// Letters and digits.
    Solid,
    /// Letters, digits, `-` and `_`.
    Parts,
    /// These and dots.
    Dotted,
}

impl Tail {
    fn class(self) -> &'static str {
        match self {
            Self::Solid => "[A-Za-z0-9]",
            Self::Parts => "[A-Za-z0-9_-]",
            Self::Dotted => "[A-Za-z0-9_.-]",
        }
    }
}

/// The prefix, what follows it, and how much at least.
pub(super) const PREFIXES: &[(&str, Tail, usize)] = &[
    // OpenAI, Anthropic, OpenRouter, DeepSeek and others.
    ("sk-", Tail::Parts, 16),
    // Stripe.
    ("sk_live_", Tail::Solid, 16),
    ("sk_test_", Tail::Solid, 16),
    ("rk_live_", Tail::Solid, 16),
    ("rk_test_", Tail::Solid, 16),
    ("whsec_", Tail::Solid, 16),
    // GitHub and GitLab.
    ("ghp_", Tail::Solid, 20),
    ("gho_", Tail::Solid, 20),
    ("ghu_", Tail::Solid, 20),
    ("ghs_", Tail::Solid, 20),
    ("ghr_", Tail::Solid, 20),
    ("github_pat_", Tail::Parts, 20),
    ("glpat-", Tail::Parts, 16),
    // Slack.
    ("xoxa-", Tail::Parts, 10),
    ("xoxb-", Tail::Parts, 10),
    ("xoxe-", Tail::Parts, 10),
    ("xoxe.", Tail::Parts, 10),
    ("xoxp-", Tail::Parts, 10),
    ("xoxr-", Tail::Parts, 10),
    ("xoxs-", Tail::Parts, 10),
    ("xapp-", Tail::Parts, 10),
    // Google.
    ("AIza", Tail::Parts, 30),
    ("ya29.", Tail::Parts, 20),
    ("GOCSPX-", Tail::Parts, 20),
    // Models and search.
    ("pplx-", Tail::Solid, 20),
    ("gsk_", Tail::Solid, 20),
    ("xai-", Tail::Solid, 20),
    ("hf_", Tail::Solid, 20),
    ("r8_", Tail::Solid, 20),
    ("nvapi-", Tail::Parts, 20),
    ("fw_", Tail::Solid, 16),
    ("fw-", Tail::Solid, 16),
    ("fal_", Tail::Parts, 20),
    ("fc-", Tail::Solid, 20),
    ("exa_", Tail::Solid, 20),
    ("tvly-", Tail::Parts, 16),
    ("lsv2_pt_", Tail::Parts, 20),
    ("lsv2_sk_", Tail::Parts, 20),
    // Registries.
    ("npm_", Tail::Solid, 20),
    ("pypi-", Tail::Parts, 20),
    ("rubygems_", Tail::Solid, 20),
    ("dckr_pat_", Tail::Parts, 16),
    // Clouds and services.
    ("dop_v1_", Tail::Solid, 20),
    ("doo_v1_", Tail::Solid, 20),
    ("dor_v1_", Tail::Solid, 20),
    ("SG.", Tail::Dotted, 20),
    ("ntn_", Tail::Solid, 20),
    ("secret_", Tail::Solid, 32),
    ("lin_api_", Tail::Solid, 20),
    ("shpat_", Tail::Solid, 20),
    ("shpss_", Tail::Solid, 20),
    ("shpca_", Tail::Solid, 20),
    ("sq0atp-", Tail::Parts, 16),
    ("sq0csp-", Tail::Parts, 20),
    ("figd_", Tail::Parts, 20),
    ("PMAK-", Tail::Parts, 20),
    ("sntrys_", Tail::Parts, 20),
    ("sbp_", Tail::Solid, 20),
    ("sb_secret_", Tail::Parts, 16),
    ("tskey-", Tail::Parts, 16),
    ("hvs.", Tail::Parts, 20),
    ("ATATT3", Tail::Parts, 20),
    ("ATCTT3", Tail::Parts, 20),
    ("glc_", Tail::Parts, 20),
    ("glsa_", Tail::Parts, 20),
    ("AGE-SECRET-KEY-", Tail::Solid, 20),
];

/// Returns the pattern of all of them.
pub(super) fn pattern() -> String {
    let each = PREFIXES.iter().map(|(prefix, tail, least)| {
        format!("{}{}{{{least},}}", regex::escape(prefix), tail.class())
    });
    let each: Vec<String> = each.collect();
    format!(r"(?-u:\b)(?P<s>{})", each.join("|"))
}

/// Returns whether a match has a run of letters and digits mixed, as made-up keys have and names
/// joined by hyphens do not.
pub(super) fn is_random(found: &Match<'_>) -> bool {
    const LEAST: usize = 10;
    let is_joint = |it: char| !it.is_ascii_alphanumeric();
    let is_mixed = |run: &str| {
        LEAST <= run.len()
            && run.bytes().any(|it| it.is_ascii_digit())
            && run.bytes().any(|it| it.is_ascii_alphabetic())
    };
    found.secret.split(is_joint).any(is_mixed)
}

//! The table of what is taken for a secret, in the order in which it is looked for.

use super::{Match, Rule, assigned, tokens};

/// All rules. Private key blocks are not among them: they have a beginning and an end.
pub(super) const RULES: &[Rule] = &[
    Rule {
        kind: "password",
        needles: &["://"],
        pattern: || {
            r#"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@"'<>\[\]]*:(?P<s>[^\s/?#"'<>]+)@"#.to_owned()
        },
        is_meant: always,
    },
    Rule {
        kind: "token",
        needles: &["://"],
        pattern: || r"://(?P<s>[A-Za-z0-9_-]{20,})@".to_owned(),
        is_meant: has_digit,
    },
    Rule {
        kind: "webhook",
        needles: &["hooks.slack.com/", "/webhooks/"],
        pattern: || {
            r"(?i)(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks)/(?P<s>[A-Za-z0-9_/-]{16,})".to_owned()
        },
        is_meant: always,
    },
    Rule {
        kind: "token",
        needles: &["eyJ"],
        pattern: || {
            r"(?-u:\b)(?P<s>eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3})"
                .to_owned()
        },
        is_meant: always,
    },
    Rule {
        kind: "api_key",
        needles: TOKEN_NEEDLES,
        pattern: tokens::pattern,
        is_meant: tokens::is_random,
    },
    Rule {
        kind: "aws_key",
        needles: &["AKIA", "ASIA", "ABIA", "ACCA"],
        pattern: || r"(?-u:\b)(?P<s>(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})(?-u:\b)".to_owned(),
        is_meant: always,
    },
    Rule {
        kind: "bot_token",
        needles: &[":AA"],
        pattern: || r"(?-u:\b)[0-9]{8,10}:(?P<s>AA[A-Za-z0-9_-]{33})".to_owned(),
        is_meant: always,
    },
    Rule {
        kind: "authorization",
        needles: &["authorization"],
        pattern: || {
            r#"(?i)authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:(?:bearer|basic|token|apikey|bot|digest|negotiate|key)\s+)?(?P<s>[^\s"',;\\]+)"#.to_owned()
        },
        is_meant: is_credential,
    },
    Rule {
        kind: "token",
        needles: &["bearer"],
        pattern: || r"(?i)(?-u:\b)bearer\s+(?P<s>[A-Za-z0-9._~+/=-]{8,})".to_owned(),
        is_meant: is_credential,
    },
    Rule {
        kind: "cookie",
        needles: &["cookie"],
        pattern: || r#"(?i)cookie\\?["']?\s{0,4}:\s{0,4}\\?["']?(?P<s>[^"'\\\r\n]+)"#.to_owned(),
        is_meant: |found| found.secret.contains('='),
    },
    Rule {
        kind: "password",
        needles: &["curl"],
        pattern: || {
            r#"(?-u:\b)curl(?-u:\b)[^\n]*?\s(?:-u|--user)[ =]?["']?[^\s:"']+:(?P<s>[^\s"']+)"#
                .to_owned()
        },
        is_meant: always,
    },
    Rule {
        kind: "signature",
        needles: &["sig="],
        pattern: || r#"(?i)[?&]sig=(?P<s>[^\s&"'<>]{16,})"#.to_owned(),
        is_meant: always,
    },
    Rule {
        kind: "secret",
        needles: NAME_NEEDLES,
        pattern: assigned::double_quoted,
        is_meant: assigned::is_quoted_secret,
    },
    Rule {
        kind: "secret",
        needles: NAME_NEEDLES,
        pattern: assigned::single_quoted,
        is_meant: assigned::is_quoted_secret,
    },
    Rule {
        kind: "secret",
        needles: NAME_NEEDLES,
        pattern: assigned::bare,
        is_meant: assigned::is_bare_secret,
    },
    Rule {
        kind: "secret",
        needles: NAME_NEEDLES,
        pattern: assigned::option,
        is_meant: assigned::is_option_secret,
    },
];

/// Parts that every name of a secret has one of.
const NAME_NEEDLES: &[&str] =
    &["pass", "pwd", "secret", "token", "key", "credential", "auth", "signature"];

/// The joints after which the prefixes of makers end; every prefix has one of them.
const TOKEN_NEEDLES: &[&str] =
    &["-", "_", "AIza", "ya29.", "xoxe.", "SG.", "hvs.", "ATATT3", "ATCTT3"];

fn always(_: &Match<'_>) -> bool {
    true
}

fn has_digit(found: &Match<'_>) -> bool {
    found.secret.bytes().any(|it| it.is_ascii_digit())
}

/// Returns whether a match is a credential and not the next word of a sentence.
fn is_credential(found: &Match<'_>) -> bool {
    const LEAST: usize = 20;
    has_digit(found) || LEAST <= found.secret.len()
}

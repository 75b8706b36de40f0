//! Secrets written into a text.

use std::{ops::Range, sync::LazyLock};

use memchr::memmem;

use super::{
    Finding, Severity,
    token::{Disguised, Hiding},
    variable::is_secret_name,
};

/// The shortest value that can be a secret.
const VALUE_MIN: usize = 20;
/// How many different characters a random value has at least.
const DISTINCT_MIN: usize = 7;
/// How much of a value is looked at.
const VALUE_MAX: usize = 256;

/// How the tokens of well-known services begin.
const PREFIXES: &[&str] = &[
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "sk-ant-",
    "sk-proj-",
    "sk_live_",
    "rk_live_",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "AKIA",
    "ASIA",
    "AIza",
    "npm_",
    "pypi-AgE",
    "hf_",
];

/// How the first line of a private key ends.
const PRIVATE_KEY: &str = "PRIVATE KEY-----";

static PRIVATE_KEY_FINDER: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(PRIVATE_KEY));

/// Returns a finding for every secret in a folded text, some of whose long words are `disguised`.
pub(super) fn find(text: &str, disguised: &[Disguised]) -> Vec<Finding> {
    let mut ranges = assigned(text);
    for it in disguised.iter().filter(|it| it.kind == Hiding::Encoded) {
        ranges.extend(known(text, &it.range));
    }
    ranges.extend(private_keys(text));
    ranges
        .into_iter()
        .map(|range| Finding::new("hardcoded_secret", Severity::Block, range, "holds a secret"))
        .collect()
}

/// Values that are assigned to a name that speaks of secrets.
fn assigned(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'=', b':', bytes)
        .filter_map(|at| {
            let value = quoted_value(bytes, at + 1)?;
            let name = name_before(text, at)?;
            let secret = text.get(value.clone()).unwrap_or_default();
            let known = PREFIXES.iter().any(|it| secret.starts_with(it));
            let is_secret =
                is_secret_name(name) && (known || is_random(secret)) && !is_placeholder(secret);
            is_secret.then_some(value)
        })
        .collect()
}

fn quoted_value(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let blank = bytes.get(from..)?.iter().take(4).take_while(|&&byte| byte == b' ').count();
    let quote = *bytes.get(from + blank)?;
    if !matches!(quote, b'"' | b'\'' | b'`') {
        return None;
    }
    let start = from + blank + 1;
    let value = bytes.get(start..)?;
    let length = value.iter().take(VALUE_MAX).take_while(|&&byte| is_value_byte(byte)).count();
    (VALUE_MIN <= length && value.get(length) == Some(&quote)).then_some(start..start + length)
}

fn is_value_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'.' | b'!' | b'@' | b'#')
}

fn name_before(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?.trim_end_matches([' ', '"', '\'', '`', ':']);
    let bytes = before.as_bytes().iter().rev().take(48);
    let length =
        bytes.take_while(|&&it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-')).count();
    before.get(before.len() - length..)
}

/// The token of a well-known service in a long word, wherever it stands.
fn known(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let word = text.get(range.clone())?;
    let start = range.start + word.trim_end_matches('=').rfind('=').map_or(0, |at| at + 1);
    let value = text.get(start..range.end)?.trim_end_matches('=');
    let secret = PREFIXES.iter().any(|prefix| value.starts_with(prefix))
        && VALUE_MIN <= value.len()
        && is_random(value)
        && !is_placeholder(value);
    secret.then_some(start..start + value.len())
}

/// First lines of private keys that a key follows.
fn private_keys(text: &str) -> impl Iterator<Item = Range<usize>> {
    PRIVATE_KEY_FINDER.find_iter(text.as_bytes()).filter_map(|at| {
        let end = at + PRIVATE_KEY.len();
        let body = text.as_bytes().get(end..)?.iter().take(64);
        let digits = body.filter(|byte| byte.is_ascii_alphanumeric()).count();
        (32 < digits).then_some(at..end)
    })
}

/// Random values mix letters and digits and repeat themselves little.
fn is_random(value: &str) -> bool {
    let mut seen = [false; 128];
    for byte in value.bytes() {
        if let Some(seen) = seen.get_mut(usize::from(byte)) {
            *seen = true;
        }
    }
    let distinct = seen.iter().filter(|&&it| it).count();
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    let cases = value.bytes().any(|byte| byte.is_ascii_lowercase())
        && value.bytes().any(|byte| byte.is_ascii_uppercase());
    DISTINCT_MIN <= distinct && (digits || cases)
}

/// Returns whether a value says of itself that it is none.
fn is_placeholder(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "your",
        "example",
        "placeholder",
        "changeme",
        "change_me",
        "change-me",
        "dummy",
        "xxxx",
        "insert",
        "replace",
        "redacted",
        "goes-here",
        "goes_here",
        "here",
        "todo",
        "sample",
        "fake",
        "....",
        "my-",
        "my_",
        "test",
        "****",
        "1234567890123",
    ];
    let lower = value.to_ascii_lowercase();
    WORDS.iter().any(|it| lower.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let disguised = super::super::token::tokenize(text).disguised;
        let found: Vec<_> =
            find(text, &disguised).into_iter().filter_map(|it| text.get(it.range)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_quoted_random_value_of_a_secret_name_is_found() {
        check("db_password: \"aK39fjQ0zzLw82mPq7Yt\"", &["aK39fjQ0zzLw82mPq7Yt"]);
    }

    #[test]
    fn a_placeholder_is_no_secret() {
        check("api_key = 'your-key-goes-here-1234567890'", &[]);
        check("api_key = 'xxxxxxxxxxxxxxxxxxxxxxxxxx'", &[]);
    }

    #[test]
    fn a_long_value_of_another_name_is_no_secret() {
        check("checksum = 'aK39fjQ0zzLw82mPq7Yt'", &[]);
    }

    #[test]
    fn a_token_of_a_known_service_needs_no_name() {
        check(
            "use ghp_aK39fjQ0zzLw82mPq7YtB4vN1cXs5dRe6uHg",
            &["ghp_aK39fjQ0zzLw82mPq7YtB4vN1cXs5dRe6uHg"],
        );
    }
}

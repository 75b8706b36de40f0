//! Takes secrets out of text before it is kept.

mod assigned;
mod rules;
mod tokens;

use std::{borrow::Cow, sync::LazyLock};

use aho_corasick::AhoCorasick;
use regex::{Captures, Regex};
use serde_json::Value;

use self::{
    assigned::{is_path, is_secret_name},
    rules::RULES,
};

/// Returns `text` with every secret that can be told by its form replaced by `[redacted:<kind>]`.
///
/// It knows the keys of known makers by their prefix, AWS keys, JSON web tokens, private key
/// blocks, bearer tokens and `Authorization` headers, cookies, passwords in URLs, and what is
/// assigned to a name like `password`, `API_KEY` or `token`, as in `password=…`, `"token": "…"`,
/// `--api-key …` or a connection string. Hashes, UUIDs and paths stay; so does what only names a
/// secret, such as `TOKEN=$TOKEN` or `os.getenv("TOKEN")`.
///
/// A secret without such a form or name cannot be told from other text and stays.
///
/// What was redacted once stays as it is when it is redacted again. The time it takes grows
/// linearly with the text.
///
/// # Examples
///
/// ```
/// use hermes_core::audit::redact;
///
/// let text = redact("curl -H 'Authorization: Bearer abc.def-123' https://sam:hunter2@example.org");
/// assert_eq!(
///     text,
///     "curl -H 'Authorization: Bearer [redacted:authorization]' https://sam:[redacted:password]@example.org"
/// );
///
/// let commit = "9fceb02d0ae598e95dc970b74767f19372d61af8";
/// assert_eq!(redact(commit), commit);
/// ```
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..MAX_PASSES {
        match pass(&text) {
            Some(next) => text = Cow::Owned(next),
            None => break,
        }
    }
    text
}

/// A replacement can bring a name and a value together that stood apart; a few passes settle that.
const MAX_PASSES: usize = 4;

/// What tells a kind of secret.
pub(super) struct Rule {
    /// What the secret is called in its place.
    pub(super) kind: &'static str,
    /// Words of which one must occur, in any case, for the pattern to be tried.
    pub(super) needles: &'static [&'static str],
    /// Finds the secret, as the group `s`.
    pub(super) pattern: fn() -> String,
    /// Whether a match is meant, and not only looks so.
    pub(super) is_meant: fn(&Match<'_>) -> bool,
}

/// A match of a rule's pattern.
pub(super) struct Match<'a> {
    /// The secret.
    pub(super) secret: &'a str,
    /// What follows the match.
    pub(super) after: &'a str,
    pub(super) groups: Captures<'a>,
}

impl Match<'_> {
    /// Returns the group called `name`, blank if it took no part.
    pub(super) fn group(&self, name: &str) -> &str {
        self.groups.name(name).map_or("", |it| it.as_str())
    }
}

static PATTERNS: LazyLock<Vec<Option<Regex>>> =
    LazyLock::new(|| RULES.iter().map(|rule| Regex::new(&(rule.pattern)()).ok()).collect());

/// All needles, each with the index of its rule.
static NEEDLES: LazyLock<(Option<AhoCorasick>, Vec<usize>)> = LazyLock::new(|| {
    let of_rule = |(at, rule): (usize, &'static Rule)| rule.needles.iter().map(move |it| (*it, at));
    let (needles, owners): (Vec<_>, Vec<_>) = RULES.iter().enumerate().flat_map(of_rule).unzip();
    (AhoCorasick::builder().ascii_case_insensitive(true).build(needles).ok(), owners)
});

/// Returns which rules can have a match in `text`.
fn candidates(text: &str) -> Vec<bool> {
    let (automaton, owners) = &*NEEDLES;
    let mut found = vec![false; RULES.len()];
    for hit in automaton.iter().flat_map(|it| it.find_overlapping_iter(text)) {
        if let Some(flag) = owners.get(hit.pattern().as_usize()).and_then(|at| found.get_mut(*at)) {
            *flag = true;
        }
    }
    found
}

/// Applies every rule once. Returns `None` if nothing changed.
fn pass(text: &str) -> Option<String> {
    let mut changed = private_keys(text);
    let wanted = candidates(changed.as_deref().unwrap_or(text));
    for ((rule, pattern), wanted) in RULES.iter().zip(PATTERNS.iter()).zip(wanted) {
        if let Some(pattern) = pattern.as_ref().filter(|_| wanted) {
            let next = apply(rule, pattern, changed.as_deref().unwrap_or(text));
            changed = next.or(changed);
        }
    }
    changed
}

/// Replaces what `rule` finds. Returns `None` if that is nothing.
fn apply(rule: &Rule, pattern: &Regex, text: &str) -> Option<String> {
    let mut output = String::new();
    let mut end = 0;
    for groups in pattern.captures_iter(text) {
        let (Some(whole), Some(secret)) = (groups.get(0), groups.name("s")) else { continue };
        let after = text.get(whole.end()..).unwrap_or_default();
        let found = Match { secret: secret.as_str(), after, groups };
        if is_mask(found.secret) || !(rule.is_meant)(&found) {
            continue;
        }
        output.push_str(text.get(end..secret.start()).unwrap_or_default());
        output.push_str(&mask(rule.kind));
        end = secret.end();
    }
    if end == 0 {
        return None;
    }
    output.push_str(text.get(end..).unwrap_or_default());
    Some(output)
}

/// Returns what stands in place of a secret.
pub(super) fn mask(kind: &str) -> String {
    format!("[redacted:{kind}]")
}

fn is_mask(text: &str) -> bool {
    let kind = text.strip_prefix("[redacted:").and_then(|it| it.strip_suffix(']'));
    kind.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
}

const BEGIN: &str = "-----BEGIN ";
const KEY: &str = "PRIVATE KEY";
const END: &str = "-----END ";

/// Replaces private key blocks, also one whose end is missing.
fn private_keys(text: &str) -> Option<String> {
    let last_end = text.rfind(END);
    let mut output = String::new();
    let (mut kept, mut from) = (0, 0);
    while let Some(start) = text.get(from..)?.find(BEGIN).map(|at| from + at) {
        from = start + BEGIN.len();
        let rest = text.get(from..)?;
        // What is not a label of a key is passed over.
        let Some(label) = rest.find("-----").filter(|it| *it <= 60) else { continue };
        if !rest.get(..label)?.contains(KEY) {
            continue;
        }
        let body = from + label + "-----".len();
        let end = match last_end.filter(|it| body <= *it) {
            Some(_) => after_end(text, body)?,
            None => body + text.get(body..)?.find(|it| !is_of_key(it)).unwrap_or(text.len() - body),
        };
        if body < end {
            output.push_str(text.get(kept..start)?);
            output.push_str(&mask("private_key"));
            (kept, from) = (end, end);
        }
    }
    if kept == 0 {
        return None;
    }
    output.push_str(text.get(kept..)?);
    Some(output)
}

/// Returns where the block that ends next after `body` is over.
fn after_end(text: &str, body: usize) -> Option<usize> {
    let label = body + text.get(body..)?.find(END)? + END.len();
    let rest = text.get(label..)?;
    Some(label + rest.find("-----").filter(|it| *it <= 60).map_or(0, |it| it + "-----".len()))
}

fn is_of_key(it: char) -> bool {
    it.is_ascii_alphanumeric() || it.is_ascii_whitespace() || "+/=\\:,-".contains(it)
}

/// Returns the secrets of `value` replaced, by their form and by the names they have.
pub(super) fn redact_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact(text).into_owned()),
        Value::Array(items) => {
            let names = std::iter::once(None).chain(items.iter().map(Some));
            let pairs = names.zip(items);
            pairs
                .map(|(before, item)| match before.and_then(Value::as_str) {
                    // As in `["--password", "hunter2"]`.
                    Some(name) if name.starts_with('-') && is_secret_name(name) => masked(item),
                    _ => redact_value(item),
                })
                .collect()
        }
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, value)| {
                    let value =
                        if is_secret_name(name) { masked(value) } else { redact_value(value) };
                    (redact(name).into_owned(), value)
                })
                .collect(),
        ),
        other => other.clone(),
    }
}

/// Returns `value` with a mask in place of everything in it that can be a secret.
fn masked(value: &Value) -> Value {
    match value {
        Value::String(text) if !text.is_empty() && !is_path(text) => Value::String(mask("secret")),
        Value::Number(_) => Value::String(mask("secret")),
        Value::Array(items) => items.iter().map(masked).collect(),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(name, value)| (redact(name).into_owned(), masked(value))).collect(),
        ),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;

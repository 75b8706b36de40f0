//! Keys, and how they are kept out of what a person or a log reads.

use std::fmt;

use reqwest::{Url, header::HeaderValue};

use crate::BuildError;

/// The key of an endpoint: never printed, never serialised, and checked to fit into a header.
///
/// # Examples
///
/// ```
/// use hermes_providers::ApiKey;
///
/// let key = ApiKey::new("sk-secret")?;
///
/// assert_eq!(format!("{key:?}"), "ApiKey(..)");
/// # Ok::<(), hermes_providers::BuildError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Creates a key from its text; white space around it is dropped.
    ///
    /// # Errors
    ///
    /// [`BuildError::Key`] if nothing is left, or if it has characters that no header can carry.
    pub fn new(key: impl AsRef<str>) -> Result<Self, BuildError> {
        let key = key.as_ref().trim();
        let is_visible = key.bytes().all(|byte| byte.is_ascii_graphic());
        if key.is_empty() || !is_visible {
            return Err(BuildError::Key);
        }
        Ok(Self(key.to_owned()))
    }

    /// Returns the key in a header value that starts with `prefix` and is never logged.
    pub(crate) fn header(&self, prefix: &str) -> Result<HeaderValue, BuildError> {
        let value = HeaderValue::from_str(&format!("{prefix}{}", self.0));
        let mut value = value.map_err(|_| BuildError::Key)?;
        value.set_sensitive(true);
        Ok(value)
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}

/// Takes known secrets, and what looks like one, out of texts.
#[derive(Clone, Default)]
pub(crate) struct Scrubber {
    secrets: Vec<String>,
}

impl Scrubber {
    const REDACTED: &'static str = "[redacted]";
    /// What stands right before a secret in the messages of endpoints.
    const MARKS: [&'static str; 7] =
        ["sk-", "bearer ", "api_key=", "apikey=", "key=", "token=", "access_token="];

    /// Adds a secret to look for; texts of under six characters would hit too much and are not.
    pub(crate) fn add(&mut self, secret: &str) {
        if 6 <= secret.len() {
            self.secrets.push(secret.to_owned());
        }
    }

    /// Adds the password in an address, which goes out in a header.
    pub(crate) fn add_address(&mut self, url: &Url) {
        if let Some(password) = url.password() {
            self.add(password);
        }
    }

    /// Returns `text` without secrets.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let without_users = redact_users(text);
        let known = self
            .secrets
            .iter()
            .fold(without_users, |text, secret| text.replace(secret.as_str(), Self::REDACTED));
        Self::MARKS.iter().fold(known, |text, mark| redact_after(&text, mark))
    }
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scrubber(..)")
    }
}

/// Replaces user and password in addresses.
fn redact_users(text: &str) -> String {
    const MARK: &str = "://";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(MARK) {
        let (head, after) = rest.split_at(start + MARK.len());
        out.push_str(head);
        let is_end = |char: char| char.is_whitespace() || "/?#\\\"'<>`".contains(char);
        let host = after.get(..after.find(is_end).unwrap_or(after.len())).unwrap_or_default();
        rest = match host.rfind('@') {
            Some(at) => {
                out.push_str(Scrubber::REDACTED);
                after.get(at..).unwrap_or_default()
            }
            None => after,
        };
    }
    out.push_str(rest);
    out
}

/// Replaces the word that follows each `mark` at the start of a word.
fn redact_after(text: &str, mark: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = lower.get(at..).and_then(|rest| rest.find(mark)) {
        let start = at + found;
        let after = start + mark.len();
        let is_word_start =
            text.get(..start).and_then(|it| it.chars().next_back()).is_none_or(is_separator);
        let word = text.get(after..).unwrap_or_default();
        let word_len = word.find(is_separator).unwrap_or(word.len());
        out.push_str(text.get(at..after).unwrap_or_default());
        at = after;
        if is_word_start && 6 <= word_len {
            out.push_str(Scrubber::REDACTED);
            at += word_len;
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

fn is_separator(char: char) -> bool {
    !char.is_ascii_alphanumeric() && !matches!(char, '-' | '_' | '.' | '*' | '[' | ']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut scrubber = Scrubber::default();
        scrubber.add("geheimnis-1");
        assert_eq!(scrubber.scrub(text), expected);
    }

    #[test]
    fn a_known_key_is_taken_out() {
        check("bad key geheimnis-1!", "bad key [redacted]!");
    }

    #[test]
    fn what_looks_like_a_key_is_taken_out() {
        check("provided: sk-abc****wxyz.", "provided: sk-[redacted]");
        check("Authorization: Bearer abcdefgh", "Authorization: Bearer [redacted]");
        check("https://h/x?key=AIzaSyAAAA&alt=sse", "https://h/x?key=[redacted]&alt=sse");
    }

    #[test]
    fn users_are_taken_out_of_addresses() {
        check(
            "no route to http://u:p@h/x, ftp://a@b",
            "no route to http://[redacted]@h/x, ftp://[redacted]@b",
        );
        check("see https://h/@me or a@b.example", "see https://h/@me or a@b.example");
    }

    #[test]
    fn ordinary_words_stay() {
        check("a risk-averse token= x, ask-me", "a risk-averse token= x, ask-me");
        check("größer: sk-é", "größer: sk-é");
    }

    #[test]
    fn a_key_must_fit_into_a_header() {
        assert!(ApiKey::new(" ").is_err());
        assert!(ApiKey::new("a\nb").is_err());
        assert_eq!(ApiKey::new(" k \n").unwrap().expose(), "k");
    }
}

//! The one place that reads a refusal: status, headers and body in, a classified error out.

mod detail;
mod pause;
mod rules;

use std::time::SystemTime;

use hermes_core::provider::{ProviderError, ProviderErrorKind as Kind};
use reqwest::{StatusCode, header::HeaderMap};

pub(crate) use self::detail::{Detail, cut};
use super::secret::Scrubber;

/// Makes an error of a refusal by an endpoint that speaks JSON over HTTP.
///
/// The kind comes from the status, the codes and the wording of the body, the pause from
/// `Retry-After` in either form, `retry-after-ms`, or the body. `now` is what an HTTP date is
/// compared with; the `Date` of the answer is preferred.
///
/// What looks like a key is taken out of the message.
///
/// # Examples
///
/// ```
/// use std::time::SystemTime;
/// use hermes_core::provider::ProviderErrorKind;
/// use hermes_providers::{classify, reqwest::header::HeaderMap};
///
/// let body = br#"{"error":{"message":"no more money","code":"insufficient_quota"}}"#;
/// let err = classify(429, &HeaderMap::new(), body, SystemTime::UNIX_EPOCH);
///
/// assert_eq!(err.kind(), ProviderErrorKind::Billing);
/// ```
pub fn classify(status: u16, headers: &HeaderMap, body: &[u8], now: SystemTime) -> ProviderError {
    let refusal = Refusal { status: Some(status), headers, place: "the endpoint", now };
    refusal.into_error(&Detail::of_body(body), &Scrubber::default())
}

/// Returns whether an endpoint refused a request for the encrypted or signed reasoning in it.
#[cfg(any(feature = "anthropic", feature = "responses"))]
pub(crate) fn refuses_reasoning(err: &ProviderError) -> bool {
    let text = err.to_string().to_lowercase();
    let says = |subject: &str, words: &[&str]| {
        text.contains(subject) && words.iter().any(|word| text.contains(word))
    };
    err.kind() == Kind::BadRequest
        && (says("encrypted content", &["verified", "decrypted", "parsed"])
            || says(
                "thinking",
                &["signature", "`data`", "cannot be modified", "expected `thinking`"],
            ))
}

/// What is known of a refusal beside its [`Detail`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal<'a> {
    /// The status, unless the refusal came inside an answer that had begun well.
    pub(crate) status: Option<u16>,
    pub(crate) headers: &'a HeaderMap,
    /// The address, without anything secret.
    pub(crate) place: &'a str,
    pub(crate) now: SystemTime,
}

impl Refusal<'_> {
    pub(crate) fn into_error(self, detail: &Detail, scrubber: &Scrubber) -> ProviderError {
        let status = self.status.filter(|it| 300 <= *it).or(detail.status);
        let pause = pause::asked_for(self.headers, detail.text(), self.now);
        let kind = rules::kind(status, detail, pause);
        let message = scrubber.scrub(&self.message(kind, status, detail));
        let err = ProviderError::new(kind, message);
        let err = status.into_iter().fold(err, ProviderError::with_status);
        pause.into_iter().fold(err, ProviderError::with_retry_after)
    }

    fn message(self, kind: Kind, status: Option<u16>, detail: &Detail) -> String {
        let (lead, advice) = words(kind);
        let status = status.map(status_words).unwrap_or_default();
        let said = if detail.shown.is_empty() { "" } else { ": " };
        let place = match kind {
            Kind::EndpointNotFound => format!(", the request went to {}", self.place),
            _ => String::new(),
        };
        format!("{lead}{status}{said}{}{advice}{place}", detail.shown)
    }
}

/// Returns what is said of a kind of refusal: what it is, and what can be done about it.
fn words(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Auth => {
            ("the endpoint refused the key", "; check the key, and what it is allowed to do")
        }
        Kind::Billing => {
            ("the account is out of credit or quota", "; top it up, or use another key")
        }
        Kind::RateLimited => ("too many requests", "; wait before the next one"),
        Kind::Overloaded => ("the endpoint has no room for now", "; ask again later"),
        Kind::ServerError => ("the endpoint failed", "; ask again later"),
        Kind::Timeout => ("the endpoint gave no answer in time", "; ask again later"),
        Kind::ContextOverflow => (
            "the conversation does not fit into the model's window",
            "; shorten it, or ask a model with a larger window",
        ),
        Kind::PayloadTooLarge => (
            "the request is too large for the endpoint",
            "; shorten the conversation, or send smaller pictures",
        ),
        Kind::ModelNotFound => {
            ("the endpoint does not know the model", "; check the name of the model")
        }
        Kind::EndpointNotFound => {
            ("no endpoint of this kind answers there", "; check the base URL")
        }
        Kind::ContentPolicy => (
            "the request was refused for its content",
            "; change what it says, or ask another model",
        ),
        Kind::BadRequest => (
            "the endpoint calls the request malformed",
            "; check sampling, tools and extra fields, or ask another endpoint",
        ),
        _ => ("the endpoint reported an error", "; ask again later"),
    }
}

fn status_words(status: u16) -> String {
    let reason = StatusCode::from_u16(status).ok().and_then(|it| it.canonical_reason());
    reason.map_or_else(|| format!(" ({status})"), |reason| format!(" ({status} {reason})"))
}

#[cfg(test)]
mod tests;

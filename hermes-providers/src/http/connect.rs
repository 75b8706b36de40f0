//! Addresses, the default client, and what keeps a request from reaching its endpoint.

use std::{borrow::Cow, error::Error, io, time::Duration};

use hermes_core::provider::{ProviderError, ProviderErrorKind as Kind};
use reqwest::{
    Client, ClientBuilder, Response, StatusCode, Url,
    header::{HeaderMap, LOCATION},
    redirect::{Attempt, Policy},
};

use super::Timeouts;
use crate::BuildError;

/// Starts a client for the providers of this crate, for a host that has a proxy, roots or limits of its
/// own to add.
///
/// It has what the default client has: it follows a redirect only to the same origin, so that neither
/// key nor conversation goes to another host; it uses no proxy and no cookies; it asks for no
/// compression, which would hold back what streams; and it gives up connecting after 30 seconds. What
/// is set on it later counts.
///
/// Where certificate roots come from is said at the [crate](crate#certificates).
///
/// # Examples
///
/// ```
/// use hermes_providers::{OpenAiChat, client_builder, reqwest::Proxy};
///
/// let client = client_builder().proxy(Proxy::all("http://127.0.0.1:3128")?).build()?;
/// let provider = OpenAiChat::builder("http://h/v1").client(client.clone()).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn client_builder() -> ClientBuilder {
    Client::builder()
        .no_proxy()
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .connect_timeout(Timeouts::REMOTE.connect)
        .pool_idle_timeout(POOL_IDLE)
        .redirect(Policy::custom(follow_at_home))
}

/// Makes the client that is used when the host brings none.
pub(crate) fn default_client(timeouts: Timeouts) -> Result<Client, BuildError> {
    let client = client_builder().connect_timeout(timeouts.connect).build();
    client.map_err(|err| BuildError::Client { source: Box::new(err) })
}

/// Shorter than most servers keep a connection, so that none is used that they have just closed.
const POOL_IDLE: Duration = Duration::from_secs(30);

/// How many redirects a request follows.
pub(super) const HOPS: usize = 3;

/// Returns where a post to `home` is to be repeated: at its origin, and only if an answer from there says
/// that it is the same post.
pub(super) fn moved_at_home(response: &Response, home: &Url) -> Option<Url> {
    let keeps_method = matches!(
        response.status(),
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let target = response.headers().get(LOCATION).filter(|_| keeps_method)?.to_str().ok()?;
    let target = response.url().join(target).ok()?;
    // A client that follows anywhere may have been led away before.
    let is_home = [response.url(), &target].iter().all(|url| url.origin() == home.origin());
    is_home.then_some(target)
}

/// Follows only what repeats the same post at the same origin.
fn follow_at_home(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let keeps_method =
        matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let first = attempt.previous().first();
    let is_home = first.is_some_and(|it| it.origin() == attempt.url().origin());
    if keeps_method && is_home && attempt.previous().len() <= HOPS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// Reads a base URL.
pub(crate) fn parse_url(text: &str) -> Result<Url, BuildError> {
    let url = Url::parse(text.trim()).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(|it| !it.is_empty())
    });
    url.ok_or_else(|| BuildError::BaseUrl { url: shown_text(text) })
}

/// Returns an address without user, password and query.
pub(super) fn shown(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

/// Returns what may be an address without what may be secret in it.
pub(super) fn shown_text(text: &str) -> String {
    let parsed = Url::parse(text.trim()).ok();
    match parsed.filter(|url| matches!(url.scheme(), "http" | "https")) {
        Some(url) => shown(&url),
        None => super::Scrubber::default().scrub(&without_user(text)),
    }
}

/// Returns what is no whole address without what may be a user and a password in it: all up to the last
/// `@`, which a path alone cannot have.
fn without_user(text: &str) -> Cow<'_, str> {
    if text.starts_with('/') && !text.starts_with("//") {
        return Cow::Borrowed(text);
    }
    let start = text.find("//").map_or(0, |at| at + 2);
    match text.rfind('@').and_then(|at| text.get(at + 1..)) {
        Some(rest) => Cow::Owned(format!("{}{rest}", text.get(..start).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// Returns where `path` is under a base URL that may lead there already. `/v1` goes before it where
/// `lacks_version` says so of the path of the base.
pub(crate) fn under(mut url: Url, path: &str, lacks_version: impl Fn(&str) -> bool) -> Url {
    let base = url.path().trim_end_matches('/');
    let base = base.strip_suffix(path).unwrap_or(base).trim_end_matches('/');
    let version = if lacks_version(base) { "/v1" } else { "" };
    let whole = format!("{base}{version}{path}");
    url.set_path(&whole);
    url
}

/// Returns where a redirect leads, as a person may read it.
pub(super) fn redirected(headers: &HeaderMap) -> String {
    let target = headers.get(LOCATION).and_then(|it| it.to_str().ok());
    match target.map(|it| it.split(['?', '#']).next().unwrap_or_default()) {
        Some(target) => {
            let target = shown_text(target);
            format!("it redirects to {target}, which was not followed with the key")
        }
        None => "it redirects, but does not say where to".to_owned(),
    }
}

/// Makes the error of a request that a client of the host's has taken to another origin.
pub(super) fn led_away(url: &Url, place: &str) -> ProviderError {
    let message = format!(
        "{place} redirects to {}, and the client followed, with what the host sends in headers; \
         check the base URL, and start the client from `client_builder`, which stays at home",
        shown(url)
    );
    ProviderError::new(Kind::EndpointNotFound, message)
}

/// Makes the error of a request that got no answer.
pub(super) fn unreachable(err: reqwest::Error, place: &str) -> ProviderError {
    let err = err.without_url();
    let chain = chain(&err);
    let (kind, reason) = if says(&chain, "certificate") {
        let hint = "its certificate was refused; give the client the root that signed it";
        (Kind::Certificate, hint.to_owned())
    } else if err.is_timeout() {
        (
            Kind::Timeout,
            "no connection in time; is the server up, and is there a way to it?".to_owned(),
        )
    } else if err.is_redirect() {
        (Kind::EndpointNotFound, "it redirects in circles; check the base URL".to_owned())
    } else if is_refused(&err) {
        (Kind::Unreachable, "connection refused; is the server running there?".to_owned())
    } else if says(&chain, "dns error") || says(&chain, "failed to lookup") {
        (Kind::Unreachable, "its name is not known; check the base URL".to_owned())
    } else if err.is_connect() {
        (Kind::Unreachable, "no connection; check the base URL and the network".to_owned())
    } else {
        (
            Kind::Unreachable,
            "the connection broke before an answer came; ask again, or check the base URL"
                .to_owned(),
        )
    };
    let error = ProviderError::new(kind, format!("{place}: {reason}"));
    // The cause of a refused redirect shows all of its address.
    if err.is_redirect() { error } else { error.with_source(err) }
}

/// Returns whether a connection stood, but ended or was spoilt before an answer came.
pub(super) fn is_broken(err: &reqwest::Error) -> bool {
    err.is_request() && !err.is_connect() && !err.is_timeout() && !err.is_redirect()
}

/// Makes the error of an answer that broke off after it had begun.
pub(super) fn broken(err: reqwest::Error, place: &str) -> ProviderError {
    let err = err.without_url();
    let (kind, what) = if err.is_timeout() {
        (Kind::Timeout, format!("the stream from {place} broke off in silence; ask again"))
    } else if is_damaged(&err) {
        let advice = "ask again, or turn compression off in the client";
        let what = format!("the compressed answer of {place} is damaged or not whole; {advice}");
        (Kind::StreamCut, what)
    } else {
        (Kind::StreamCut, format!("the stream from {place} broke off; ask again"))
    };
    ProviderError::new(kind, what).with_source(err)
}

/// Returns whether the bytes came, but could not be decompressed.
fn is_damaged(err: &reqwest::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    let is_of_decoder =
        |io: &io::Error| matches!(io.kind(), InvalidData | InvalidInput | UnexpectedEof);
    let has_one = causes(err).into_iter().any(|it| it.downcast_ref().is_some_and(is_of_decoder));
    has_one && !says(&chain(err), "connection")
}

fn is_refused(err: &reqwest::Error) -> bool {
    causes(err).into_iter().any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|it| it.kind() == io::ErrorKind::ConnectionRefused)
    })
}

fn says(chain: &str, words: &str) -> bool {
    chain.contains(words)
}

fn chain(err: &reqwest::Error) -> String {
    let texts: Vec<String> =
        causes(err).into_iter().map(|cause| cause.to_string().to_lowercase()).collect();
    texts.join(": ")
}

fn causes(err: &reqwest::Error) -> Vec<&(dyn Error + 'static)> {
    let mut causes: Vec<&(dyn Error + 'static)> = vec![err];
    while let Some(cause) = causes.last().copied().and_then(Error::source) {
        causes.push(cause);
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_shown(text: &str, expected: &str) {
        assert_eq!(shown_text(text), expected);
    }

    #[test]
    fn an_address_is_shown_without_user_password_and_query() {
        check_shown("https://user:geheimnis@h:8/v1?k=v#f", "https://h:8/v1");
        check_shown("http:user:geheimnis@h/v1", "http://h/v1");
        check_shown(r"http:\\user:geheimnis@h\v1", "http://h/v1");
        check_shown("//user:geheimnis@h/v1", "//h/v1");
        check_shown("https://user:gehei/m?n#is@h/v1", "https://h/v1");
        check_shown("/v1/@me", "/v1/@me");
        check_shown("/v1/messages", "/v1/messages");
    }

    #[test]
    fn a_redirect_tells_no_secret() {
        let told = |target: &'static str| {
            let value = reqwest::header::HeaderValue::from_static(target);
            redirected(&HeaderMap::from_iter([(LOCATION, value)]))
        };

        for target in [
            "https://user:geheimnis@else.where/v1?key=geheimnis",
            "//user:geheimnis@else.where/v1",
            "http://user:gehei/mnis@else.where/v1",
            "http:user:geheimnis@else.where/v1",
        ] {
            let told = told(target);
            assert!(told.contains("else.where/v1, which"), "{told}");
            assert!(!told.contains("gehei"), "{told}");
        }
    }
}

//! One exchange with an endpoint: a body goes out, a stream of events comes back.

mod answer;
mod connect;
pub(crate) mod loose;
pub(crate) mod reading;
mod secret;
mod setup;
pub(crate) mod sse;
pub(crate) mod status;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use hermes_core::{
    clock::Clock,
    provider::{EventStream, ProviderError, ProviderErrorKind},
};
use reqwest::{
    Body, Client, Response, Url,
    header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::{
    answer::Events,
    reading::Reading,
    status::{Detail, Refusal},
};
pub(crate) use self::{
    answer::{Decode, WireError},
    connect::{default_client, parse_url, under},
    secret::Scrubber,
    setup::{Manner, Setup, common_setters},
};
pub use self::{connect::client_builder, secret::ApiKey};

/// How long an endpoint may be silent, and how long it may take for all.
///
/// Comments that only keep a connection alive are no part of an answer: they let an endpoint take all
/// of [`first_byte`](Self::first_byte) between two of its events, and no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// Until a connection stands. 30 seconds by default. A client that the host brings has its own.
    pub connect: Duration,
    /// From the request to the first event of the answer, whatever comments come before it. An endpoint
    /// that only announces its answer may then be silent for as long again. 180 seconds by default.
    pub first_byte: Duration,
    /// Between two pieces of an answer that has said something, comments included. 180 seconds by
    /// default.
    pub idle: Duration,
    /// From the request to the end of the answer, however lively it is; what the caller takes between two
    /// events does not count. Four hours by default.
    pub whole: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::REMOTE
    }
}

impl Timeouts {
    pub(crate) const REMOTE: Self = Self {
        connect: Duration::from_secs(30),
        first_byte: Duration::from_secs(180),
        idle: Duration::from_secs(180),
        whole: Duration::from_secs(4 * 60 * 60),
    };

    /// Returns limits for a model on the host's own machine, which may read a long prompt for
    /// minutes: half an hour to the first event.
    pub fn local() -> Self {
        Self { first_byte: Duration::from_secs(1800), ..Self::default() }
    }

    /// Returns the same limits with another time to the first event.
    #[must_use]
    pub fn with_first_byte(mut self, limit: Duration) -> Self {
        self.first_byte = limit;
        self
    }

    /// Returns the same limits with another time between two pieces.
    #[must_use]
    pub fn with_idle(mut self, limit: Duration) -> Self {
        self.idle = limit;
        self
    }

    /// Returns the same limits with another time for the whole answer.
    #[must_use]
    pub fn with_whole(mut self, limit: Duration) -> Self {
        self.whole = limit;
        self
    }

    /// Returns the same limits with another time to connect.
    #[must_use]
    pub fn with_connect(mut self, limit: Duration) -> Self {
        self.connect = limit;
        self
    }
}

/// How often a client may send what it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Posts {
    /// As often as it likes: it is known to repeat a request only where it may.
    Again,
    /// Once, because it might repeat it anywhere.
    Once,
}

/// An address that bodies are posted to.
pub(crate) struct Endpoint {
    pub(crate) client: Client,
    pub(crate) posts: Posts,
    pub(crate) url: Url,
    /// The address as a person may read it: without user, password and query.
    pub(crate) place: String,
    pub(crate) headers: HeaderMap,
    pub(crate) timeouts: Timeouts,
    pub(crate) scrubber: Scrubber,
    pub(crate) clock: Arc<dyn Clock>,
    /// Whether its last request was answered, so that the client may keep a connection to it.
    pub(crate) has_answered: AtomicBool,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("place", &self.place)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// The most bytes that are read of a refusal.
    const REFUSAL_LIMIT: usize = 256 * 1024;

    /// Posts `body` and returns what `decoder` makes of the answer.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        body: Bytes,
        decoder: impl Decode,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let start = Instant::now();
        tokio::select! {
            biased;
            () = token.cancelled() => Err(cancelled()),
            response = self.send(body) => {
                let reading = Reading::new(decoder);
                let events = Events::new(Arc::clone(self), response?, reading, start, token.clone());
                Ok(events.into_stream())
            }
        }
    }

    /// Sends a request, and once more if the connection broke that an earlier answer may have left: an
    /// endpoint closes such a one whenever it likes, and then the request has gone unheard.
    async fn send(&self, body: Bytes) -> Result<Response, ProviderError> {
        let limit = self.timeouts.first_byte;
        let mut outcome = tokio::time::timeout(limit, self.post(body.clone())).await;
        if matches!(&outcome, Ok(Err(err)) if connect::is_broken(err))
            && self.has_answered.load(Ordering::Relaxed)
        {
            tracing::debug!(place = %self.place, "a kept connection broke, the request is sent again");
            outcome = tokio::time::timeout(limit, self.post(body)).await;
        }
        self.has_answered.store(matches!(outcome, Ok(Ok(_))), Ordering::Relaxed);
        let response = match outcome {
            Ok(Ok(response)) => response,
            Ok(Err(err)) => return Err(connect::unreachable(err, &self.place)),
            Err(_) => return Err(self.silent(limit)),
        };
        if response.url().origin() != self.url.origin() {
            return Err(connect::led_away(response.url(), &self.place));
        }
        if response.status().is_success() {
            return self.check_encoding(response);
        }
        Err(self.refused(response).await)
    }

    /// Posts `body`, and again where the endpoint says that it has moved at home, unless the client
    /// does that by itself.
    async fn post(&self, body: Bytes) -> reqwest::Result<Response> {
        if self.posts == Posts::Again {
            return self.post_to(self.url.clone(), body.into()).await;
        }
        let once = || Body::wrap(Body::from(body.clone()));
        let mut response = self.post_to(self.url.clone(), once()).await?;
        for _ in 0..connect::HOPS {
            let Some(url) = connect::moved_at_home(&response, &self.url) else { break };
            response = self.post_to(url, once()).await?;
        }
        Ok(response)
    }

    async fn post_to(&self, url: Url, body: Body) -> reqwest::Result<Response> {
        let request = self
            .client
            .post(url)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"))
            .headers(self.headers.clone())
            .body(body);
        request.send().await
    }

    fn check_encoding(&self, response: Response) -> Result<Response, ProviderError> {
        let encoding = response.headers().get(CONTENT_ENCODING).and_then(|it| it.to_str().ok());
        match encoding {
            None | Some("identity" | "") => Ok(response),
            Some(encoding) => {
                let message = format!(
                    "{} answered compressed ({encoding}), which was not asked for; \
                     bring a client that can decode it",
                    self.place
                );
                Err(ProviderError::new(ProviderErrorKind::Protocol, message))
            }
        }
    }

    async fn refused(&self, mut response: Response) -> ProviderError {
        let status = response.status().as_u16();
        let headers = std::mem::take(response.headers_mut());
        let mut body = Vec::new();
        // What cannot be read of a refusal is not worth another error.
        let _ = tokio::time::timeout(self.timeouts.idle, async {
            while body.len() < Self::REFUSAL_LIMIT
                && let Ok(Some(piece)) = response.chunk().await
            {
                body.extend_from_slice(&piece);
            }
        })
        .await;
        let mut detail = Detail::of_body(&body);
        if (300..400).contains(&status) {
            detail.shown = connect::redirected(&headers);
        }
        self.refusal(Some(status), &headers).into_error(&detail, &self.scrubber)
    }

    /// Makes the error of a refusal that came inside an answer.
    pub(crate) fn refused_inside(&self, detail: &Detail) -> ProviderError {
        self.refusal(None, &HeaderMap::new()).into_error(detail, &self.scrubber)
    }

    fn refusal<'a>(&'a self, status: Option<u16>, headers: &'a HeaderMap) -> Refusal<'a> {
        Refusal { status, headers, place: &self.place, now: self.clock.now() }
    }

    /// Makes the error of an endpoint that sent nothing but comments, or no end, for `limit`.
    fn slow(&self, limit: Duration, what: &str) -> ProviderError {
        let message = format!(
            "{} {what} for {} s; ask again, or give it more time",
            self.place,
            limit.as_secs_f64()
        );
        ProviderError::new(ProviderErrorKind::Timeout, message)
    }

    /// Makes the error of an endpoint that said nothing for `limit`.
    fn silent(&self, limit: Duration) -> ProviderError {
        self.slow(limit, "was silent")
    }
}

pub(crate) fn cancelled() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Cancelled, "the request was cancelled")
}

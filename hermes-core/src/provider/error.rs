//! What can go wrong with a provider, classified once.

use std::{error::Error, fmt, time::Duration};

/// A request that produced no whole message.
///
/// It has a [`kind`](Self::kind), made by the provider from what its endpoint said, and a
/// [`recovery`](Self::recovery), derived from the kind here and nowhere else: retry, fallback,
/// rotation and compression ask it, and nobody matches on message text.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use hermes_core::provider::{ProviderError, ProviderErrorKind, Recovery};
///
/// let err = ProviderError::new(ProviderErrorKind::RateLimited, "slow down")
///     .with_retry_after(Duration::from_secs(7));
///
/// assert_eq!(err.recovery(), Recovery::Retry(Some(Duration::from_secs(7))));
/// ```
#[derive(Debug)]
pub struct ProviderError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ProviderErrorKind,
    message: String,
    status: Option<u16>,
    retry_after: Option<Duration>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// What kind of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProviderErrorKind {
    /// The credential was refused.
    Auth,
    /// The account has no money or quota left.
    Billing,
    /// Too many requests for now.
    RateLimited,
    /// The service has no room for now.
    Overloaded,
    /// The service failed on its own account.
    ServerError,
    /// No answer in time.
    Timeout,
    /// The endpoint could not be reached, or the connection broke before the first event.
    Unreachable,
    /// The endpoint's certificate was refused.
    Certificate,
    /// The conversation does not fit into the model's window.
    ContextOverflow,
    /// The request has more bytes than the endpoint takes.
    PayloadTooLarge,
    /// The endpoint does not know the model.
    ModelNotFound,
    /// The address answers, but not as an endpoint of this kind.
    EndpointNotFound,
    /// The request was refused for its content.
    ContentPolicy,
    /// The endpoint called the request malformed.
    BadRequest,
    /// The answer is not what the wire format promises.
    Protocol,
    /// The stream broke off after it had begun.
    StreamCut,
    /// The token was cancelled.
    Cancelled,
    /// None of the above.
    Unknown,
}

/// What a caller can do about a [`ProviderError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// Send the same request again, after the pause if the provider named one.
    Retry(Option<Duration>),
    /// Send it with another credential.
    RotateCredential,
    /// Compress the conversation first.
    Compress,
    /// Ask another provider or model.
    Fallback,
    /// Nothing here helps.
    GiveUp,
}

impl ProviderErrorKind {
    /// Returns the kind in snake case, as it stands in logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Billing => "billing",
            Self::RateLimited => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::ServerError => "server_error",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::Certificate => "certificate",
            Self::ContextOverflow => "context_overflow",
            Self::PayloadTooLarge => "payload_too_large",
            Self::ModelNotFound => "model_not_found",
            Self::EndpointNotFound => "endpoint_not_found",
            Self::ContentPolicy => "content_policy",
            Self::BadRequest => "bad_request",
            Self::Protocol => "protocol",
            Self::StreamCut => "stream_cut",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }
}

impl ProviderError {
    /// Creates an error of `kind`; `message` says what happened in lower case, without a period.
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            status: None,
            retry_after: None,
            source: None,
        }))
    }

    /// Returns the same error with the HTTP status behind it.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    /// Returns the same error with the pause that the provider asked for.
    #[must_use]
    pub fn with_retry_after(mut self, pause: Duration) -> Self {
        self.0.retry_after = Some(pause);
        self
    }

    /// Returns the same error with its cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Returns what kind of thing went wrong.
    pub fn kind(&self) -> ProviderErrorKind {
        self.0.kind
    }

    /// Returns the HTTP status behind the error, if there was one.
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// Returns the pause that the provider asked for, if it did.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns what can be done about it: the one place that classifies.
    pub fn recovery(&self) -> Recovery {
        use ProviderErrorKind as Kind;
        match self.0.kind {
            Kind::RateLimited
            | Kind::Overloaded
            | Kind::ServerError
            | Kind::Timeout
            | Kind::Unreachable
            | Kind::StreamCut
            | Kind::Unknown => Recovery::Retry(self.0.retry_after),
            Kind::Auth | Kind::Billing => Recovery::RotateCredential,
            Kind::ContextOverflow | Kind::PayloadTooLarge => Recovery::Compress,
            Kind::ModelNotFound | Kind::ContentPolicy => Recovery::Fallback,
            Kind::Certificate
            | Kind::EndpointNotFound
            | Kind::BadRequest
            | Kind::Protocol
            | Kind::Cancelled => Recovery::GiveUp,
        }
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl Error for ProviderError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

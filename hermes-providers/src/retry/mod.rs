//! Trying again.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use async_trait::async_trait;
use hermes_core::provider::{
    EventStream, Provider, ProviderError, ProviderErrorKind, Recovery, Request,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::peek::begun;

/// A provider that asks again where that can help.
///
/// What can be helped is for [`ProviderError::recovery`] to say: limits that pass, endpoints that are
/// overloaded, failed or silent, connections that broke. It asks again only as long as nothing of an
/// answer has reached the caller; an answer that breaks off later is the caller's to decide about.
///
/// The pause grows from try to try with some jitter, and is never shorter than the endpoint asks for. It
/// ends at once when the token is cancelled.
///
/// Wrap single providers in it, and those in a [`Fallback`](crate::Fallback), not the other way
/// round: otherwise each retry would go through all of them.
///
/// # Examples
///
/// ```
/// use hermes_providers::{Backoff, OpenAiChat, Retry};
///
/// let endpoint = OpenAiChat::builder("http://127.0.0.1:8080").build()?;
/// let provider = Retry::new(endpoint).with_backoff(Backoff::default().with_retries(5));
/// # Ok::<(), hermes_providers::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Retry<P> {
    inner: P,
    backoff: Backoff,
}

impl<P> Retry<P> {
    /// Wraps a provider, with the default [`Backoff`].
    pub fn new(inner: P) -> Self {
        Self { inner, backoff: Backoff::default() }
    }

    /// Returns the same provider with other pauses and limits.
    #[must_use]
    pub fn with_backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Returns the wrapped provider.
    pub fn inner(&self) -> &P {
        &self.inner
    }
}

/// How often and how patiently a [`Retry`] asks again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backoff {
    /// How often it asks again after the first time. 3 by default.
    pub retries: u32,
    /// The first pause, which doubles from try to try, plus up to half of it at random. 2 seconds by
    /// default.
    pub base: Duration,
    /// The longest pause of its own, jitter apart. 60 seconds by default. An endpoint that asks for a
    /// longer one gets it, within `patience`.
    pub cap: Duration,
    /// The longest pause that is granted to an endpoint that asks for one. 10 minutes by default; a
    /// longer one is an error at once.
    pub patience: Duration,
    /// How long all tries and pauses together may take before no further one begins. 30 minutes by
    /// default.
    pub total: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            retries: 3,
            base: Duration::from_secs(2),
            cap: Duration::from_secs(60),
            patience: Duration::from_secs(600),
            total: Duration::from_secs(1800),
        }
    }
}

impl Backoff {
    /// Returns the same backoff with another number of retries.
    #[must_use]
    pub fn with_retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Returns the same backoff with pauses that grow from `base` to `cap`.
    #[must_use]
    pub fn with_pauses(mut self, base: Duration, cap: Duration) -> Self {
        self.base = base;
        self.cap = cap;
        self
    }

    /// Returns the same backoff with another limit on the pauses that endpoints ask for.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Returns the same backoff with another limit on all tries together.
    #[must_use]
    pub fn with_total(mut self, total: Duration) -> Self {
        self.total = total;
        self
    }

    /// Returns the pause before retry number `nth`, from 0, or `None` if there is to be no further
    /// one. `dice` decides the jitter.
    fn pause(&self, nth: u32, err: &ProviderError, spent: Duration, dice: u64) -> Option<Duration> {
        if self.retries <= nth {
            return None;
        }
        let asked = match err.recovery() {
            Recovery::Retry(Some(asked)) if self.patience < asked => return None,
            Recovery::Retry(asked) => asked.unwrap_or_default(),
            _ => return None,
        };
        let doubled = 2_u32.checked_pow(nth).unwrap_or(u32::MAX);
        let own = self.base.saturating_mul(doubled).min(self.cap);
        let thousandths = u32::try_from(dice % 1000).unwrap_or_default();
        let own = own.saturating_add(own.saturating_mul(thousandths) / 2000);
        // An endpoint that asks for no time at all, or for a time that is over, is not hurried.
        let pause = own.max(asked);
        (spent.saturating_add(pause) <= self.total).then_some(pause)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a wrapper forwards everything")]
impl<P: Provider> Provider for Retry<P> {
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let start = Instant::now();
        let mut nth = 0;
        loop {
            let err = match begun(&self.inner, request, token).await {
                Ok(events) => return Ok(events),
                Err(err) => err,
            };
            let dice = RandomState::new().hash_one(nth);
            let Some(pause) = self.backoff.pause(nth, &err, start.elapsed(), dice) else {
                return Err(err);
            };
            nth += 1;
            let kind = err.kind().as_str();
            tracing::warn!(kind, nth, ?pause, "a model request failed and is sent again");
            tokio::select! {
                biased;
                () = token.cancelled() => return Err(cancelled(err)),
                () = tokio::time::sleep(pause) => {}
            }
        }
    }
}

fn cancelled(err: ProviderError) -> ProviderError {
    let message = "the request was cancelled in the pause before a retry";
    ProviderError::new(ProviderErrorKind::Cancelled, message).with_source(err)
}

#[cfg(test)]
mod tests;

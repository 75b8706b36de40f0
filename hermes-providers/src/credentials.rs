//! Several keys for one endpoint.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use hermes_core::provider::{
    EventStream, Provider, ProviderError, ProviderErrorKind as Kind, Request,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::peek::begun;

/// The same endpoint under several keys, one provider for each.
///
/// When a key is refused, out of credit or over its limit before anything of an answer has reached the
/// caller, the request goes out under the next one, and the key rests: five minutes if it was refused,
/// an hour if it is out of credit or over its limit, unless the endpoint names a shorter time. If all
/// keys rest, all are asked.
///
/// Any other error is the caller's at once. Put a [`Retry`](crate::Retry) around the pool, not into it:
/// another key is better than a pause.
///
/// # Examples
///
/// ```
/// use hermes_providers::{ApiKey, BuildError, CredentialPool, OpenAiChat, Turns};
///
/// let keys = ["key-one", "key-two"];
/// let providers: Result<Vec<OpenAiChat>, BuildError> = keys
///     .into_iter()
///     .map(|key| OpenAiChat::builder("https://host.example/v1").key(ApiKey::new(key)?).build())
///     .collect();
/// let pool = CredentialPool::new(providers?).with_turns(Turns::RoundRobin);
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Debug)]
pub struct CredentialPool<P> {
    members: Vec<Member<P>>,
    turns: Turns,
    next: AtomicUsize,
}

#[derive(Debug)]
struct Member<P> {
    provider: P,
    rests_until: Mutex<Option<Instant>>,
}

/// Which key of a [`CredentialPool`] a request tries first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Turns {
    /// The first that does not rest, which keeps its prompt cache warm. The default.
    #[default]
    FillFirst,
    /// The one after the last request's.
    RoundRobin,
}

impl<P> CredentialPool<P> {
    /// Creates a pool of providers that differ in their keys only.
    pub fn new(providers: impl IntoIterator<Item = P>) -> Self {
        let members = providers
            .into_iter()
            .map(|provider| Member { provider, rests_until: Mutex::new(None) });
        Self { members: members.collect(), turns: Turns::default(), next: AtomicUsize::new(0) }
    }

    /// Returns the same pool with another order.
    #[must_use]
    pub fn with_turns(mut self, turns: Turns) -> Self {
        self.turns = turns;
        self
    }

    /// Returns the members in the order in which this request tries them.
    fn order(&self) -> impl Iterator<Item = &Member<P>> {
        let start = match self.turns {
            Turns::FillFirst => 0,
            Turns::RoundRobin => self.next.fetch_add(1, Ordering::Relaxed),
        };
        let start = start.checked_rem(self.members.len()).unwrap_or(0);
        self.members.iter().cycle().skip(start).take(self.members.len())
    }
}

impl<P> Member<P> {
    fn is_resting(&self) -> bool {
        let until = *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    fn rest(&self, pause: Option<Duration>) {
        let until = pause.map(|pause| Instant::now() + pause);
        *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}

/// Returns how long a key rests after an error, `None` if it was not the key's fault.
fn rest_after(err: &ProviderError) -> Option<Duration> {
    let usual = match err.kind() {
        Kind::Auth => Duration::from_secs(300),
        Kind::Billing | Kind::RateLimited => Duration::from_secs(3600),
        _ => return None,
    };
    Some(err.retry_after().unwrap_or(usual).min(usual))
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a wrapper forwards everything")]
impl<P: Provider> Provider for CredentialPool<P> {
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let all_rest = self.members.iter().all(Member::is_resting);
        let mut last_error = None;
        for member in self.order().filter(|member| all_rest || !member.is_resting()) {
            let err = match begun(&member.provider, request, token).await {
                Ok(events) => {
                    member.rest(None);
                    return Ok(events);
                }
                Err(err) => err,
            };
            let Some(rest) = rest_after(&err) else { return Err(err) };
            member.rest(Some(rest));
            last_error = Some(err);
        }
        Err(last_error.unwrap_or_else(|| ProviderError::new(Kind::Auth, "the pool has no keys")))
    }
}

#[cfg(test)]
mod tests {
    use hermes_core::{
        message::Message,
        provider::ProviderExt,
        testing::{ScriptedProvider, conformance},
    };

    use super::*;

    fn failing(kind: Kind) -> ScriptedProvider {
        ScriptedProvider::new().fail(ProviderError::new(kind, "no")).otherwise("first")
    }

    fn second() -> ScriptedProvider {
        ScriptedProvider::new().otherwise("second")
    }

    async fn ask(pool: &CredentialPool<ScriptedProvider>) -> Result<String, Kind> {
        let request = Request::new("m", vec![Message::user("hi")]);
        let answer = pool.complete(&request, &CancellationToken::new()).await;
        answer.map(|it| it.text()).map_err(|err| err.kind())
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_that_fails_rests_and_comes_back() {
        for (kind, seconds) in [(Kind::Auth, 300), (Kind::RateLimited, 3600)] {
            let pool = CredentialPool::new([failing(kind), second()]);

            assert_eq!(ask(&pool).await, Ok("second".to_owned()));
            tokio::time::advance(Duration::from_secs(seconds - 1)).await;
            assert_eq!(ask(&pool).await, Ok("second".to_owned()));
            tokio::time::advance(Duration::from_secs(2)).await;
            assert_eq!(ask(&pool).await, Ok("first".to_owned()));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_rests_as_long_as_the_endpoint_says() {
        let err =
            ProviderError::new(Kind::RateLimited, "no").with_retry_after(Duration::from_secs(5));
        let first = ScriptedProvider::new().fail(err).otherwise("first");
        let pool = CredentialPool::new([first, second()]);

        assert_eq!(ask(&pool).await, Ok("second".to_owned()));
        tokio::time::advance(Duration::from_secs(6)).await;

        assert_eq!(ask(&pool).await, Ok("first".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn when_all_keys_rest_all_are_asked() {
        let pool = CredentialPool::new([failing(Kind::Billing)]);

        assert_eq!(ask(&pool).await, Err(Kind::Billing));
        assert_eq!(ask(&pool).await, Ok("first".to_owned()));
    }

    #[tokio::test]
    async fn what_is_not_the_keys_fault_is_the_callers() {
        let pool = CredentialPool::new([failing(Kind::BadRequest), second()]);

        assert_eq!(ask(&pool).await, Err(Kind::BadRequest));
        assert_eq!(ask(&CredentialPool::new([])).await, Err(Kind::Auth));
    }

    #[tokio::test]
    async fn keys_may_take_turns() {
        let first = ScriptedProvider::new().otherwise("first");
        let pool = CredentialPool::new([first, second()]).with_turns(Turns::RoundRobin);

        let mut texts = Vec::new();
        for _ in 0..3 {
            texts.push(ask(&pool).await.unwrap());
        }

        assert_eq!(texts, ["first", "second", "first"]);
    }

    #[tokio::test]
    async fn the_contract_of_providers_is_kept() {
        let pool = CredentialPool::new([ScriptedProvider::new()]);
        let request = Request::new("m", vec![Message::user("hi")]);

        conformance::provider(&pool, &request).await;
    }
}

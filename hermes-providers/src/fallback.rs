//! Other models, where one cannot answer.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use hermes_core::provider::{
    EventStream, ModelEvent, ModelId, Provider, ProviderError, ProviderErrorKind as Kind, Recovery,
    Request,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::peek::begun;

/// Several providers in the order in which they are asked.
///
/// The next one is asked when one fails before anything of its answer has reached the caller, unless
/// the conversation is too long for the first choice (then compressing is what helps) or the request was
/// cancelled. One that has no room, credit or valid key is left alone for a minute, or as long as it
/// asked for, up to an hour; then it is the first choice again. If all are left alone, all are asked.
///
/// A conversation that is too long for a later model is that model's failure: a first choice with a large
/// window that has no room for a moment should not make the caller compress to the window of a smaller
/// one. The next is asked, and then those that were left alone.
///
/// If all fail, the error is that of the earliest choice. Only if asking that one again cannot help, and
/// the conversation was too long for another, is it the other's: then the caller can compress.
///
/// # Examples
///
/// ```
/// use hermes_providers::{Fallback, OpenAiChat, Retry};
///
/// let near = OpenAiChat::builder("http://127.0.0.1:8080").build()?;
/// let far = OpenAiChat::builder("https://openrouter.ai/api/v1").build()?;
/// let provider = Fallback::new(Retry::new(near)).or_model(Retry::new(far), "qwen/qwen3-32b");
/// # Ok::<(), hermes_providers::BuildError>(())
/// ```
#[derive(Debug)]
pub struct Fallback {
    routes: Vec<Route>,
}

#[derive(Debug)]
struct Route {
    provider: Arc<dyn Provider>,
    /// The model to ask there, if not the request's.
    model: Option<ModelId>,
    /// Until when it is left alone.
    rests_until: Mutex<Option<Instant>>,
}

impl Fallback {
    /// How long a provider is left alone that does not say how long.
    const REST: Duration = Duration::from_secs(60);
    /// How long it is left alone at most.
    const LONGEST_REST: Duration = Duration::from_secs(3600);

    /// Starts with the provider that is asked first, for the model of the request.
    pub fn new(first: impl Provider + 'static) -> Self {
        Self { routes: vec![Route::new(Arc::new(first), None)] }
    }

    /// Adds a provider that is asked next, for the same model.
    #[must_use]
    pub fn or(mut self, next: impl Provider + 'static) -> Self {
        self.routes.push(Route::new(Arc::new(next), None));
        self
    }

    /// Adds a provider that is asked next, for `model`.
    #[must_use]
    pub fn or_model(mut self, next: impl Provider + 'static, model: impl Into<ModelId>) -> Self {
        self.routes.push(Route::new(Arc::new(next), Some(model.into())));
        self
    }
}

impl Route {
    fn new(provider: Arc<dyn Provider>, model: Option<ModelId>) -> Self {
        Self { provider, model, rests_until: Mutex::new(None) }
    }

    fn is_resting(&self) -> bool {
        let until = *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    async fn ask(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let Some(model) = &self.model else {
            return self.note(begun(&self.provider, request, token).await);
        };
        let mut request = request.clone();
        request.model = model.clone();
        let events = self.note(begun(&self.provider, &request, token).await)?;
        // Whoever counts what was used has to know.
        let other = stream::iter([Ok(ModelEvent::Model(model.clone()))]);
        Ok(other.chain(events).boxed())
    }

    /// Takes note of whether the provider is to be left alone.
    fn note(
        &self,
        outcome: Result<EventStream, ProviderError>,
    ) -> Result<EventStream, ProviderError> {
        let needs_rest = |err: &&ProviderError| {
            matches!(err.kind(), Kind::RateLimited | Kind::Overloaded | Kind::Billing | Kind::Auth)
        };
        let rest = outcome
            .as_ref()
            .err()
            .filter(needs_rest)
            .map(|err| err.retry_after().unwrap_or(Fallback::REST).min(Fallback::LONGEST_REST));
        let until = rest.map(|rest| Instant::now() + rest);
        *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
        outcome
    }
}

/// What went wrong with the providers that were asked.
#[derive(Debug, Default)]
struct Failures {
    /// The error of the earliest choice, and which that is.
    earliest: Option<(usize, ProviderError)>,
    /// That the conversation is too long for another than the first choice.
    overflow: Option<ProviderError>,
}

impl Failures {
    /// Takes note of the error of choice number `nth`. Returns it if no other provider could do better.
    fn note(&mut self, nth: usize, err: ProviderError) -> Result<(), ProviderError> {
        let is_overflow = err.recovery() == Recovery::Compress;
        if err.kind() == Kind::Cancelled || (is_overflow && nth == 0) {
            return Err(err);
        }
        tracing::warn!(kind = err.kind().as_str(), nth, "a provider failed");
        if is_overflow {
            self.overflow.get_or_insert(err);
        } else if self.earliest.as_ref().is_none_or(|(earliest, _)| nth < *earliest) {
            self.earliest = Some((nth, err));
        }
        Ok(())
    }

    fn into_error(self) -> ProviderError {
        let passes = |err: &ProviderError| matches!(err.recovery(), Recovery::Retry(_));
        match (self.earliest, self.overflow) {
            (Some((_, err)), None) => err,
            (Some((_, err)), Some(_)) if passes(&err) => err,
            (_, Some(overflow)) => overflow,
            (None, None) => ProviderError::new(Kind::Unknown, "no provider to ask"),
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a wrapper forwards everything")]
impl Provider for Fallback {
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let (resting, awake): (Vec<_>, Vec<_>) =
            self.routes.iter().enumerate().partition(|(_, route)| route.is_resting());
        let mut failures = Failures::default();
        let all_rest = awake.is_empty();
        for (nth, route) in &awake {
            match route.ask(request, token).await {
                Ok(events) => return Ok(events),
                Err(err) => failures.note(*nth, err)?,
            }
        }
        for (nth, route) in &resting {
            if !all_rest && failures.overflow.is_none() {
                break;
            }
            match route.ask(request, token).await {
                Ok(events) => return Ok(events),
                Err(err) => failures.note(*nth, err)?,
            }
        }
        Err(failures.into_error())
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

    fn failing(kinds: &[Kind]) -> ScriptedProvider {
        let errors = kinds.iter().map(|kind| ProviderError::new(*kind, kind.as_str()));
        errors.fold(ScriptedProvider::new().otherwise("first"), ScriptedProvider::fail)
    }

    async fn ask(provider: &Fallback) -> Result<String, Kind> {
        let request = Request::new("m", vec![Message::user("hi")]);
        let answer = provider.complete(&request, &CancellationToken::new()).await;
        answer.map(|it| it.text()).map_err(|err| err.kind())
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_is_asked_for_its_own_model() {
        let second = ScriptedProvider::new().say("second");
        let provider =
            Fallback::new(failing(&[Kind::ModelNotFound])).or_model(second.clone(), "other");

        assert_eq!(ask(&provider).await, Ok("second".to_owned()));
        assert_eq!(second.last_request().unwrap().model, ModelId::from("other"));
        assert_eq!(ask(&provider).await, Ok("first".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn one_without_credit_is_left_alone_for_a_minute() {
        let first = failing(&[Kind::Billing]);
        let provider = Fallback::new(first.clone()).or(ScriptedProvider::new());

        ask(&provider).await.unwrap();
        ask(&provider).await.unwrap();
        assert_eq!(first.requests().len(), 1);
        tokio::time::advance(Duration::from_secs(61)).await;

        assert_eq!(ask(&provider).await, Ok("first".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn all_are_asked_when_all_rest() {
        let first = failing(&[Kind::RateLimited]);
        let provider = Fallback::new(first).or(failing(&[Kind::Auth]));

        assert_eq!(ask(&provider).await, Err(Kind::RateLimited));
        assert_eq!(ask(&provider).await, Ok("first".to_owned()));
    }

    #[tokio::test]
    async fn a_conversation_that_is_too_long_goes_back_to_the_caller() {
        let second = ScriptedProvider::new();
        let provider = Fallback::new(failing(&[Kind::ContextOverflow])).or(second.clone());

        assert_eq!(ask(&provider).await, Err(Kind::ContextOverflow));
        assert!(second.requests().is_empty());
    }

    #[tokio::test]
    async fn a_later_model_with_a_smaller_window_is_passed_over() {
        for overflow in [Kind::ContextOverflow, Kind::PayloadTooLarge] {
            let third = ScriptedProvider::new().say("third");
            let provider = Fallback::new(failing(&[Kind::Overloaded]))
                .or_model(failing(&[overflow]), "small")
                .or(third);

            assert_eq!(ask(&provider).await, Ok("third".to_owned()));
        }
    }

    #[tokio::test]
    async fn what_passes_with_the_first_choice_is_told_before_the_window_of_a_later_one() {
        for (first, expected) in [
            (Kind::Overloaded, Kind::Overloaded),
            (Kind::RateLimited, Kind::RateLimited),
            (Kind::Timeout, Kind::Timeout),
            // The first choice will not come back by itself, so that the window of the other counts.
            (Kind::Auth, Kind::ContextOverflow),
            (Kind::ModelNotFound, Kind::ContextOverflow),
        ] {
            let small = failing(&[Kind::ContextOverflow]);
            let provider = Fallback::new(failing(&[first])).or_model(small, "small");

            assert_eq!(ask(&provider).await, Err(expected), "{first:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_is_left_alone_is_asked_where_the_others_are_too_small() {
        let small = failing(&[Kind::ContextOverflow, Kind::ContextOverflow]);
        let first = failing(&[Kind::Overloaded, Kind::Overloaded]);
        let provider = Fallback::new(first.clone()).or_model(small, "small");

        assert_eq!(ask(&provider).await, Err(Kind::Overloaded));
        assert_eq!(ask(&provider).await, Err(Kind::Overloaded));
        assert_eq!(first.requests().len(), 2);
    }

    #[tokio::test]
    async fn an_answer_that_has_begun_is_not_begun_anew() {
        let second = ScriptedProvider::new();
        let provider = Fallback::new(ScriptedProvider::new().cut("half")).or(second.clone());

        assert_eq!(ask(&provider).await, Err(Kind::StreamCut));
        assert!(second.requests().is_empty());
    }

    #[tokio::test]
    async fn the_contract_of_providers_is_kept() {
        let provider = Fallback::new(ScriptedProvider::new());
        let request = Request::new("m", vec![Message::user("hi")]);

        conformance::provider(&provider, &request).await;
    }
}

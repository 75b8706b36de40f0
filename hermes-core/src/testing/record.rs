//! What passes between an agent and its model, kept for a look afterwards.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::provider::{
    Assembly, EventStream, ModelEvent, Provider, ProviderError, ProviderErrorKind, Request,
};

/// Wraps a provider and keeps every request and what came back. A clone shares provider and record.
///
/// It goes around the provider whose traffic is to be seen: outside of one that retries, it shows
/// what the agent saw; inside, what the endpoint did.
///
/// # Examples
///
/// ```
/// use hermes_core::{
///     message::Message,
///     provider::{ProviderExt, Request},
///     testing::{Recording, ScriptedProvider},
/// };
/// use tokio_util::sync::CancellationToken;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), hermes_core::provider::ProviderError> {
/// let model = Recording::new(ScriptedProvider::new().say("hello"));
/// let request = Request::new("any", vec![Message::user("hi")]);
///
/// model.complete(&request, &CancellationToken::new()).await?;
///
/// let exchanges = model.exchanges();
/// assert_eq!(exchanges[0].request, request);
/// assert_eq!(exchanges[0].text(), "hello");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Recording<P> {
    provider: Arc<P>,
    exchanges: Exchanges,
}

/// One request and what came back.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Exchange {
    /// What was asked.
    pub request: Request,
    /// The events that were taken from the stream, in order.
    pub events: Vec<ModelEvent>,
    /// The error that ended it, with its message, if one did.
    pub error: Option<(ProviderErrorKind, String)>,
}

#[derive(Clone, Default)]
struct Exchanges(Arc<Mutex<Vec<Exchange>>>);

impl<P: Provider> Recording<P> {
    /// Wraps `provider`.
    pub fn new(provider: P) -> Self {
        Self { provider: Arc::new(provider), exchanges: Exchanges::default() }
    }

    /// Returns the provider inside.
    pub fn inner(&self) -> &P {
        &self.provider
    }

    /// Returns all that has passed so far, in the order of the requests.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.exchanges.lock().clone()
    }

    /// Returns the requests so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.exchanges.lock().iter().map(|it| it.request.clone()).collect()
    }
}

impl Exchange {
    /// Returns the text that came back.
    pub fn text(&self) -> String {
        let mut assembly = Assembly::default();
        self.events.iter().cloned().for_each(|event| assembly.push(event));
        assembly.into_message().text()
    }
}

impl Exchanges {
    /// Notes a request and returns its place.
    fn begin(&self, request: Request) -> usize {
        let mut exchanges = self.lock();
        exchanges.push(Exchange { request, events: Vec::new(), error: None });
        exchanges.len().saturating_sub(1)
    }

    fn note(&self, place: usize, event: ModelEvent) {
        if let Some(exchange) = self.lock().get_mut(place) {
            exchange.events.push(event);
        }
    }

    fn fail(&self, place: usize, err: &ProviderError) {
        if let Some(exchange) = self.lock().get_mut(place) {
            exchange.error = Some((err.kind(), err.to_string()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Exchange>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Exchanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exchanges({})", self.lock().len())
    }
}

#[async_trait]
impl<P: Provider> Provider for Recording<P> {
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let place = self.exchanges.begin(request.clone());
        let events = self.provider.stream(request, token).await;
        let events = events.inspect_err(|err| self.exchanges.fail(place, err))?;
        let exchanges = self.exchanges.clone();
        let note = move |event: &Result<ModelEvent, ProviderError>| match event {
            Ok(event) => exchanges.note(place, event.clone()),
            Err(err) => exchanges.fail(place, err),
        };
        Ok(events.inspect(note).boxed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        message::{Message, StopReason, Usage},
        provider::ProviderExt,
        testing::{ScriptedProvider, conformance},
    };

    #[tokio::test]
    async fn errors_are_kept_with_what_came_before() {
        let error = ProviderError::new(ProviderErrorKind::Auth, "who are you");
        let model = Recording::new(ScriptedProvider::new().fail(error).cut("half"));
        let (request, token) = (Request::new("m", Vec::new()), CancellationToken::new());

        model.complete(&request, &token).await.unwrap_err();
        model.complete(&request, &token).await.unwrap_err();

        let found: Vec<_> =
            model.exchanges().iter().map(|it| (it.text(), it.error.clone())).collect();
        let auth = (ProviderErrorKind::Auth, "who are you".to_owned());
        let cut = (ProviderErrorKind::StreamCut, "the stream was cut".to_owned());
        assert_eq!(found, [(String::new(), Some(auth)), ("half".to_owned(), Some(cut))]);
    }

    #[tokio::test]
    async fn requests_at_once_keep_their_events_apart() {
        let model = Recording::new(ScriptedProvider::new().say("left").say("right"));
        let (request, token) = (Request::new("m", Vec::new()), CancellationToken::new());

        let (left, right) =
            tokio::join!(model.complete(&request, &token), model.complete(&request, &token));

        let texts: Vec<_> = model.exchanges().iter().map(Exchange::text).collect();
        assert_eq!(texts, [left.unwrap().text(), right.unwrap().text()]);
        let done = ModelEvent::Done { stop: StopReason::EndTurn, usage: Usage::new(100, 10) };
        assert!(model.exchanges().iter().all(|it| it.events.last() == Some(&done)));
    }

    #[tokio::test]
    async fn recording_changes_nothing() {
        let model = Recording::new(ScriptedProvider::new().otherwise("a longer answer"));

        conformance::provider(&model, &Request::new("m", vec![Message::user("hi")])).await;
    }
}

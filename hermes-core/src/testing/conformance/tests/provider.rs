use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::breaks;
use crate::{
    message::{Message, StopReason, Usage},
    provider::{EventStream, ModelEvent, Provider, ProviderError, Request},
    testing::{ScriptedProvider, conformance},
};

/// Never looks at the token.
#[derive(Debug)]
struct Deaf(ScriptedProvider);

#[async_trait]
impl Provider for Deaf {
    async fn stream(
        &self,
        request: &Request,
        _: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        self.0.stream(request, &CancellationToken::new()).await
    }
}

fn request() -> Request {
    Request::new("m", vec![Message::user("hi")])
}

fn text() -> ModelEvent {
    ModelEvent::Text("half".to_owned())
}

fn done() -> ModelEvent {
    ModelEvent::Done { stop: StopReason::EndTurn, usage: Usage::default() }
}

async fn check(events: Vec<ModelEvent>, promise: &str) {
    let model = ScriptedProvider::new().events(events);
    breaks(promise, conformance::provider(&model, &request())).await;
}

#[tokio::test]
async fn a_stream_without_an_end_is_found() {
    check(vec![text()], "one end").await;
    check(vec![], "one end").await;
}

#[tokio::test]
async fn a_stream_with_two_ends_is_found() {
    check(vec![text(), done(), done()], "one end").await;
}

#[tokio::test]
async fn a_call_without_a_name_is_found() {
    let call = ModelEvent::CallDelta { index: 0, id: None, name: None, arguments: "{}".to_owned() };

    check(vec![call, done()], "a call has no name").await;
}

#[tokio::test]
async fn a_memory_of_requests_is_found() {
    let model = ScriptedProvider::new().say("first answer").otherwise("other answer");

    breaks("no state", conformance::provider(&model, &request())).await;
}

#[tokio::test]
async fn a_deaf_provider_is_found() {
    let model = Deaf(ScriptedProvider::new().otherwise("a longer answer"));

    breaks("cancellable", conformance::provider(&model, &request())).await;
}

#[tokio::test(start_paused = true)]
async fn a_deaf_provider_is_found_while_it_waits() {
    for model in [ScriptedProvider::new().hang(), ScriptedProvider::new().say_then_hang("x")] {
        breaks("cancellable", conformance::pending_provider(&Deaf(model), &request())).await;
    }
}

#[tokio::test]
async fn a_request_that_waits_can_be_cancelled() {
    let model = ScriptedProvider::new().hang().say_then_hang("half");

    conformance::pending_provider(&model, &request()).await;
    conformance::pending_provider(&model, &request()).await;
}

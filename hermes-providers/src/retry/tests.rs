use futures::StreamExt;
use hermes_core::{
    message::Message,
    provider::{ProviderErrorKind as Kind, ProviderExt},
    testing::{ScriptedProvider, conformance},
};

use super::*;

fn error(kind: Kind) -> ProviderError {
    ProviderError::new(kind, "no")
}

fn request() -> Request {
    Request::new("m", vec![Message::user("hi")])
}

/// Asks a model whose first answers fail so. Returns the answer or the kind of the error, the number
/// of requests, and the seconds that passed.
async fn run(
    errors: impl IntoIterator<Item = ProviderError>,
    backoff: Backoff,
) -> (Result<String, Kind>, usize, f64) {
    let model = errors.into_iter().fold(ScriptedProvider::new(), ScriptedProvider::fail);
    let provider = Retry::new(model.clone()).with_backoff(backoff);
    let start = Instant::now();
    let answer = provider.complete(&request(), &CancellationToken::new()).await;
    let answer = answer.map(|it| it.text()).map_err(|err| err.kind());
    (answer, model.requests().len(), start.elapsed().as_secs_f64())
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_asked_again_with_growing_pauses() {
    let errors = [Kind::Overloaded, Kind::Timeout, Kind::Unreachable].map(error);

    let (answer, requests, seconds) = run(errors, Backoff::default()).await;

    assert_eq!((answer, requests), (Ok("done".to_owned()), 4));
    assert!((14.0..=21.1).contains(&seconds), "{seconds}");
}

#[tokio::test(start_paused = true)]
async fn what_stays_is_given_up_after_the_last_retry() {
    let errors = (0..9).map(|_| error(Kind::ServerError));

    let (answer, requests, _) = run(errors, Backoff::default().with_retries(2)).await;

    assert_eq!((answer, requests), (Err(Kind::ServerError), 3));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_helped_is_not_asked_again() {
    for kind in [Kind::BadRequest, Kind::Auth, Kind::Billing, Kind::ContextOverflow] {
        let (answer, requests, seconds) = run([error(kind)], Backoff::default()).await;

        assert_eq!((answer, requests), (Err(kind), 1));
        assert!(seconds < 0.1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_pause_of_the_endpoint_is_kept_to() {
    let asked = error(Kind::RateLimited).with_retry_after(Duration::from_secs(7));

    let (answer, _, seconds) = run([asked], Backoff::default()).await;

    assert_eq!(answer, Ok("done".to_owned()));
    assert!((7.0..7.1).contains(&seconds), "{seconds}");
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_asks_for_no_pause_is_not_hurried() {
    let asked = |seconds| error(Kind::RateLimited).with_retry_after(Duration::from_secs(seconds));

    let (answer, requests, seconds) = run([asked(0), asked(0), asked(1)], Backoff::default()).await;

    assert_eq!((answer, requests), (Ok("done".to_owned()), 4));
    assert!((14.0..=21.1).contains(&seconds), "{seconds}");
    let pauses: Vec<_> = (0..9)
        .map(|dice| Backoff::default().pause(0, &asked(0), Duration::ZERO, dice * 111))
        .collect();
    assert!(pauses.windows(2).all(|two| two[0] < two[1]), "{pauses:?}");
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_longer_than_patience_or_the_total_allow() {
    let asked = || error(Kind::RateLimited).with_retry_after(Duration::from_secs(700));
    let patient = Backoff::default().with_patience(Duration::from_secs(9000));

    let (answer, requests, _) = run([asked()], Backoff::default()).await;
    assert_eq!((answer, requests), (Err(Kind::RateLimited), 1));
    let (answer, ..) = run([asked()], patient).await;
    assert_eq!(answer, Ok("done".to_owned()));
    let (answer, requests, seconds) =
        run((0..3).map(|_| asked()), patient.with_total(Duration::from_secs(1500))).await;
    assert_eq!((answer, requests), (Err(Kind::RateLimited), 3));
    assert!(seconds < 1500.0);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_pause_ends_at_once() {
    let model = ScriptedProvider::new().fail(error(Kind::Overloaded));
    let provider = Retry::new(model.clone());
    let token = CancellationToken::new();
    let start = Instant::now();

    let request = request();
    let (answer, ()) = tokio::join!(provider.complete(&request, &token), async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        token.cancel();
    });

    assert_eq!(answer.unwrap_err().kind(), Kind::Cancelled);
    assert!(start.elapsed() < Duration::from_millis(20));
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_before_its_first_event_is_asked_for_again() {
    let model = ScriptedProvider::new().cut("").say("whole");

    let answer =
        Retry::new(model.clone()).complete(&request(), &CancellationToken::new()).await.unwrap();

    assert_eq!(answer.text(), "whole");
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_later_is_the_callers() {
    let model = ScriptedProvider::new().cut("half").say("whole");
    let provider = Retry::new(model.clone());

    let events = provider.stream(&request(), &CancellationToken::new()).await.unwrap();
    let events: Vec<_> = events.collect().await;

    assert_eq!(events.len(), 2);
    assert_eq!(events[1].as_ref().unwrap_err().kind(), Kind::StreamCut);
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn the_contract_of_providers_is_kept() {
    let provider = Retry::new(ScriptedProvider::new());

    conformance::provider(&provider, &request()).await;
}

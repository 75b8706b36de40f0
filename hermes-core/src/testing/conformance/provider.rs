//! The contract of [`Provider`].

use std::collections::HashSet;

use futures::{StreamExt, future::join};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{PATIENCE, broken, fails, succeeds};
use crate::{
    message::{Message, Role},
    provider::{
        Assembly, EventStream, ModelEvent, Provider, ProviderError, ProviderErrorKind, ProviderExt,
        Request,
    },
};

/// Checks a [`Provider`] against its contract.
///
/// It needs an endpoint that answers `request` with the same message every time, in more than one
/// event: a server on the loopback device, as a rule. It asks about ten times. Whether the provider
/// is tolerant depends on the wire and is for its own tests. Check what it does while nothing comes
/// with [`pending_provider`].
///
/// # Panics
///
/// Where the contract is broken.
///
/// # Examples
///
/// ```
/// use hermes_core::{
///     message::Message,
///     provider::Request,
///     testing::{ScriptedProvider, conformance},
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let model = ScriptedProvider::new().otherwise("a longer answer");
/// let request = Request::new("any", vec![Message::user("hello")]);
///
/// conformance::provider(&model, &request).await;
/// # }
/// ```
pub async fn provider(provider: &dyn Provider, request: &Request) {
    let suite = Suite { provider, request };
    let message = suite.has_one_end().await;
    suite.completes_to(&message).await;
    suite.has_no_state(&message).await;
    suite.is_cancelled_before().await;
    suite.is_cancelled_between().await;
    // A stream that nobody wants any more must not disturb the next.
    drop(suite.start(&CancellationToken::new()).await);
    suite.completes_to(&message).await;
}

/// Checks that a [`Provider`] can be cancelled while its endpoint says nothing.
///
/// It needs an endpoint that takes `request` and never finishes its answer; whether it sends
/// something first does not matter.
///
/// # Panics
///
/// Where the contract is broken.
///
/// # Examples
///
/// ```
/// use hermes_core::{
///     message::Message,
///     provider::Request,
///     testing::{ScriptedProvider, conformance},
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let model = ScriptedProvider::new().hang();
/// let request = Request::new("any", vec![Message::user("hello")]);
///
/// conformance::pending_provider(&model, &request).await;
/// # }
/// ```
pub async fn pending_provider(provider: &dyn Provider, request: &Request) {
    const PROMISE: &str = "cancellable";
    let token = CancellationToken::new();
    let cancel = async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        token.cancel();
    };
    let answer = timeout(PATIENCE, provider.complete(request, &token));
    let (answer, ()) = join(answer, cancel).await;
    let Ok(answer) = answer else {
        broken(PROMISE, format_args!("no end within {PATIENCE:?} of the cancellation"))
    };
    let err = fails(PROMISE, answer);
    assert!(is_cancelled(&err), "{PROMISE}: not `Cancelled` but {err:?}");
}

struct Suite<'a> {
    provider: &'a dyn Provider,
    request: &'a Request,
}

impl Suite<'_> {
    async fn start(&self, token: &CancellationToken) -> Result<EventStream, ProviderError> {
        match timeout(PATIENCE, self.provider.stream(self.request, token)).await {
            Ok(started) => started,
            Err(_) => broken("stream", format_args!("no answer within {PATIENCE:?}")),
        }
    }

    async fn has_one_end(&self) -> Message {
        const PROMISE: &str = "one end";
        let events = succeeds("stream", self.start(&CancellationToken::new()).await);
        let events = drain(events).await;
        let mut assembly = Assembly::default();
        let last = events.len().saturating_sub(1);
        for (place, event) in events.into_iter().enumerate() {
            let event = succeeds("stream", event);
            let is_done = matches!(event, ModelEvent::Done { .. });
            assert_eq!(is_done, place == last, "{PROMISE}: event {place} of {last} is {event:?}");
            assembly.push(event);
        }
        assert!(assembly.is_done(), "{PROMISE}: the stream ends without `Done`");
        let message = assembly.into_message();
        check_message(&message);
        message
    }

    async fn completes_to(&self, message: &Message) {
        let answer = self.complete().await;
        assert_eq!(said(&answer), said(message), "no state: the same request, another answer");
    }

    async fn complete(&self) -> Message {
        let token = CancellationToken::new();
        let answer = timeout(PATIENCE, self.provider.complete(self.request, &token)).await;
        let Ok(answer) = answer else {
            broken("stream", format_args!("no end within {PATIENCE:?}"))
        };
        succeeds("stream", answer)
    }

    async fn has_no_state(&self, message: &Message) {
        let (left, right) = join(self.complete(), self.complete()).await;
        for answer in [left, right] {
            let is_same = said(&answer) == said(message);
            assert!(is_same, "no state: two requests at once disturb each other: {answer:?}");
        }
    }

    async fn is_cancelled_before(&self) {
        const PROMISE: &str = "cancellable";
        let token = CancellationToken::new();
        token.cancel();
        let err = match self.start(&token).await {
            Err(err) => err,
            Ok(events) => last_error(PROMISE, drain(events).await),
        };
        assert!(is_cancelled(&err), "{PROMISE}: not `Cancelled` but {err:?}");
    }

    async fn is_cancelled_between(&self) {
        const PROMISE: &str = "cancellable";
        let token = CancellationToken::new();
        let mut events = succeeds("stream", self.start(&token).await);
        let first = timeout(PATIENCE, events.next()).await;
        let is_more =
            matches!(first, Ok(Some(Ok(ref it))) if !matches!(it, ModelEvent::Done { .. }));
        assert!(is_more, "the suite needs an answer of more than one event, not {first:?}");

        token.cancel();

        let err = last_error(PROMISE, drain(events).await);
        assert!(is_cancelled(&err), "{PROMISE}: not `Cancelled` but {err:?}");
    }
}

/// Returns all that is left of a stream.
async fn drain(events: EventStream) -> Vec<Result<ModelEvent, ProviderError>> {
    match timeout(PATIENCE, events.collect()).await {
        Ok(events) => events,
        Err(_) => broken("one end", format_args!("the stream has none within {PATIENCE:?}")),
    }
}

/// Returns the error that ends `events`, which must be the only one.
fn last_error(promise: &str, events: Vec<Result<ModelEvent, ProviderError>>) -> ProviderError {
    let errors = events.iter().filter(|it| it.is_err()).count();
    assert!(errors <= 1, "one end: {errors} errors in one stream");
    match events.into_iter().next_back() {
        Some(Err(err)) => err,
        other => broken(promise, format_args!("the stream ends with {other:?}")),
    }
}

fn is_cancelled(err: &ProviderError) -> bool {
    err.kind() == ProviderErrorKind::Cancelled
}

fn check_message(message: &Message) {
    assert_eq!(message.role, Role::Assistant, "stream: not an assistant message");
    let mut ids = HashSet::new();
    for call in message.calls() {
        assert!(!call.name.is_empty(), "stream: a call has no name");
        assert!(ids.insert(call.id.clone()), "stream: two calls have the id {}", call.id);
    }
}

/// What a message says, without ids, which an endpoint may make anew.
fn said(message: &Message) -> (String, Vec<(String, String)>) {
    let calls = message.calls();
    let calls = calls.map(|call| (call.name.to_string(), call.arguments.as_str().to_owned()));
    (message.text(), calls.collect())
}

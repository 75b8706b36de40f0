//! A model that says what it was told to say.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::play;
use crate::{
    message::{Call, CallId, Message, Part, Role, Usage},
    provider::{EventStream, ModelEvent, Provider, ProviderError, ProviderErrorKind, Request},
};

/// A provider that answers from a script, in order, and records what it was asked.
///
/// A clone shares script and record: keep one, give the other to the agent. Steps may be added while
/// the agent runs, through any clone. When the script has run out, the model says `done`, or what
/// [`otherwise`](Self::otherwise) or [`answer_with`](Self::answer_with) set.
///
/// Answers are streamed as a real endpoint does: text and arguments in several pieces, then one
/// [`ModelEvent::Done`]. A cancelled token ends a pending call or a running stream with
/// [`ProviderErrorKind::Cancelled`].
///
/// # Examples
///
/// ```
/// use hermes_core::{
///     message::Message,
///     provider::{ProviderExt, Request},
///     testing::ScriptedProvider,
/// };
/// use serde_json::json;
/// use tokio_util::sync::CancellationToken;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), hermes_core::provider::ProviderError> {
/// let model = ScriptedProvider::new().call("ping", json!({"host": "a"})).say("It is up.");
/// let token = CancellationToken::new();
/// let request = Request::new("any", vec![Message::user("is a up?")]);
///
/// let first = model.complete(&request, &token).await?;
/// let second = model.complete(&request, &token).await?;
///
/// assert_eq!(first.calls().map(|call| &*call.name).collect::<Vec<_>>(), ["ping"]);
/// assert_eq!(second.text(), "It is up.");
/// assert_eq!(model.requests(), [request.clone(), request]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct ScriptedProvider(Arc<Mutex<Script>>);

struct Script {
    steps: VecDeque<Step>,
    otherwise: Otherwise,
    usage: Usage,
    last_call: u64,
    requests: Vec<Request>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            steps: VecDeque::new(),
            otherwise: Otherwise::Say("done".to_owned()),
            usage: Usage::new(100, 10),
            last_call: 0,
            requests: Vec::new(),
        }
    }
}

/// One answer of the script.
enum Step {
    /// Whole messages are cut into events when they are asked for.
    Reply(Message, Usage),
    /// The call itself fails.
    Fail(ProviderError),
    /// These events and nothing else.
    Events(Vec<ModelEvent>),
    /// This text, and then the error.
    Break(String, ProviderError),
    /// This text if there is any, and then nothing until the token is cancelled.
    Hang(Option<String>),
}

#[derive(Clone)]
enum Otherwise {
    Say(String),
    Compute(Arc<dyn Fn(&Request) -> Message + Send + Sync>),
}

impl ScriptedProvider {
    /// Creates a model with an empty script, which says `done` to everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a model that is a pure function of the request.
    ///
    /// The same as [`new`](Self::new) and [`answer_with`](Self::answer_with).
    pub fn from_fn(answer: impl Fn(&Request) -> Message + Send + Sync + 'static) -> Self {
        Self::new().answer_with(answer)
    }

    /// Adds an answer that says `text`.
    #[must_use]
    pub fn say(self, text: impl Into<String>) -> Self {
        self.reply(Message::assistant(text))
    }

    /// Adds an answer that calls one tool. The call gets an id of its own.
    #[must_use]
    pub fn call(self, name: impl Into<Arc<str>>, arguments: Value) -> Self {
        self.calls([(name, arguments)])
    }

    /// Adds an answer that calls several tools at once. Each call gets an id of its own.
    #[must_use]
    pub fn calls<N: Into<Arc<str>>>(self, calls: impl IntoIterator<Item = (N, Value)>) -> Self {
        let parts = calls.into_iter().map(|(name, arguments)| call(name, arguments)).collect();
        self.reply(Message::new(Role::Assistant, parts))
    }

    /// Adds an answer that says `text` and calls one tool.
    #[must_use]
    pub fn say_and_call(
        self,
        text: impl Into<String>,
        name: impl Into<Arc<str>>,
        arguments: Value,
    ) -> Self {
        let parts = vec![Part::Text(text.into()), call(name, arguments)];
        self.reply(Message::new(Role::Assistant, parts))
    }

    /// Adds `message` as an answer: its text, reasoning and calls, in that order.
    ///
    /// Its stop reason and usage are reported if it has them; otherwise the stop reason follows from
    /// the parts, and the usage is what [`usage`](Self::usage) set. A call whose id is empty gets an
    /// id of its own.
    #[must_use]
    pub fn reply(self, message: Message) -> Self {
        let usage = self.lock().usage;
        self.step(Step::Reply(message, usage))
    }

    /// Adds a request that fails before its first event.
    #[must_use]
    pub fn fail(self, error: ProviderError) -> Self {
        self.step(Step::Fail(error))
    }

    /// Adds an answer of exactly `events`. Without a [`ModelEvent::Done`] the stream just ends.
    #[must_use]
    pub fn events(self, events: Vec<ModelEvent>) -> Self {
        self.step(Step::Events(events))
    }

    /// Adds an answer that says `text` and then breaks off with [`ProviderErrorKind::StreamCut`].
    #[must_use]
    pub fn cut(self, text: impl Into<String>) -> Self {
        let error = ProviderError::new(ProviderErrorKind::StreamCut, "the stream was cut");
        self.say_then_fail(text, error)
    }

    /// Adds an answer that says `text` and then breaks off with `error`.
    #[must_use]
    pub fn say_then_fail(self, text: impl Into<String>, error: ProviderError) -> Self {
        self.step(Step::Break(text.into(), error))
    }

    /// Adds a request that is never answered: it waits until its token is cancelled.
    #[must_use]
    pub fn hang(self) -> Self {
        self.step(Step::Hang(None))
    }

    /// Adds an answer that says `text` and then nothing more until its token is cancelled.
    #[must_use]
    pub fn say_then_hang(self, text: impl Into<String>) -> Self {
        self.step(Step::Hang(Some(text.into())))
    }

    /// Sets what the answers added from here on report as their usage, and those given when the
    /// script has run out. 100 prompt tokens and 10 generated ones by default.
    #[must_use]
    pub fn usage(self, usage: Usage) -> Self {
        self.lock().usage = usage;
        self
    }

    /// Sets what the model says when the script has run out. `done` by default.
    #[must_use]
    pub fn otherwise(self, text: impl Into<String>) -> Self {
        self.lock().otherwise = Otherwise::Say(text.into());
        self
    }

    /// Sets a function of the request that answers when the script has run out.
    ///
    /// The message is treated as by [`reply`](Self::reply).
    #[must_use]
    pub fn answer_with(self, answer: impl Fn(&Request) -> Message + Send + Sync + 'static) -> Self {
        self.lock().otherwise = Otherwise::Compute(Arc::new(answer));
        self
    }

    /// Returns what the model was asked so far, oldest first, failed requests included.
    pub fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    /// Returns the latest request, `None` if there was none.
    pub fn last_request(&self) -> Option<Request> {
        self.lock().requests.last().cloned()
    }

    /// Returns how many answers of the script have not been asked for yet.
    pub fn remaining(&self) -> usize {
        self.lock().steps.len()
    }

    fn step(self, step: Step) -> Self {
        self.lock().steps.push_back(step);
        self
    }

    /// Notes `request` and takes the step that answers it.
    fn next(&self, request: &Request) -> Step {
        let (step, otherwise, usage) = {
            let mut script = self.lock();
            script.requests.push(request.clone());
            (script.steps.pop_front(), script.otherwise.clone(), script.usage)
        };
        // The function runs without the lock, so that it may look at its own record.
        step.unwrap_or_else(|| match otherwise {
            Otherwise::Say(text) => Step::Reply(Message::assistant(text), usage),
            Otherwise::Compute(answer) => Step::Reply(answer(request), usage),
        })
    }

    fn next_call_id(&self) -> CallId {
        let mut script = self.lock();
        script.last_call = script.last_call.saturating_add(1);
        CallId::new(format!("call_{}", script.last_call))
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn call(name: impl Into<Arc<str>>, arguments: Value) -> Part {
    Part::Call(Call::new("", name, arguments))
}

#[async_trait]
impl Provider for ScriptedProvider {
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let step = self.next(request);
        if token.is_cancelled() {
            return Err(play::cancelled());
        }
        let token = token.clone();
        match step {
            Step::Reply(message, usage) => {
                let events = play::events_of(&message, usage, || self.next_call_id());
                Ok(play::events(events, token))
            }
            Step::Fail(error) => Err(error),
            Step::Events(events) => Ok(play::events(events, token)),
            Step::Break(text, error) => {
                let last = stream::once(async move { Err(error) });
                Ok(play::events(play::text(&text), token).chain(last).boxed())
            }
            Step::Hang(None) => {
                token.cancelled().await;
                Err(play::cancelled())
            }
            Step::Hang(Some(text)) => Ok(play::then_hang(play::text(&text), token)),
        }
    }
}

impl fmt::Debug for ScriptedProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = self.lock();
        f.debug_struct("ScriptedProvider")
            .field("remaining", &script.steps.len())
            .field("requests", &script.requests.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::TryStreamExt;
    use serde_json::json;
    use tokio::time::timeout;

    use super::*;
    use crate::{
        message::{Reasoning, StopReason},
        provider::{Assembly, ProviderExt},
    };

    const SOON: Duration = Duration::from_secs(5);

    fn request() -> Request {
        Request::new("m", vec![Message::user("hi")])
    }

    async fn ask(model: &ScriptedProvider) -> Result<Message, ProviderError> {
        model.complete(&request(), &CancellationToken::new()).await
    }

    #[tokio::test]
    async fn text_arrives_in_several_pieces() {
        let model = ScriptedProvider::new().say("one two three four");

        let stream = model.stream(&request(), &CancellationToken::new()).await.unwrap();
        let events: Vec<_> = stream.try_collect().await.unwrap();

        let texts = events.iter().filter(|it| matches!(it, ModelEvent::Text(_))).count();
        assert!(2 < texts, "{events:?}");
        assert!(matches!(events.last(), Some(ModelEvent::Done { stop: StopReason::EndTurn, .. })));
    }

    #[tokio::test]
    async fn calls_have_ids_of_their_own() {
        let model = ScriptedProvider::new()
            .calls([("a", json!({"x": 1})), ("b", json!({}))])
            .call("a", json!({}));

        let (first, second) = (ask(&model).await.unwrap(), ask(&model).await.unwrap());

        let calls: Vec<_> = first.calls().chain(second.calls()).cloned().collect();
        assert_eq!(
            calls,
            [
                Call::new("call_1", "a", json!({"x": 1})),
                Call::new("call_2", "b", json!({})),
                Call::new("call_3", "a", json!({})),
            ]
        );
        assert_eq!(first.stop, Some(StopReason::ToolCalls));
    }

    #[tokio::test]
    async fn a_reply_arrives_as_it_was_given() {
        let thought = Reasoning::new("hm").with_opaque("p", json!("sig"));
        let parts = vec![
            Part::Reasoning(thought),
            Part::Text("so — 日本語".to_owned()),
            Part::Call(Call::new("mine", "a", json!({"text": "é"}))),
        ];
        let message = Message::new(Role::Assistant, parts)
            .with_stop(StopReason::Length)
            .with_usage(Usage::new(7, 3));
        let model = ScriptedProvider::new().reply(message.clone());

        assert_eq!(ask(&model).await.unwrap(), message);
    }

    #[tokio::test]
    async fn an_empty_script_says_what_it_was_told_to() {
        let model = ScriptedProvider::new();
        assert_eq!(ask(&model).await.unwrap().text(), "done");

        let model = model.otherwise("over");
        assert_eq!(ask(&model).await.unwrap().text(), "over");

        let model = model.answer_with(|request| Message::assistant(request.model.to_string()));
        assert_eq!(ask(&model).await.unwrap().text(), "m");
    }

    #[tokio::test]
    async fn usage_holds_from_where_it_is_set() {
        let model = ScriptedProvider::new().say("a").usage(Usage::new(1, 2)).say("b");

        assert_eq!(ask(&model).await.unwrap().usage, Some(Usage::new(100, 10)));
        assert_eq!(ask(&model).await.unwrap().usage, Some(Usage::new(1, 2)));
    }

    #[tokio::test]
    async fn failures_come_where_they_stand_in_the_script() {
        let error = |kind| ProviderError::new(kind, "no");
        let model = ScriptedProvider::new()
            .fail(error(ProviderErrorKind::Auth))
            .cut("half")
            .events(vec![ModelEvent::Text("x".to_owned())]);

        let stream = model.stream(&request(), &CancellationToken::new()).await;
        assert_eq!(stream.err().unwrap().kind(), ProviderErrorKind::Auth);

        let mut stream = model.stream(&request(), &CancellationToken::new()).await.unwrap();
        let mut assembly = Assembly::default();
        let error = loop {
            match stream.next().await.unwrap() {
                Ok(event) => assembly.push(event),
                Err(err) => break err,
            }
        };
        assert_eq!(error.kind(), ProviderErrorKind::StreamCut);
        assert_eq!(assembly.into_partial(StopReason::Interrupted).unwrap().text(), "half");
        assert!(stream.next().await.is_none());

        assert_eq!(ask(&model).await.unwrap_err().kind(), ProviderErrorKind::StreamCut);
        assert_eq!((model.requests().len(), model.remaining()), (3, 0));
    }

    #[tokio::test]
    async fn a_hanging_request_ends_with_its_token() {
        let model = ScriptedProvider::new().hang().say_then_hang("half");
        for _ in 0..2 {
            let token = CancellationToken::new();
            let request = request();
            let (outcome, ()) =
                tokio::join!(timeout(SOON, model.complete(&request, &token)), async {
                    tokio::task::yield_now().await;
                    token.cancel();
                });
            assert_eq!(outcome.unwrap().unwrap_err().kind(), ProviderErrorKind::Cancelled);
        }
    }

    #[tokio::test]
    async fn a_running_stream_ends_with_its_token() {
        let model = ScriptedProvider::new().say("one two three four");
        let token = CancellationToken::new();

        let mut stream = model.stream(&request(), &token).await.unwrap();
        stream.next().await.unwrap().unwrap();
        token.cancel();

        let error = stream.next().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ProviderErrorKind::Cancelled);
        assert!(stream.next().await.is_none());
    }
}

//! Conversations that outgrow the model's window.

use std::{
    sync::{Arc, Mutex},
    time::SystemTime,
};

use futures::StreamExt;
use hermes_core::{
    CancellationToken, Cost, Pricing,
    agent::{AgentError, AgentEvent, Finish},
    compress::{
        CompressCause, CompressError, CompressState, CompressTask, Compressed, Compressor,
        Summariser, request_tokens,
    },
    message::{Call, Message, MessageId, Part, Role, StopReason, Usage},
    prompt::{FixedSection, PromptSource, Section, Slot},
    provider::{EventStream, ModelEvent, Provider, ProviderError, ProviderErrorKind, Request},
    store::{SessionId, SessionStore},
    testing::{InMemorySessions, ScriptedProvider},
    tool::{self, ToolOutput},
    version::Version,
};
use serde_json::json;

use crate::support::{Echo, agent, assert_paired, echo};

/// A model that says nothing of what it used, so that sizes are estimated.
fn model() -> ScriptedProvider {
    ScriptedProvider::new().usage(Usage::default())
}

/// What makes room at 1,000 tokens and keeps next to nothing.
fn eager() -> Summariser {
    Summariser::new(1_000).head_messages(0).tail_messages(1).tail_tokens(0)
}

fn long() -> String {
    "word ".repeat(1_500)
}

fn overflow() -> ProviderError {
    ProviderError::new(ProviderErrorKind::ContextOverflow, "too many tokens")
}

/// Sends `text` and returns the events beside texts and calls.
async fn events(session: &hermes_core::Session, text: &str) -> Vec<AgentEvent> {
    let events: Vec<_> = session.send(text).collect().await;
    let is_told =
        |it: &AgentEvent| matches!(it, AgentEvent::Compressed { .. } | AgentEvent::Warning(_));
    session.idle().await;
    events.into_iter().filter(is_told).collect()
}

#[tokio::test]
async fn room_is_made_before_a_request_over_the_threshold() {
    let store = Arc::new(InMemorySessions::default());
    let model = model().say(long()).say("GOAL: the needle").say("It goes on.");
    let agent = agent(&model).compressor(eager()).sessions(store.clone()).build().unwrap();
    let session = agent.session_as(SessionId::new("s1"));
    session.send("Find the needle.").await.unwrap();

    let told = events(&session, "And now?").await;

    assert!(
        matches!(told[..], [AgentEvent::Compressed { before, after }] if after < before),
        "{told:?}"
    );
    let last = model.last_request().unwrap();
    let shown: Vec<_> = last.messages.iter().flat_map(|it| it.parts.clone()).collect();
    let shown = format!("{shown:?}");
    assert!(shown.contains("the needle") && shown.contains("And now?"), "{shown}");
    assert!(!shown.contains("word word"), "{shown}");
    assert_eq!(session.history().last().unwrap().text(), "It goes on.");
    let stored = store.load(session.id()).await.unwrap().unwrap();
    assert_eq!(stored.messages, *session.history());
    assert_ne!(stored.state.compress, CompressState::default());
    assert!(!store.search("word", 5).await.unwrap().is_empty(), "what was replaced is searchable");
    // The frozen part of the request is what it was.
    let first = &model.requests()[0];
    assert_eq!((&first.system, &first.tools), (&last.system, &last.tools));
}

#[tokio::test]
async fn a_resumed_conversation_goes_on_from_the_summary() {
    let store = Arc::new(InMemorySessions::default());
    let model = model().say(long()).say("GOAL: the needle").say("Yes.").say("Still.");
    let agent = agent(&model).compressor(eager()).sessions(store.clone()).build().unwrap();
    let id = SessionId::new("s1");
    let session = agent.session_as(id.clone());
    session.send("Find the needle.").await.unwrap();
    session.send("And now?").await.unwrap();
    session.close().await;

    let resumed = agent.resume(&id).await.unwrap().unwrap();
    let turn = resumed.send("Still?").await.unwrap();

    assert_eq!(turn.text, "Still.");
    assert_eq!(resumed.history()[..2], session.history()[..2]);
    let ids: Vec<_> = resumed.history().iter().map(|it| it.id.0).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
}

#[tokio::test]
async fn a_refused_request_is_made_shorter_and_sent_again() {
    let model = model()
        .say(long())
        .fail(overflow())
        .say("GOAL: the needle")
        .call("echo", json!({"text": "on"}))
        .say("It goes on.");
    let compressor = Summariser::new(1_000_000).head_messages(0).tail_messages(1);
    let session = agent(&model).compressor(compressor).build().unwrap().session();
    session.send("Find the needle.").await.unwrap();

    let turn = session.send("And now?").await.unwrap();

    assert_eq!((turn.text.as_str(), turn.finish), ("It goes on.", Finish::Answered));
    assert_paired(&session.history());
    assert_eq!(model.remaining(), 0);
}

/// Refuses requests of more than `window` tokens, as an endpoint does.
#[derive(Debug)]
struct Narrow {
    model: ScriptedProvider,
    window: u64,
}

#[hermes_core::async_trait]
impl Provider for Narrow {
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        if self.window < request_tokens(request, MessageId::default()) {
            return Err(overflow());
        }
        self.model.stream(request, token).await
    }
}

#[tokio::test]
async fn one_round_of_long_results_does_not_end_the_conversation() {
    let calls = |at: usize| {
        let call = |it: usize| format!("c{at}-{it}");
        let call = |it| Part::Call(Call::new(call(it).as_str(), "read", json!({"text": ""})));
        Message::new(Role::Assistant, (0..2).map(call).collect())
    };
    for threshold in [24_000, 1_000_000] {
        let read = tool::from_fn("read", "Reads.", |_: Echo, _| async {
            Ok(ToolOutput::done("word ".repeat(19_000)))
        });
        let model = model().reply(calls(0)).say("Read.").reply(calls(1)).otherwise("NOTES");
        let narrow = Narrow { model, window: 32_000 };
        let session = hermes_core::Agent::builder(narrow)
            .model("m")
            .tool(read)
            .compressor(Summariser::new(threshold))
            .build()
            .unwrap()
            .session();

        let turn = session.send("Read both.").await.unwrap();
        let next = session.send("And again.").await.unwrap();

        assert_eq!((turn.finish, next.finish), (Finish::Answered, Finish::Answered));
        assert_paired(&session.history());
        let last = session.history().iter().rev().find(|it| it.has_words_of_user()).cloned();
        assert_eq!(last.unwrap().text(), "And again.");
    }
}

#[tokio::test]
async fn a_request_that_stays_too_long_is_given_up() {
    let refuse = |model: ScriptedProvider| model.fail(overflow()).say("GOAL: shorter");
    let model = refuse(refuse(model().say(long()))).fail(overflow());
    let compressor = Summariser::new(1_000_000).head_messages(0).tail_messages(1);
    let session = agent(&model).compressor(compressor).build().unwrap().session();
    session.send("Find the needle.").await.unwrap();

    let err = session.send("And now?").await.unwrap_err();

    let AgentError::Provider(err) = err else { panic!("{err:?}") };
    assert_eq!(err.kind(), ProviderErrorKind::ContextOverflow);
    assert!(model.requests().len() <= 6, "{}", model.requests().len());
    let turn = session.send("Shorter, then.").await.unwrap();
    assert!(turn.is_completed());
}

#[tokio::test]
async fn without_a_compressor_an_overflow_is_an_error() {
    let model = model().fail(overflow());
    let session = agent(&model).build().unwrap().session();

    let err = session.send("Hi.").await.unwrap_err();

    assert!(matches!(err, AgentError::Provider(_)), "{err:?}");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_failed_summary_changes_nothing_and_the_turn_goes_on() {
    let model = model().say(long()).say("  ").say("It goes on.");
    let session = agent(&model).compressor(eager()).build().unwrap().session();
    session.send("Find the needle.").await.unwrap();
    let before = session.history();

    let told = events(&session, "And now?").await;

    assert!(matches!(&told[..], [AgentEvent::Warning(why)] if why.contains("blank")), "{told:?}");
    assert_eq!(session.history()[..2], before[..]);
    assert_eq!(session.history().len(), 4);
}

#[tokio::test]
async fn what_the_loop_asks_by_itself_is_not_taken_for_the_users_last_message() {
    let cut = Message::assistant(long()).with_stop(StopReason::Length);
    let model = model().reply(cut).say("GOAL: find it").say("It goes on.");
    let session = agent(&model).compressor(eager()).build().unwrap().session();

    let turn = session.send("Find the needle.").await.unwrap();

    assert_eq!(turn.finish, Finish::Answered);
    let last = model.last_request().unwrap();
    assert_eq!(last.messages.len(), 1, "{:#?}", last.messages);
    assert_eq!(last.messages[0].text(), "Find the needle.");
    let asked = format!("{:?}", last.messages[0].parts);
    assert!(asked.contains("Go on exactly where it stopped"), "{asked}");
}

#[tokio::test]
async fn a_history_without_the_users_words_is_not_taken() {
    let cut = Message::assistant("One, two, ").with_stop(StopReason::Length);
    let model = model().reply(cut).say("three");
    let odd = Odd(
        |task| task.request.messages[task.request.messages.len() - 1..].to_vec(),
        Arc::default(),
    );
    let session = agent(&model).compressor(odd).build().unwrap().session();

    session.send("Count.").await.unwrap();

    assert_eq!(session.history()[0].text(), "Count.");
}

/// A price that tells the models apart.
#[derive(Debug)]
struct ByModel;

impl Pricing for ByModel {
    fn cost(&self, model: &str, usage: &Usage) -> Option<Cost> {
        let each = if model == "other" { 100 } else { 1 };
        Some(Cost::from_cents(usage.total() * each))
    }
}

#[tokio::test]
async fn a_summary_is_paid_for_whatever_comes_of_it_and_as_what_its_model_costs() {
    let by_other = |text: &str| {
        let done = ModelEvent::Done { stop: StopReason::EndTurn, usage: Usage::new(5, 2) };
        vec![ModelEvent::Model("other".into()), ModelEvent::Text(text.to_owned()), done]
    };
    for (summary, is_shorter) in [("GOAL: the needle", true), (" ", false)] {
        let model = ScriptedProvider::new()
            .usage(Usage::new(0, 1))
            .say(long())
            .events(by_other(summary))
            .say("Yes.");
        let session = agent(&model).compressor(eager()).pricing(ByModel).build().unwrap().session();
        session.send("Find the needle.").await.unwrap();

        let turn = session.send("And now?").await.unwrap();

        let is_gone = session.history().len() == 2;
        assert_eq!(is_gone, is_shorter);
        assert_eq!(turn.usage.total(), 8);
        assert_eq!(turn.cost, Some(Cost::from_cents(7 * 100 + 1)));
        assert_eq!(session.spending().requests, 3);
    }
}

/// A compressor that does what it is told, and notes why it was asked.
#[derive(Debug)]
struct Odd(fn(&CompressTask) -> Vec<Message>, Arc<Mutex<Vec<CompressCause>>>);

#[hermes_core::async_trait]
impl Compressor for Odd {
    fn is_due(&self, _: u64, _: SystemTime, _: &CompressState) -> bool {
        true
    }

    async fn compress(
        &self,
        task: &CompressTask,
        _: &mut CompressState,
    ) -> Result<Compressed, CompressError> {
        self.1.lock().unwrap().push(task.cause);
        Ok(Compressed::new(self.0(task), 2, 1))
    }
}

#[tokio::test]
async fn what_a_compressor_gives_is_checked_before_it_is_taken() {
    let odd: [fn(&CompressTask) -> Vec<Message>; 4] = [
        |_| Vec::new(),
        |_| vec![Message::user("what was it?")],
        |_| panic!("as asked"),
        |task| task.request.messages.iter().filter(|it| it.role != Role::Tool).cloned().collect(),
    ];
    for odd in odd {
        let model = model().call("echo", json!({"text": "on"})).say("done");
        let causes = Arc::default();
        let session =
            agent(&model).compressor(Odd(odd, Arc::clone(&causes))).build().unwrap().session();

        let turn = session.send("Go.").await.unwrap();

        assert_eq!(turn.text, "done");
        assert_eq!(session.history().len(), 4);
        assert_paired(&session.history());
        assert_eq!(causes.lock().unwrap().len(), 2, "once before each request");
    }
}

#[tokio::test]
async fn a_summary_that_hangs_ends_with_the_turn() {
    let model = model().say(long()).hang();
    let session = agent(&model).compressor(eager()).build().unwrap().session();
    session.send("Find the needle.").await.unwrap();
    let before = session.history();

    let reply = session.send("And now?");
    tokio::task::yield_now().await;
    while model.requests().len() < 2 {
        tokio::task::yield_now().await;
    }
    session.cancel();
    let turn = reply.await.unwrap();

    assert_eq!(turn.finish, Finish::Cancelled);
    assert_eq!(session.history()[..2], before[..]);
}

/// A compressor that never comes to an end and does not heed its token.
#[derive(Debug)]
struct Deaf;

#[hermes_core::async_trait]
impl Compressor for Deaf {
    fn is_due(&self, _: u64, _: SystemTime, _: &CompressState) -> bool {
        true
    }

    async fn compress(
        &self,
        _: &CompressTask,
        _: &mut CompressState,
    ) -> Result<Compressed, CompressError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_compressor_that_does_not_heed_the_token_ends_with_the_turn() {
    let model = ScriptedProvider::new().say("again");
    let session = agent(&model).compressor(Deaf).build().unwrap().session();

    let reply = session.send("Go.");
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    session.cancel();

    assert_eq!(reply.await.unwrap().finish, Finish::Cancelled);
    assert_eq!(model.requests().len(), 0);
}

/// A section that shows version `x` of `notes`.
#[derive(Debug)]
struct Notes;

#[hermes_core::async_trait]
impl PromptSource for Notes {
    fn slot(&self) -> Slot {
        Slot::Memory
    }

    fn needs_tool(&self) -> Option<&str> {
        None
    }

    async fn render(&self, _: &[&str]) -> Section {
        Section::new("notes").showing("notes", Version::of("x"))
    }
}

#[tokio::test]
async fn what_was_summarised_counts_as_unseen_but_not_what_the_prompt_shows() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&seen);
    let view = tool::from_fn("view", "Views.", move |_: Echo, context| {
        let of = |name| context.seen().version(name).is_some();
        record.lock().unwrap().push((of("notes"), of("file")));
        context.seen().note("notes", Version::of("y"));
        context.seen().note("file", Version::of("z"));
        async { Ok(ToolOutput::done(long())) }
    });
    let model = model()
        .call("view", json!({"text": ""}))
        .say("viewed")
        .call("view", json!({"text": ""}))
        .say("done");
    let agent = hermes_core::Agent::builder(model.clone())
        .model("m")
        .section(FixedSection::new(Slot::Identity, "You view."))
        .section(Notes)
        .tool(view)
        .tool(echo())
        .compressor(Summariser::new(1_000).head_messages(0).tail_messages(2).tail_tokens(0))
        .build()
        .unwrap();

    let session = agent.session();
    session.send("View.").await.unwrap();
    session.send("Again.").await.unwrap();

    assert_eq!(*seen.lock().unwrap(), [(true, false), (true, false)], "{:#?}", model.requests());
}

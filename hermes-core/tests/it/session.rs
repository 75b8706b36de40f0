//! Conversations over several turns, processes and stores.

use std::sync::Arc;

use hermes_core::{
    Session,
    agent::{AgentError, Finish, TurnInput},
    message::{Call, CallStatus, Message, Part, Role},
    prompt::{PromptSource, Section, Slot},
    store::{ListOptions, SessionId, SessionState, SessionStore, StoreError, StoredSession},
    testing::{InMemorySessions, RecordingAudit, ScriptedProvider},
    tool::Extensions,
};
use serde_json::json;

use crate::support::{Troubled, agent, assert_paired, down, full, results};

#[derive(Debug)]
struct Counting(std::sync::atomic::AtomicU32);

#[hermes_core::async_trait]
impl PromptSource for Counting {
    fn slot(&self) -> Slot {
        Slot::Memory
    }

    fn needs_tool(&self) -> Option<&str> {
        None
    }

    async fn render(&self, tools: &[&str]) -> Section {
        let count = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Section::new(format!("read {count} with {tools:?}")).with_warning("half of it is gone")
    }
}

#[tokio::test]
async fn the_prompt_is_read_once_and_then_frozen() {
    let model = ScriptedProvider::new();
    let agent = agent(&model).section(Counting(0.into())).build().unwrap();
    let session = agent.session();

    session.send("One.").await.unwrap();
    session.send("Two.").await.unwrap();
    agent.session().send("Another.").await.unwrap();

    let systems: Vec<_> = model.requests().into_iter().map(|it| it.system.to_string()).collect();
    assert_eq!(systems[0], "You echo.\n\nread 0 with [\"echo\"]");
    assert_eq!(systems[1], systems[0]);
    assert!(systems[2].contains("read 1"));
}

#[tokio::test]
async fn a_stored_session_goes_on_where_it_was() {
    let store = Arc::new(InMemorySessions::default());
    let model = ScriptedProvider::new().call("echo", json!({"text": "one"})).say("one it is");
    let id = SessionId::new("s1");
    {
        let agent =
            agent(&model).section(Counting(0.into())).sessions(store.clone()).build().unwrap();
        let session = agent.session_as(id.clone());
        session.send("Say one.").await.unwrap();
        session.close().await;
    }

    let agent = agent(&model).section(Counting(5.into())).sessions(store.clone()).build().unwrap();
    let session = agent.resume(&id).await.unwrap().unwrap();
    session.send("And now?").await.unwrap();

    let requests = model.requests();
    assert_eq!(requests[2].system, requests[0].system);
    assert_eq!(requests[2].messages.len(), 5);
    assert_eq!(requests[2].messages[..3], requests[1].messages[..]);
    let stored = store.load(&id).await.unwrap().unwrap();
    assert_eq!(stored.messages, *session.history());
    assert_eq!(stored.state.turns, 2);
    assert_eq!(stored.state.turn, None);
    assert_eq!(stored.state.spending.usage.input, 300);
}

#[tokio::test]
async fn a_session_has_one_writer() {
    let store = Arc::new(InMemorySessions::default());
    let model = ScriptedProvider::new();
    let agent = agent(&model).sessions(store).build().unwrap();
    let id = SessionId::new("s1");
    let first = agent.session_as(id.clone());
    first.send("Hi.").await.unwrap();

    let second = agent.resume(&id).await;

    assert!(matches!(second, Err(StoreError::Locked(_))), "{second:?}");
    first.close().await;
    assert!(agent.resume(&id).await.unwrap().is_some());
    assert!(matches!(first.send("Hi.").await, Err(AgentError::Closed)));
}

#[tokio::test]
async fn a_new_session_does_not_write_over_an_old_one() {
    let store = Arc::new(InMemorySessions::default());
    let model = ScriptedProvider::new();
    let agent = agent(&model).sessions(store).build().unwrap();
    let id = SessionId::new("s1");
    let first = agent.session_as(id.clone());
    first.send("Hi.").await.unwrap();
    first.close().await;

    let err = agent.session_as(id).send("Hi.").await.unwrap_err();

    assert!(matches!(err, AgentError::Store(StoreError::Conflict { .. })), "{err:?}");
}

#[tokio::test]
async fn open_calls_of_a_dead_process_are_answered() {
    let model = ScriptedProvider::new().say("hello again");
    let agent = agent(&model).build().unwrap();
    let call = Part::Call(Call::new("a", "echo", "{}"));
    let reply = Message::new(Role::Assistant, vec![call]);
    let stored = StoredSession::new(vec![Message::user("Go."), reply], SessionState::default());

    let session = agent.adopt(SessionId::new("s1"), stored);
    session.send("Hello?").await.unwrap();

    assert_paired(&session.history());
    assert_eq!(results(&session.history())[0].status, CallStatus::Cancelled);
}

#[tokio::test]
async fn a_store_that_fails_is_reported() {
    let (store, _) = Troubled::new(|_, _| Err(full()));
    let model = ScriptedProvider::new();
    let session = agent(&model).sessions(store).build().unwrap().session();

    let err = session.send("Hi.").await.unwrap_err();

    assert_eq!(
        err.describe(),
        "the conversation could not be kept: the session store failed: disk full"
    );
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_shut_down_agent_takes_no_more() {
    let model = ScriptedProvider::new().hang();
    let agent = agent(&model).build().unwrap();
    let session = agent.session();
    let reply = session.send("One.");

    agent.shutdown().await;

    assert_eq!(reply.await.unwrap().finish, Finish::Cancelled);
    assert!(matches!(session.send("Two.").await, Err(AgentError::Closed)));
}

/// Returns who said what, in short.
fn said(session: &Session) -> Vec<String> {
    let line = |it: &Message| format!("{:?} {}", it.role, it.text());
    session.history().iter().map(line).collect()
}

#[tokio::test]
async fn a_turn_that_failed_runs_again_without_its_message_being_sent_again() {
    let model = ScriptedProvider::new()
        .call("echo", json!({"text": "one"}))
        .fail(down())
        .fail(down())
        .say("done");
    let store = InMemorySessions::default();
    let agent = agent(&model).sessions(store.clone()).build().unwrap();
    let id = SessionId::new("s1");
    let session = agent.session_as(id.clone());
    session.send(TurnInput::new("Go.").on_behalf_of("sam")).await.unwrap_err();

    session.retry(Extensions::default()).await.unwrap_err();
    session.close().await;
    let session = agent.resume(&id).await.unwrap().unwrap();
    let turn = session.retry(Extensions::default()).await.unwrap();

    assert_eq!((turn.text.as_str(), turn.turn, turn.calls), ("done", 1, 0));
    assert_eq!(said(&session), ["User Go.", "Assistant ", "Tool ", "Assistant done"]);
    assert_paired(&session.history());
    let stored = store.load(&id).await.unwrap().unwrap();
    assert_eq!((&stored.messages, stored.state.turn), (&*session.history(), None));
    assert_eq!(model.requests().len(), 4, "the call is not made again");
}

#[tokio::test]
async fn an_answer_that_was_broken_off_is_asked_for_once_more() {
    let model = ScriptedProvider::new().say_then_fail("Once upon", down()).say("Once upon a time.");
    let session = agent(&model).build().unwrap().session();
    session.send("Tell.").await.unwrap_err();

    let turn = session.retry(Extensions::default()).await.unwrap();

    assert_eq!(turn.text, "Once upon a time.");
    let again = "Your answer was broken off. Give it once more, from its beginning.";
    assert_eq!(session.history()[2].parts, [Part::Context(again.to_owned())]);
    assert_eq!(
        said(&session),
        ["User Tell.", "Assistant Once upon", "User ", "Assistant Once upon a time."]
    );
}

#[tokio::test]
async fn a_cancelled_turn_runs_again_on_behalf_of_the_same_user() {
    let audit = RecordingAudit::default();
    let model = ScriptedProvider::new().call("echo", json!({"text": "one"})).say("done");
    let session = agent(&model).audit(audit.clone()).build().unwrap().session();
    let reply = session.send(TurnInput::new("Go.").on_behalf_of("sam"));
    session.cancel();
    reply.await.unwrap();

    let turn = session.retry(Extensions::default()).await.unwrap();

    assert_eq!((turn.text.as_str(), turn.turn, turn.counts.turns_since_memory), ("done", 1, 1));
    assert_eq!(audit.records()[0].origin.by.as_deref(), Some("sam"));
}

#[tokio::test]
async fn what_has_its_answer_is_not_run_again() {
    let model = ScriptedProvider::new().say("hello").say("hello again");
    let session = agent(&model).build().unwrap().session();

    let early = session.retry(Extensions::default()).await;
    session.send("Hi.").await.unwrap();
    let late = session.retry(Extensions::default()).await;

    assert!(matches!(early, Err(AgentError::NothingToRetry)), "{early:?}");
    assert!(matches!(late, Err(AgentError::NothingToRetry)), "{late:?}");
    assert_eq!(session.send("Hi.").await.unwrap().turn, 2, "and it is not busy after that");
}

#[tokio::test]
async fn opening_resumes_what_is_stored_and_starts_what_is_not() {
    let model = ScriptedProvider::new().say("one").say("two").say("three");
    let agent_with = |store: &InMemorySessions| agent(&model).sessions(store.clone());
    let store = InMemorySessions::default();
    let stored = agent_with(&store).build().unwrap();
    let id = SessionId::new("s1");

    let first = stored.open(&id).await.unwrap();
    let taken = stored.open(&id).await;
    first.send("One.").await.unwrap();
    first.close().await;
    let second = stored.open(&id).await.unwrap();
    second.send("Two.").await.unwrap();
    let unstored = agent(&model).build().unwrap().open(&id).await.unwrap();
    unstored.send("Three.").await.unwrap();

    assert!(matches!(taken, Err(StoreError::Locked(_))), "{taken:?}");
    assert_eq!((second.history().len(), unstored.history().len()), (4, 2));
    let list = store.list(&ListOptions::default()).await.unwrap();
    assert_eq!(list.iter().map(|it| (&it.id, it.messages)).collect::<Vec<_>>(), [(&id, 4)]);
    second.close().await;
    assert!(store.delete(&id).await.unwrap());
    assert_eq!(stored.resume(&id).await.unwrap().map(|it| it.id().clone()), None);
}

#[tokio::test]
async fn a_finished_turn_can_be_sent_over_a_wire() {
    let model = ScriptedProvider::new().say("hello");
    let session = agent(&model).build().unwrap().session_as(SessionId::new("s1"));

    let turn = session.send("Hi.").await.unwrap();
    let sent = serde_json::to_value(&turn).unwrap();

    assert_eq!((&sent["session"], &sent["text"]), (&json!("s1"), &json!("hello")));
    assert_eq!((&sent["finish"], &sent["review"]), (&json!("answered"), &json!(null)));
    assert_eq!(sent["counts"]["turns_since_memory"], 1);
}

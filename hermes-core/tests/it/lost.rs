//! What is not lost where something of the host's fails or panics in the middle of a turn.

use std::{sync::Arc, time::Duration};

use hermes_core::{
    Session,
    agent::{AgentError, AgentEvent, Finish, Limits},
    audit::AuditFailure,
    change::{Change, ChangeAction, ChangeTarget},
    fork::ForkTask,
    memory::Target,
    message::{CallStatus, Message, StopReason},
    origin::{Origin, OriginKind},
    store::{SessionId, SessionStore, StoredSession},
    testing::{InMemorySessions, RecordingAudit, ScriptedProvider},
    tool::{self, Tool, ToolError, ToolOutput, ToolSpec},
};
use serde_json::json;

use crate::{
    attacks::{Queue, Shaky, deploy, warner, warnings},
    audit::{go, left_behind, lines, write},
    support::{Echo, Plan, Troubled, agent, assert_paired, down, none, results},
};

/// Returns how the calls of a history ended, and with what.
fn endings(session: &Session) -> Vec<(CallStatus, String)> {
    assert_paired(&session.history());
    results(&session.history()).into_iter().map(|it| (it.status, it.content)).collect()
}

#[tokio::test]
async fn results_that_were_there_when_a_store_panicked_are_kept_and_recorded_once() {
    for count in [1, 9] {
        let audit = RecordingAudit::default();
        let plan = Plan::at(3..3 + count);
        let (store, inner) = Troubled::panicking(&plan);
        let both = [("write", json!({"text": "one"})), ("write", json!({"text": "two"}))];
        let model = ScriptedProvider::new().calls(both).say("done");
        let agent = agent(&model).tool(write()).sessions(store).audit(audit.clone());
        let session = agent.build().unwrap().session();

        let err = session.send("Go.").await.unwrap_err();

        assert!(matches!(err, AgentError::Lost), "{err:?}");
        let ended = endings(&session);
        assert_eq!(ended[0], (CallStatus::Done, "one".to_owned()));
        assert_eq!(ended[1].0, CallStatus::Cancelled);
        assert_eq!(lines(&audit.records()), ["User call write Done", "User call write Cancelled"]);
        plan.next(0, 0);
        let turn = session.retry(none()).await.unwrap();
        assert_eq!((turn.turn, turn.text.as_str()), (1, "done"));
        assert_eq!(audit.records().len(), 2, "once");
        let stored = inner.load(session.id()).await.unwrap().unwrap();
        assert_eq!(stored.messages, *session.history());
    }
}

#[tokio::test]
async fn a_call_that_was_held_when_a_store_panicked_stays_held() {
    let audit = RecordingAudit::default();
    let (store, _) = Troubled::panicking(&Plan::at(2..3));
    let both = [("deploy", json!({"text": "a"})), ("write", json!({"text": "b"}))];
    let model = ScriptedProvider::new().calls(both).say("done");
    let agent = agent(&model).tool(deploy()).tool(write()).approver(Queue::default());
    let session = agent.sessions(store).audit(audit.clone()).build().unwrap().session();

    session.send("Go.").await.unwrap_err();

    let ended = endings(&session);
    assert!(ended[0].1.starts_with("Held for a person"), "{ended:?}");
    assert_eq!(ended[1].0, CallStatus::Cancelled);
    assert_eq!(
        lines(&audit.records()),
        ["User approval deploy held", "User call deploy Rejected", "User call write Cancelled"]
    );
}

/// Opens what a process left behind, in a store that panics at the writes of `plan`.
async fn opened(stored: &StoredSession, plan: &Plan, audit: &RecordingAudit) -> Session {
    let (store, inner) = Troubled::panicking(plan);
    let id = SessionId::new("s1");
    inner.append(&id, 0, &stored.messages, &stored.state).await.unwrap();
    let model = ScriptedProvider::new().otherwise("done");
    let agent = agent(&model).tool(write()).sessions(store).audit(audit.clone()).build().unwrap();
    agent.resume(&id).await.unwrap().unwrap()
}

#[tokio::test]
async fn results_of_an_earlier_process_are_kept_where_the_store_panics_as_the_turn_goes_on() {
    let stored = left_behind().await;
    for at in 0..3 {
        let audit = RecordingAudit::default();
        let session = opened(&stored, &Plan::at(at..at + 1), &audit).await;

        let _ = session.continue_turn(none()).await;

        let ended = endings(&session);
        assert_eq!(ended[0], (CallStatus::Done, "one".to_owned()), "write {at}");
        assert!(ended[1].1.contains("may have had an effect"), "write {at}: {ended:?}");
        let mut recorded = lines(&audit.records());
        recorded.retain(|it| it.contains("write"));
        assert_eq!(recorded.len(), 2, "write {at}: {recorded:?}");
        assert_eq!(recorded[0], "User interrupted write", "write {at}");
    }
}

/// Knows no prices.
#[derive(Debug, Default)]
struct Panics;

impl hermes_core::Pricing for Panics {
    fn cost(&self, _: &str, _: &hermes_core::message::Usage) -> Option<hermes_core::Cost> {
        panic!("as asked")
    }
}

#[tokio::test]
async fn a_call_whose_reply_could_not_be_priced_has_not_run() {
    let audit = RecordingAudit::default();
    let model = ScriptedProvider::new().call("write", json!({"text": "one"})).say("done");
    let agent = agent(&model).tool(write()).pricing(Panics).audit(audit.clone());
    let session = agent.build().unwrap().session();

    let err = session.send("Go.").await.unwrap_err();

    assert!(matches!(err, AgentError::Lost), "{err:?}");
    assert_eq!(lines(&audit.records()), ["User call write Cancelled"]);
    assert_eq!(session.counts().turns_since_memory, 1);
}

// What a turn that runs again makes of what there is.

#[tokio::test]
async fn an_answer_that_was_cut_for_good_and_not_stored_is_not_asked_for_again() {
    for at in [1, 2] {
        let plan = Plan::at(at..at + 2);
        let (store, inner) = Troubled::failing(&plan);
        let cut = Message::assistant("Once upon").with_stop(StopReason::Length);
        let model = ScriptedProvider::new().reply(cut);
        let mut limits = Limits::default();
        limits.continuations = 0;
        let agent = agent(&model).limits(limits).sessions(store).build().unwrap();
        let session = agent.session();
        session.send("Tell.").await.unwrap_err();

        plan.next(0, 0);
        let turn = session.retry(none()).await.unwrap();

        assert_eq!((turn.text.as_str(), &turn.finish), ("Once upon", &Finish::Length));
        assert_eq!(model.requests().len(), 1, "write {at}");
        let stored = inner.load(session.id()).await.unwrap().unwrap();
        assert_eq!(stored.messages, *session.history());
    }
}

#[tokio::test]
async fn an_answer_that_used_up_what_may_be_continued_is_not_asked_for_again() {
    let cut = || Message::assistant("and so on").with_stop(StopReason::Length);
    let model = (0..4).fold(ScriptedProvider::new(), |model, _| model.reply(cut()));
    let plan = Plan::default();
    let (store, _) = Troubled::failing(&plan);
    let session = agent(&model).sessions(store).build().unwrap().session();
    plan.next(8, 9);
    session.send("Tell.").await.unwrap_err();
    assert_eq!(model.requests().len(), 4);

    plan.next(0, 9);
    session.retry(none()).await.unwrap_err();
    plan.next(0, 0);
    let turn = session.retry(none()).await.unwrap();

    assert_eq!((turn.finish, model.requests().len()), (Finish::Length, 4));
}

#[tokio::test]
async fn a_turn_that_summed_up_and_was_not_stored_is_still_out_of_rounds() {
    let plan = Plan::default();
    let (store, _) = Troubled::failing(&plan);
    let model = ScriptedProvider::new().call("echo", json!({"text": "a"})).say("So far.");
    let agent = agent(&model).max_requests(2).sessions(store).build().unwrap();
    let session = agent.session();
    plan.next(6, 9);
    session.send("Go.").await.unwrap_err();
    assert_eq!(model.requests().len(), 2);

    plan.next(0, 9);
    session.retry(none()).await.unwrap_err();
    plan.next(0, 0);
    let turn = session.retry(none()).await.unwrap();

    assert_eq!((turn.text.as_str(), turn.finish), ("So far.", Finish::OutOfRounds));
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn a_turn_that_was_never_counted_is_counted_when_it_runs_again() {
    let plan = Plan::default();
    let (store, _) = Troubled::failing(&plan);
    let session = agent(&ScriptedProvider::new()).sessions(store).build().unwrap().session();
    session.send("One.").await.unwrap();
    plan.next(0, 1);
    session.send("Two.").await.unwrap_err();

    session.retry(none()).await.unwrap();

    assert_eq!(session.counts().turns_since_memory, 2);
}

/// A tool that keeps something in memory.
fn remember() -> impl Tool {
    tool::from_fn("remember", "Keeps.", |echo: Echo, _| async move {
        let change = Change::applied(ChangeTarget::Memory(Target::User), ChangeAction::Update);
        Ok(ToolOutput::done(echo.text).with_change(change))
    })
}

#[tokio::test]
async fn a_turn_that_wrote_before_it_failed_starts_the_count_again() {
    let model =
        ScriptedProvider::new().call("remember", json!({"text": "a"})).fail(down()).say("done");
    let session = agent(&model).tool(remember()).build().unwrap().session();
    session.send("Go.").await.unwrap_err();
    assert_eq!(session.counts().turns_since_memory, 0);

    session.retry(none()).await.unwrap();

    assert_eq!(session.counts().turns_since_memory, 0);
}

// What is to be recorded.

#[tokio::test]
async fn calls_that_were_interrupted_are_recorded_later_if_the_sink_fails_at_first() {
    let stored = left_behind().await;
    for failure in [AuditFailure::Warn, AuditFailure::EndTurn] {
        let inner = RecordingAudit::default();
        let audit = Shaky { inner: inner.clone(), count: Arc::default(), fails: 0 };
        let store = InMemorySessions::default();
        let id = SessionId::new("s1");
        store.append(&id, 0, &stored.messages, &stored.state).await.unwrap();
        let model = ScriptedProvider::new().otherwise("done");
        let agent = agent(&model).tool(write()).sessions(store).audit(audit);
        let agent = agent.audit_failure(failure).build().unwrap();
        let session = agent.resume(&id).await.unwrap().unwrap();

        for _ in 0..3 {
            go(&session).await;
        }

        assert_eq!(lines(&inner.records()), ["User interrupted write"; 2], "{failure:?}");
    }
}

// What runs side by side.

#[tokio::test(start_paused = true)]
async fn calls_that_have_not_started_do_not_run_once_one_beside_them_ended_the_turn() {
    let read = tool::from_fn("read", "Reads.", |echo: Echo, _| async move {
        tokio::time::sleep(Duration::from_millis(9)).await;
        if echo.text == "end" {
            return Err(ToolError::end_turn("enough"));
        }
        tokio::time::sleep(Duration::from_millis(9)).await;
        Ok(ToolOutput::done(echo.text))
    })
    .configure(ToolSpec::read_only);
    let all = ["end", "beside", "late", "later"].map(|text| ("read", json!({"text": text})));
    let model = ScriptedProvider::new().calls(all);
    let agent = agent(&model).tool(read).max_parallel_calls(2).build().unwrap();
    let session = agent.session();

    let turn = session.send("Go.").await.unwrap();

    assert_eq!(turn.finish, Finish::EndedByTool("enough".to_owned()));
    let ended = endings(&session);
    assert_eq!(ended[1], (CallStatus::Done, "beside".to_owned()));
    for (status, content) in &ended[2..] {
        assert_eq!(*status, CallStatus::Rejected, "{content}");
        assert!(content.contains("ended the turn"), "{content}");
    }
}

// Warnings.

#[tokio::test]
async fn a_warning_that_came_before_the_reply_was_awaited_is_not_lost() {
    let model = ScriptedProvider::new().call("warner", json!({"text": "mind the gap"}));
    let session = agent(&model).tool(warner()).build().unwrap().session();

    let reply = session.send("Nobody listens.");
    session.idle().await;
    reply.await.unwrap();

    assert_eq!(warnings(&session, "But now.").await, ["mind the gap"]);
    assert_eq!(warnings(&session, "And once only.").await, [""; 0]);
}

#[tokio::test]
async fn a_warning_of_another_conversation_of_that_name_is_not_told() {
    let model = ScriptedProvider::new().call("warner", json!({"text": "ann's secret"}));
    let store = InMemorySessions::default();
    let agent = agent(&model).tool(warner()).sessions(store.clone()).build().unwrap();
    let id = SessionId::new("web");
    let ann = agent.open(&id).await.unwrap();
    ann.send("Nobody listens.").await.unwrap();
    ann.close().await;

    let stranger = agent.session_as(id.clone());
    assert_eq!(warnings(&stranger, "Hello.").await, [""; 0]);
    stranger.close().await;
    let ann = agent.open(&id).await.unwrap();
    assert_eq!(warnings(&ann, "Hello.").await, ["ann's secret"]);
    ann.close().await;
}

#[tokio::test]
async fn a_warning_of_a_deleted_conversation_is_forgotten() {
    let model = ScriptedProvider::new().call("warner", json!({"text": "ann's secret"}));
    let store = InMemorySessions::default();
    let agent = agent(&model).tool(warner()).sessions(store.clone()).build().unwrap();
    let id = SessionId::new("web");
    let ann = agent.open(&id).await.unwrap();
    ann.send("Nobody listens.").await.unwrap();
    ann.close().await;
    store.delete(&id).await.unwrap();

    let bob = agent.open(&id).await.unwrap();

    assert_eq!(warnings(&bob, "Hello.").await, [""; 0]);
}

#[tokio::test]
async fn a_warning_of_a_sub_agent_that_waited_says_so() {
    let delegate =
        tool::from_fn("delegate", "Delegates.", |_: Echo, context: tool::ToolContext| async move {
            let origin = Origin::new(OriginKind::Delegate);
            let task = ForkTask::new("Go.", origin).with_tools(["warner"]);
            Ok(context.fork().unwrap().run(task).await.unwrap().text)
        })
        .configure(ToolSpec::parallel_safe);
    let model = ScriptedProvider::new()
        .call("delegate", json!({"text": ""}))
        .call("warner", json!({"text": "mind the gap"}));
    let session = agent(&model).tool(warner()).tool(delegate).build().unwrap().session();

    session.send("Nobody listens.").await.unwrap();

    assert_eq!(warnings(&session, "But now.").await, ["In a sub-agent: mind the gap"]);
}

#[tokio::test]
async fn a_warning_that_was_not_read_when_its_reply_was_dropped_is_not_lost() {
    let model = ScriptedProvider::new().call("warner", json!({"text": "mind the gap"}));
    let session = agent(&model).tool(warner()).build().unwrap().session();

    let mut reply = session.send("Listens to the first event only.");
    session.idle().await;
    let first = reply.next_event().await;
    drop(reply);

    assert!(matches!(first, Some(AgentEvent::CallStarted(_))), "{first:?}");
    assert_eq!(warnings(&session, "But now.").await, ["mind the gap"]);
}

//! What is recorded of what an agent does.

use std::sync::Arc;

use futures::StreamExt;
use hermes_core::{
    Session,
    agent::{
        AgentError, AgentEvent, Finish, FinishedTurn,
        hook::{BeforeCall, CallAction, Hook, HookPoints},
    },
    approval::{self, Approval, ApprovalRequest, NeedsApproval},
    async_trait,
    audit::{AuditEvent, AuditFailure, AuditRecord, JsonlAudit, verify},
    change::{Change, ChangeAction, ChangeTarget, Fate},
    fork::Fork,
    memory::Target,
    message::{Call, CallStatus, Message, Part, Role},
    origin::{Origin, OriginKind},
    review::{ProposedWrite, Review, ReviewPolicy, ReviewReport, ReviewScope, ReviewTask, Verdict},
    store::{SessionId, SessionStore, StoredSession},
    testing::{InMemorySessions, ManualClock, RecordingAudit, ScriptedProvider},
    tool::{self, Extensions, Tool, ToolOutput},
    version::Version,
};
use serde_json::json;

use crate::support::{Echo, Troubled, agent, assert_paired, results};

/// A tool that writes what it is told to memory.
fn remember() -> impl Tool {
    tool::from_fn("remember", "Keeps a fact.", |echo: Echo, _| async move {
        let target = ChangeTarget::Memory(Target::User);
        let change = Change::applied(target, ChangeAction::Update).with_versions(
            Some(Version::of("old")),
            Some(Version::of(&echo.text)),
            "+ new",
        );
        Ok(ToolOutput::done("kept").with_change(change))
    })
}

/// Sends "Go." and returns the finished turn and the warnings.
pub(crate) async fn go(session: &Session) -> (FinishedTurn, Vec<String>) {
    let mut reply = session.send("Go.");
    let mut warnings = Vec::new();
    while let Some(event) = reply.next().await {
        if let AgentEvent::Warning(warning) = event {
            warnings.push(warning);
        }
    }
    let turn = reply.await.unwrap();
    assert_paired(&session.history());
    (turn, warnings)
}

/// Returns the records in short: who, what, how.
pub(crate) fn lines(records: &[AuditRecord]) -> Vec<String> {
    let line = |record: &AuditRecord| {
        let what = match &record.event {
            AuditEvent::Call { tool, is_interrupted: true, .. } => format!("interrupted {tool}"),
            AuditEvent::Call { tool, status, .. } => format!("call {tool} {status:?}"),
            AuditEvent::Replaced { arguments, .. } => format!("replaced {arguments}"),
            AuditEvent::Approval { tool, decision, .. } => format!("approval {tool} {decision}"),
            AuditEvent::Write { action, .. } => format!("write {action:?}"),
            AuditEvent::Review { outcome, changes, .. } => format!("review {outcome:?} {changes}"),
            other => format!("{other:?}"),
        };
        format!("{:?} {what}", record.origin.kind)
    };
    records.iter().map(line).collect()
}

#[tokio::test]
async fn calls_that_are_cancelled_while_a_person_is_asked_are_recorded_too() {
    let audit = RecordingAudit::default();
    let deploy = tool::from_fn("deploy", "Deploys.", |(), _| async { Ok("deployed") })
        .configure(|spec| spec.with_approval(NeedsApproval::Always));
    let silent = approval::from_fn(|_: ApprovalRequest| std::future::pending());
    let model =
        ScriptedProvider::new().calls([("echo", json!({"text": "hi"})), ("deploy", json!({}))]);
    let agent = agent(&model).tool(deploy).approver(silent).audit(audit.clone());
    let session = agent.build().unwrap().session();

    let mut reply = session.send("Go.");
    let mut finished = Vec::new();
    while let Some(event) = reply.next().await {
        match event {
            AgentEvent::ApprovalAsked(_) => session.cancel(),
            AgentEvent::CallFinished(result) => finished.push(result.status),
            _ => {}
        }
    }
    reply.await.unwrap();

    assert_eq!(lines(&audit.records()), ["User call echo Cancelled", "User call deploy Cancelled"]);
    assert_eq!(finished, [CallStatus::Cancelled; 2]);
    assert_paired(&session.history());
}

#[tokio::test]
async fn what_is_allowed_for_the_session_is_recorded_as_that() {
    let audit = RecordingAudit::default();
    let deploy = tool::from_fn("deploy", "Deploys.", |(), _| async { Ok("deployed") })
        .configure(|spec| spec.with_approval(NeedsApproval::Always));
    let person = approval::from_fn(|_: ApprovalRequest| async { Approval::AllowForSession });
    let model = ScriptedProvider::new().call("deploy", json!({})).say("done");
    let agent = agent(&model).tool(deploy).approver(person).audit(audit.clone());

    agent.build().unwrap().session().send("Go.").await.unwrap();

    assert_eq!(lines(&audit.records())[0], "User approval deploy allowed_for_session");
}

#[tokio::test]
async fn calls_and_writes_are_recorded_in_order_with_who_and_when() {
    let audit = RecordingAudit::default();
    let model = ScriptedProvider::new()
        .call("echo", json!({"text": "hi", "password": "hunter2"}))
        .call("remember", json!({"text": "new"}))
        .call("nothing", json!({}))
        .say("done");
    let agent = agent(&model).tool(remember()).audit(audit.clone()).clock(ManualClock::default());
    let session = agent.build().unwrap().session();

    go(&session).await;

    let records = audit.records();
    assert_eq!(
        lines(&records),
        [
            "User call echo Done",
            "User call remember Done",
            "User write Update",
            "User call nothing Rejected",
        ]
    );
    assert!(records.iter().all(|it| it.session == *session.id() && it.turn == 1));
    let AuditEvent::Call { arguments, digest, .. } = &records[0].event else { panic!() };
    assert_eq!(arguments, r#"{"password":"[redacted:secret]","text":"hi"}"#);
    let calls = session.history();
    let call = calls.iter().flat_map(|it| it.calls()).next().unwrap();
    assert_eq!(*digest, Version::of(call.arguments.as_str()));
    let AuditEvent::Write { before, after, fate, .. } = &records[2].event else { panic!() };
    assert_eq!((*before, *after), (Some(Version::of("old")), Some(Version::of("new"))));
    assert_eq!(*fate, Fate::Applied);
}

#[tokio::test]
async fn decisions_are_recorded_with_their_reasons() {
    let audit = RecordingAudit::default();
    let pay = tool::from_fn("pay", "Pays.", |echo: Echo, _| async move { Ok(echo.text) })
        .configure(|spec| spec.with_approval(NeedsApproval::Always));
    let ask = approval::from_fn(|request: ApprovalRequest| async move {
        if request.call.arguments.as_str().contains("much") {
            Approval::Deny("too much; token=abc".to_owned())
        } else {
            Approval::AllowOnce
        }
    });
    let model = ScriptedProvider::new()
        .call("pay", json!({"text": "little"}))
        .call("pay", json!({"text": "much"}))
        .say("done");
    let agent = agent(&model).tool(pay).approver(ask).audit(audit.clone()).build().unwrap();

    go(&agent.session()).await;

    let records = audit.records();
    assert_eq!(
        lines(&records),
        [
            "User approval pay allowed",
            "User call pay Done",
            "User approval pay denied",
            "User call pay Rejected",
        ]
    );
    let AuditEvent::Approval { reasons, .. } = &records[2].event else { panic!() };
    assert_eq!(reasons.last().unwrap(), "too much; token=[redacted:secret]");
}

#[derive(Debug)]
struct Rewrites;

#[async_trait]
impl Hook for Rewrites {
    fn listens(&self) -> HookPoints {
        HookPoints::BEFORE_CALL
    }

    async fn before_call(&self, _: &BeforeCall<'_>) -> CallAction {
        CallAction::Replace(json!({"text": "other"}))
    }
}

#[derive(Clone, Debug)]
struct Remembers;

impl ReviewPolicy for Remembers {
    fn after_turn(&self, _: &FinishedTurn) -> Option<ReviewTask> {
        Some(ReviewTask::new(ReviewScope::Memory, Arc::new(self.clone())))
    }

    fn judge(&self, _: &ProposedWrite) -> Verdict {
        Verdict::Apply
    }
}

#[async_trait]
impl Review for Remembers {
    async fn run(&self, id: &str, scope: ReviewScope, fork: Arc<dyn Fork>) -> ReviewReport {
        let origin = Origin::review(id);
        let task = hermes_core::fork::ForkTask::new("Look back.", origin).with_tools(["remember"]);
        let outcome = fork.run(task).await.unwrap();
        let mut report = ReviewReport::new(id, scope);
        report.changes = outcome.changes;
        report
    }
}

#[tokio::test]
async fn a_review_is_recorded_and_so_is_what_it_writes() {
    let audit = RecordingAudit::default();
    let model =
        ScriptedProvider::new().say("hello").call("remember", json!({"text": "new"})).say("saved");
    let agent = agent(&model).tool(remember()).review(Remembers).audit(audit.clone());
    let session = agent.build().unwrap().session();

    let (turn, _) = go(&session).await;
    let sent = serde_json::to_value(&turn).unwrap();
    let review = turn.review.unwrap();
    let id = review.id().to_owned();
    assert_eq!(sent["review"], json!(id));
    review.await.unwrap();

    let records = audit.records();
    assert_eq!(
        lines(&records),
        ["Review call remember Done", "Review write Update", "Review review NothingToSave 1"]
    );
    assert!(records.iter().all(|it| it.origin.review.as_deref() == Some(&*id)));
}

#[tokio::test]
async fn a_sink_that_fails_warns_the_host_and_the_turn_goes_on() {
    let audit = RecordingAudit::failing_after(1);
    let model = ScriptedProvider::new()
        .call("echo", json!({"text": "one"}))
        .call("echo", json!({"text": "two"}))
        .say("done");
    let session = agent(&model).audit(audit.clone()).build().unwrap().session();

    let (turn, warnings) = go(&session).await;

    assert_eq!(turn.finish, Finish::Answered);
    assert_eq!(warnings, ["the audit sink failed: no room"]);
    assert_eq!(audit.records().len(), 1);
}

#[tokio::test]
async fn where_everything_must_be_recorded_the_turn_ends_at_the_first_loss() {
    let model = ScriptedProvider::new()
        .call("echo", json!({"text": "one"}))
        .call("echo", json!({"text": "two"}))
        .say("done");
    let agent = agent(&model)
        .audit(RecordingAudit::failing_after(0))
        .audit_failure(AuditFailure::EndTurn)
        .build()
        .unwrap();
    let session = agent.session();

    let (turn, warnings) = go(&session).await;

    assert!(matches!(&turn.finish, Finish::Stopped(it) if it.contains("recorded")), "{turn:?}");
    assert_eq!((turn.calls, warnings.len()), (1, 1));
}

#[tokio::test]
async fn a_decision_that_must_be_recorded_and_is_not_is_a_denial() {
    let pay = tool::from_fn("pay", "Pays.", |(), _| async { Ok("paid") })
        .configure(|spec| spec.with_approval(NeedsApproval::Always));
    let model = ScriptedProvider::new().call("pay", json!({})).say("done");
    let agent = agent(&model)
        .tool(pay)
        .approver(approval::AllowAll)
        .audit(RecordingAudit::failing_after(0))
        .audit_failure(AuditFailure::EndTurn)
        .build()
        .unwrap();
    let session = agent.session();

    go(&session).await;

    let result = &results(&session.history())[0];
    assert_eq!(result.status, CallStatus::Rejected);
    assert!(result.content.contains("could not be recorded"), "{}", result.content);
}

#[tokio::test]
async fn what_a_review_could_not_record_is_told_with_the_next_turn() {
    let model = ScriptedProvider::new().say("one").say("nothing").say("two").otherwise("nothing");
    let agent = agent(&model).tool(remember()).review(Remembers);
    let agent = agent.audit(RecordingAudit::failing_after(0)).build().unwrap();
    let session = agent.session();

    let (turn, before) = go(&session).await;
    turn.review.unwrap().await.unwrap();
    let (_, after) = go(&session).await;

    assert_eq!(before, Vec::<String>::new());
    assert_eq!(after, ["the audit sink failed: no room"]);
    agent.settled().await;
}

#[tokio::test]
async fn a_log_of_a_conversation_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let mut model = ScriptedProvider::new();
    for at in 0..12 {
        model = model.call("echo", json!({"text": at.to_string()}));
    }
    let agent = agent(&model.say("done")).audit(JsonlAudit::new(&path)).build().unwrap();

    go(&agent.session()).await;

    let verified = verify(&path, None).unwrap();
    assert_eq!((verified.head.lines, verified.anchored), (12, 12));
    let text = std::fs::read_to_string(&path).unwrap();
    let last: AuditRecord = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last.origin.kind, OriginKind::User);
}

#[tokio::test]
async fn arguments_that_a_hook_replaced_are_recorded_before_the_call() {
    let audit = RecordingAudit::default();
    let model = ScriptedProvider::new().call("echo", json!({"text": "asked"})).say("done");
    let agent = agent(&model).hook(Rewrites).audit(audit.clone()).build().unwrap();

    go(&agent.session()).await;

    assert_eq!(
        lines(&audit.records()),
        [r#"User replaced {"text":"other"}"#, "User call echo Done"]
    );
}

/// Returns what a process left in its store that died while the second of three calls of a tool ran
/// that must not run twice.
pub(crate) async fn left_behind() -> StoredSession {
    let store = Arc::new(InMemorySessions::default());
    let model = ScriptedProvider::new().calls([
        ("write", json!({"text": "one"})),
        ("write", json!({"text": "hang"})),
        ("write", json!({"text": "three"})),
    ]);
    let agent = agent(&model).tool(write()).sessions(store.clone()).build().unwrap();
    let session = agent.session_as(SessionId::new("s1"));
    let mut reply = session.send("Go.");
    let mut started = 0;
    while started < 2 {
        let event = reply.next_event().await.unwrap();
        started += usize::from(matches!(event, AgentEvent::CallStarted(_)));
    }
    store.load(session.id()).await.unwrap().unwrap()
}

pub(crate) fn write() -> impl Tool {
    tool::from_fn("write", "Writes.", |echo: Echo, _| async move {
        if echo.text == "hang" {
            std::future::pending::<()>().await;
        }
        Ok(ToolOutput::done(echo.text))
    })
}

/// Resumes what was left behind, with a record of its own.
async fn resumed(stored: StoredSession) -> (Session, RecordingAudit) {
    let (store, audit) = (InMemorySessions::default(), RecordingAudit::default());
    let id = SessionId::new("s1");
    store.append(&id, 0, &stored.messages, &stored.state).await.unwrap();
    let model = ScriptedProvider::new().otherwise("done");
    let agent = agent(&model).tool(write()).sessions(store).audit(audit.clone()).build().unwrap();
    (agent.resume(&id).await.unwrap().unwrap(), audit)
}

#[tokio::test]
async fn a_call_that_was_interrupted_is_recorded_and_told_where_the_turn_goes_on() {
    let (session, audit) = resumed(left_behind().await).await;

    let mut reply = session.continue_turn(Extensions::default());
    let mut told = Vec::new();
    while let Some(event) = reply.next_event().await {
        if let AgentEvent::CallFinished(result) = event {
            told.push(format!("{:?}", result.status));
        }
    }
    reply.await.unwrap();

    assert_eq!(told, ["Cancelled", "Done"]);
    assert_eq!(lines(&audit.records()), ["User interrupted write", "User call write Done"]);
    assert_paired(&session.history());
}

#[tokio::test]
async fn calls_that_were_interrupted_are_recorded_where_the_next_message_comes_instead() {
    let (session, audit) = resumed(left_behind().await).await;

    go(&session).await;

    let expected = ["User interrupted write"; 2];
    assert_eq!(lines(&audit.records()), expected);
    assert!(audit.records().iter().all(|it| it.turn == 1), "of the turn they are of");
    go(&session).await;
    assert_eq!(audit.records().len(), 2, "once");
}

#[tokio::test]
async fn calls_without_a_turn_are_recorded_with_the_next_message() {
    let mut stored = left_behind().await;
    stored.state.turn = None;
    let (session, audit) = resumed(stored).await;

    go(&session).await;

    assert_eq!(lines(&audit.records()), ["User interrupted write"; 3]);
}

#[tokio::test]
async fn calls_of_a_lost_turn_are_recorded() {
    let audit = RecordingAudit::default();
    let model = ScriptedProvider::new().call("write", json!({"text": "one"})).say("done");
    let (store, _) = Troubled::new(|messages, state| {
        let has_calls = messages.iter().any(|it| it.calls().next().is_some());
        assert!(!has_calls || state.turn.is_none(), "as asked");
        Ok(())
    });
    let agent = agent(&model).tool(write()).sessions(store).audit(audit.clone());
    let session = agent.build().unwrap().session();

    let err = session.send("Go.").await.unwrap_err();

    assert!(matches!(err, AgentError::Lost), "{err:?}");
    assert_paired(&session.history());
    assert_eq!(lines(&audit.records()), ["User call write Cancelled"]);
}

#[tokio::test]
async fn a_call_with_an_endless_id_does_not_break_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let long = "i".repeat(3 << 20);
    let call = Call::new(long.as_str(), "echo", json!({"text": "hi"}));
    let model = ScriptedProvider::new()
        .reply(Message::new(Role::Assistant, vec![Part::Call(call)]))
        .say("done");
    let session = agent(&model).audit(JsonlAudit::new(&path)).build().unwrap().session();

    let (_, warnings) = go(&session).await;
    go(&session).await;

    assert_eq!(warnings, [""; 0]);
    assert_eq!(verify(&path, None).unwrap().head.lines, 1);
}

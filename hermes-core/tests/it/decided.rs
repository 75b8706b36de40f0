//! Who decided on calls, live, earlier and later, and what is kept of it.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::StreamExt;
use hermes_core::{
    Agent, Session,
    agent::{
        AgentBuilder, AgentError, AgentEvent,
        hook::{AfterCall, BeforeCall, CallAction, Hook, HookPoints, ResultAction},
    },
    approval::{self, AllowAll, Approval, ApprovalRequest, Approver, Grant, NeedsApproval, Within},
    async_trait,
    audit::{AuditEvent, AuditFailure},
    change::{Change, ChangeAction, ChangeTarget},
    memory::Target,
    message::CallStatus,
    review::{ProposedWrite, ReviewPolicy, ReviewTask, Verdict},
    testing::{RecordingAudit, ScriptedProvider},
    tool::{self, Extensions, Tool, ToolOutput},
};
use serde_json::json;

use crate::support::{Echo, agent, assert_paired, results};

/// An agent with `deploy`, which does not run unasked and says what it was told.
fn cautious(model: &ScriptedProvider, audit: &RecordingAudit) -> AgentBuilder {
    let deploy = tool::from_fn("deploy", "Deploys.", |echo: Echo, _| async move { Ok(echo.text) });
    agent(model)
        .tool(deploy.configure(|spec| spec.with_approval(NeedsApproval::Always)))
        .audit(audit.clone())
}

fn deploying(times: usize) -> ScriptedProvider {
    (0..times).fold(ScriptedProvider::new(), |model, at| {
        model.call("deploy", json!({"text": at.to_string()}))
    })
}

/// Returns what is recorded in short: decisions with who made them, calls with how they ended.
fn lines(audit: &RecordingAudit) -> Vec<String> {
    let line = |event: AuditEvent| match event {
        AuditEvent::Approval { tool, decision, by, grants, .. } => {
            let under: Vec<_> =
                grants.iter().map(|it| it.class.as_deref().unwrap_or("-")).collect();
            format!("{tool} {decision} by {} [{}]", by.unwrap(), under.join(" "))
        }
        AuditEvent::Call { tool, status, .. } => format!("{tool} {status:?}"),
        AuditEvent::Write { action, .. } => format!("write {action:?}"),
        other => format!("{other:?}"),
    };
    audit.events().into_iter().map(line).collect()
}

/// Returns what is recorded of one call of `deploy` that `approver` decides on.
async fn decided_by(approver: impl Approver + 'static) -> String {
    let audit = RecordingAudit::default();
    let agent = cautious(&deploying(1), &audit).approver(approver).build().unwrap();
    agent.session().send("Go.").await.unwrap();
    lines(&audit).swap_remove(0)
}

#[tokio::test]
async fn the_record_of_a_decision_says_who_made_it() {
    let sam = |_: ApprovalRequest| async { Approval::AllowOnce.by("sam") };
    let nobody = |_: ApprovalRequest| async { Approval::Deny("no".to_owned()) };
    let crash = |_: ApprovalRequest| async { panic!("as asked") };
    let silent = |_: ApprovalRequest| std::future::pending();
    let late = Within::new(approval::from_fn(silent), Duration::ZERO);
    let prompt = Within::new(approval::from_answer_fn(sam), Duration::from_secs(60));

    assert_eq!(decided_by(approval::from_answer_fn(sam)).await, "deploy allowed by sam []");
    assert_eq!(decided_by(Arc::new(prompt)).await, "deploy allowed by sam []");
    assert_eq!(decided_by(approval::from_fn(nobody)).await, "deploy denied by host []");
    assert_eq!(decided_by(AllowAll).await, "deploy allowed by policy []");
    assert_eq!(decided_by(approval::from_fn(crash)).await, "deploy denied by policy []");
    assert_eq!(decided_by(late).await, "deploy denied by time limit []");
}

#[tokio::test]
async fn without_an_approver_it_is_the_policy_that_denies() {
    let audit = RecordingAudit::default();
    let agent = cautious(&deploying(1), &audit).build().unwrap();

    agent.session().send("Go.").await.unwrap();

    assert_eq!(lines(&audit), ["deploy denied by policy []", "deploy Rejected"]);
}

/// Allows everything for the session, as Sam.
fn sam() -> impl Approver {
    approval::from_answer_fn(|_: ApprovalRequest| async { Approval::AllowForSession.by("sam") })
}

#[tokio::test]
async fn a_call_under_an_earlier_grant_has_a_record_of_its_own() {
    let audit = RecordingAudit::default();
    let twice = [("deploy", json!({"text": "a"})), ("deploy", json!({"text": "b"}))];
    let model = ScriptedProvider::new().calls(twice).call("deploy", json!({"text": "c"}));
    let agent = cautious(&model, &audit).approver(sam()).build().unwrap();

    agent.session().send("Go.").await.unwrap();

    assert_eq!(
        lines(&audit),
        [
            "deploy allowed_for_session by sam [-]",
            "deploy granted by session grant [-]",
            "deploy Done",
            "deploy Done",
            "deploy granted by session grant [-]",
            "deploy Done",
        ]
    );
    let events = audit.events();
    let AuditEvent::Approval { id, reasons, grants, .. } = &events[4] else { panic!() };
    let AuditEvent::Call { id: ran, .. } = &events[5] else { panic!() };
    assert_eq!((id, reasons.len()), (ran, 1));
    assert!(matches!(&grants[..], [Grant { tool, .. }] if &**tool == "deploy"), "{grants:?}");
}

#[tokio::test]
async fn the_grant_that_covers_a_dangerous_command_is_named() {
    let audit = RecordingAudit::default();
    let terminal = tool::from_fn("terminal", "Runs.", |echo: Echo, _| async move { Ok(echo.text) })
        .configure(|spec| spec.with_approval(NeedsApproval::dangerous("text")));
    let model = ["rm -rf build", "ls", "rm -rf dist"]
        .iter()
        .fold(ScriptedProvider::new(), |model, it| model.call("terminal", json!({"text": it})));
    let agent = agent(&model).tool(terminal).audit(audit.clone()).approver(sam()).build().unwrap();

    agent.session().send("Go.").await.unwrap();

    assert_eq!(
        lines(&audit),
        [
            "terminal allowed_for_session by sam [recursive-delete]",
            "terminal Done",
            "terminal Done",
            "terminal granted by session grant [recursive-delete]",
            "terminal Done",
        ]
    );
}

#[tokio::test]
async fn a_grant_that_must_be_recorded_and_is_not_covers_nothing() {
    let audit = RecordingAudit::failing_after(2);
    let agent = cautious(&deploying(2).say("done"), &audit)
        .approver(sam())
        .audit_failure(AuditFailure::EndTurn)
        .build()
        .unwrap();
    let session = agent.session();

    session.send("Go.").await.unwrap();

    let results = results(&session.history());
    assert_eq!((results[0].status, results[1].status), (CallStatus::Done, CallStatus::Rejected));
    assert!(results[1].content.contains("could not be recorded"), "{}", results[1].content);
}

/// Holds every write of memory.
#[derive(Debug)]
struct HoldsWrites;

impl ReviewPolicy for HoldsWrites {
    fn after_turn(&self, _: &hermes_core::agent::FinishedTurn) -> Option<ReviewTask> {
        None
    }

    fn judge(&self, _: &ProposedWrite) -> Verdict {
        Verdict::Hold
    }
}

/// A tool that changes memory if it is allowed to.
fn remember() -> impl Tool {
    tool::from_fn("remember", "Keeps a fact.", |_: Echo, context| async move {
        let change = Change::applied(ChangeTarget::Memory(Target::User), ChangeAction::Update);
        match context.ask("remember", &json!({}), change.clone()).await {
            Verdict::Apply => Ok(ToolOutput::done("kept").with_change(change)),
            other => Ok(ToolOutput::rejected(format!("{other:?}"))),
        }
    })
}

#[tokio::test]
async fn writes_under_an_earlier_grant_have_records_too() {
    let audit = RecordingAudit::default();
    let model = ScriptedProvider::new()
        .call("remember", json!({"text": "a"}))
        .call("remember", json!({"text": "b"}));
    let agent = agent(&model).tool(remember()).review(HoldsWrites).approver(sam());
    let agent = agent.audit(audit.clone()).build().unwrap();

    agent.session().send("Go.").await.unwrap();

    assert_eq!(
        lines(&audit),
        [
            "remember allowed_for_session by sam [user]",
            "remember Done",
            "write Update",
            "remember granted by session grant [user]",
            "remember Done",
            "write Update",
        ]
    );
}

/// Keeps what it is shown, and denies calls that say "no".
#[derive(Clone, Debug, Default)]
struct Watches(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Hook for Watches {
    fn listens(&self) -> HookPoints {
        HookPoints::BEFORE_CALL | HookPoints::AFTER_CALL
    }

    async fn before_call(&self, event: &BeforeCall<'_>) -> CallAction {
        self.0.lock().unwrap().push(format!("before {}", event.arguments));
        match event.arguments["text"].as_str() {
            Some("no") => CallAction::Deny("off limits".to_owned()),
            _ => CallAction::Proceed,
        }
    }

    async fn after_call(&self, event: &AfterCall<'_>) -> ResultAction {
        self.0.lock().unwrap().push(format!("after {:?}", event.output.status));
        ResultAction::Keep
    }
}

#[tokio::test]
async fn a_call_that_a_hook_denies_used_no_grant() {
    let audit = RecordingAudit::default();
    let model = deploying(1).call("deploy", json!({"text": "no"}));
    let hook = Watches::default();
    let agent = cautious(&model, &audit).approver(sam()).hook(hook).build().unwrap();

    agent.session().send("Go.").await.unwrap();

    let lines = lines(&audit);
    assert_eq!(lines[1..], ["deploy Done", "deploy Rejected"], "{lines:?}");
}

/// Holds the first calls of `deploy` and returns the session and the requests.
async fn holding(agent: AgentBuilder) -> (Agent, Session, Vec<Arc<ApprovalRequest>>) {
    let later = approval::from_fn(|_: ApprovalRequest| async { Approval::Hold });
    let agent = agent.approver(later).build().unwrap();
    let session = agent.session();
    let mut reply = session.send("Go.");
    let mut held = Vec::new();
    while let Some(event) = reply.next().await {
        if let AgentEvent::CallHeld(request) = event {
            held.push(request);
        }
    }
    reply.await.unwrap();
    (agent, session, held)
}

#[tokio::test]
async fn a_held_call_that_runs_later_is_watched_and_recorded_as_a_live_one() {
    let audit = RecordingAudit::default();
    let hook = Watches::default();
    let model = deploying(1).say("It waits.");
    let (_, session, held) = holding(cautious(&model, &audit).hook(hook.clone())).await;
    let before = session.history().len();
    let live = audit.records().len();
    hook.0.lock().unwrap().clear();

    let output = session
        .decide_held(&held[0], Approval::AllowOnce.by("ann"), Extensions::default())
        .await
        .unwrap();

    assert_eq!((output.status, output.content.as_str()), (CallStatus::Done, "0"));
    assert_eq!(lines(&audit)[live..], ["deploy allowed by ann []", "deploy Done"]);
    assert_eq!(*hook.0.lock().unwrap(), [r#"before {"text":"0"}"#, "after Done"]);
    let records = audit.records();
    assert!(records.iter().all(|it| it.session == *session.id() && it.turn == 1), "{records:?}");
    assert_eq!(session.history().len(), before, "the history is the turns'");
    assert_paired(&session.history());
}

#[tokio::test]
async fn what_is_decided_of_a_held_call_holds() {
    let audit = RecordingAudit::default();
    let model = deploying(2).say("They wait.").call("deploy", json!({"text": "c"})).say("done");
    let (_, session, held) = holding(cautious(&model, &audit)).await;
    let live = audit.records().len();

    let none = Extensions::default;
    let no = Approval::Deny("not today".to_owned());
    let denied = session.decide_held(&held[0], no, none()).await.unwrap();
    let allowed =
        session.decide_held(&held[1], Approval::AllowForSession.by("ann"), none()).await.unwrap();
    session.send("Again.").await.unwrap();

    assert_eq!(denied.status, CallStatus::Rejected);
    assert!(denied.content.contains("not today"), "{}", denied.content);
    assert_eq!(allowed.content, "1");
    assert_eq!(
        lines(&audit)[live..],
        [
            "deploy denied by host []",
            "deploy Rejected",
            "deploy allowed_for_session by ann [-]",
            "deploy Done",
            "deploy granted by session grant [-]",
            "deploy Done",
        ]
    );
}

#[tokio::test]
async fn a_hook_may_deny_a_held_call_that_a_person_allowed() {
    let audit = RecordingAudit::default();
    let model = ScriptedProvider::new().call("deploy", json!({"text": "no"})).say("It waits.");
    let (_, session, held) = holding(cautious(&model, &audit).hook(Watches::default())).await;

    let output =
        session.decide_held(&held[0], Approval::AllowOnce, Extensions::default()).await.unwrap();

    assert_eq!(output.status, CallStatus::Rejected);
    assert!(output.content.contains("off limits"), "{}", output.content);
}

#[tokio::test]
async fn a_held_call_runs_in_its_own_open_session_only() {
    let audit = RecordingAudit::default();
    let (agent, session, held) = holding(cautious(&deploying(1).say("ok"), &audit)).await;
    let decide = async |session: &Session| {
        session.decide_held(&held[0], Approval::AllowOnce, Extensions::default()).await
    };

    let other = decide(&agent.session()).await;
    session.close().await;
    let closed = decide(&session).await;

    assert!(matches!(other, Err(AgentError::OtherSession)), "{other:?}");
    assert!(matches!(closed, Err(AgentError::Closed)), "{closed:?}");
    assert_eq!(lines(&audit), ["deploy held by host []", "deploy Rejected"]);
}

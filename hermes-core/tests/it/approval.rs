//! Calls that do not run unasked.

use std::sync::{Arc, Mutex};

use futures::StreamExt;
use hermes_core::{
    Agent, Session,
    agent::{AgentBuilder, AgentEvent, Finish},
    approval::{self, AllowAll, Approval, ApprovalRequest, Approver, NeedsApproval, Ruling},
    async_trait,
    fork::ForkTask,
    message::{CallResult, CallStatus},
    origin::{Origin, OriginKind},
    store::{SessionId, SessionStore},
    testing::{InMemorySessions, ScriptedProvider},
    tool::{self, Tool, ToolContext, ToolError, ToolOutput, ToolSpec},
};
use serde_json::{Value, json};

use crate::support::{Echo, agent, assert_paired, results};

/// Answers as its script says, denies after its end, and keeps what it was asked.
#[derive(Clone, Debug, Default)]
struct Scripted(Arc<Mutex<(Vec<Approval>, Vec<ApprovalRequest>)>>);

impl Scripted {
    fn new(answers: impl IntoIterator<Item = Approval>) -> Self {
        let mut answers: Vec<_> = answers.into_iter().collect();
        answers.reverse();
        Self(Arc::new(Mutex::new((answers, Vec::new()))))
    }

    fn asked(&self) -> Vec<ApprovalRequest> {
        self.0.lock().unwrap().1.clone()
    }
}

#[async_trait]
impl Approver for Scripted {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        let mut state = self.0.lock().unwrap();
        state.1.push(request.clone());
        state.0.pop().unwrap_or_else(|| Approval::Deny("not in the script".to_owned()))
    }
}

/// An agent with `echo`, which runs unasked, and `deploy` and `pay`, which do not.
fn cautious(model: &ScriptedProvider) -> AgentBuilder {
    let deploy = tool::from_fn("deploy", "Deploys.", |echo: Echo, _| async move {
        Ok(format!("deployed {}", echo.text))
    });
    let pay = tool::from_fn("pay", "Pays.", |(), _| async { Ok("paid") });
    agent(model)
        .tool(deploy.configure(|spec| spec.with_approval(NeedsApproval::Always)))
        .tool(pay.configure(|spec| spec.with_approval(NeedsApproval::Always)))
}

fn deploying(times: usize) -> ScriptedProvider {
    (0..times).fold(ScriptedProvider::new(), |model, at| {
        model.call("deploy", json!({"text": at.to_string()}))
    })
}

/// Sends "Go." and returns the results and the events.
async fn go(session: &Session) -> (Vec<CallResult>, Vec<AgentEvent>) {
    let before = results(&session.history()).len();
    let mut reply = session.send("Go.");
    let mut events = Vec::new();
    while let Some(event) = reply.next().await {
        events.push(event);
    }
    reply.await.unwrap();
    assert_paired(&session.history());
    (results(&session.history()).split_off(before), events)
}

#[tokio::test]
async fn without_an_approver_the_answer_is_no() {
    let model = deploying(1);
    let session = cautious(&model).build().unwrap().session();

    let (results, events) = go(&session).await;

    assert_eq!(results[0].status, CallStatus::Rejected);
    insta::assert_snapshot!(results[0].content, @r#"Not run. Every call of "deploy" needs approval. Approval was denied: nobody can be asked here, as the agent has no approver. Do not try to get the same done in another way; go on without it, or ask the user."#);
    let warnings = events.iter().filter(|it| matches!(it, AgentEvent::Warning(_))).count();
    assert_eq!(warnings, 1);
    assert!(!events.iter().any(|it| matches!(it, AgentEvent::CallStarted(_))));
}

#[tokio::test]
async fn what_is_allowed_once_is_asked_for_again() {
    let model = deploying(2);
    let approver = Scripted::new([Approval::AllowOnce, Approval::AllowOnce]);
    let session = cautious(&model).approver(approver.clone()).build().unwrap().session();

    let (results, _) = go(&session).await;

    assert_eq!(results[1].content, "deployed 1");
    let asked = approver.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!((&*asked[0].call.name, asked[0].turn), ("deploy", 1));
    assert_eq!((&asked[0].session, &asked[0].origin), (session.id(), &Origin::user()));
    assert_eq!(asked[0].reasons, ["Every call of \"deploy\" needs approval."]);
}

#[tokio::test]
async fn only_what_needs_it_is_asked_about_and_only_if_it_could_run() {
    let model = ScriptedProvider::new().calls([
        ("echo", json!({"text": "one"})),
        ("deploy", json!({"txet": "x"})),
        ("depoly", json!({"text": "x"})),
        ("deploy", json!({"text": "x"})),
        ("echo", json!({"text": "two"})),
    ]);
    let approver = Scripted::new([Approval::Deny("not on a Friday".to_owned())]);
    let session = cautious(&model).approver(approver.clone()).build().unwrap().session();

    let (results, events) = go(&session).await;

    assert_eq!(approver.asked().len(), 1);
    let contents: Vec<_> = results.iter().map(|it| it.content.as_str()).collect();
    assert_eq!((contents[0], contents[4]), ("one", "two"));
    assert!(contents[3].contains("Approval was denied: not on a Friday."), "{}", contents[3]);
    let asked = events.iter().position(|it| matches!(it, AgentEvent::ApprovalAsked(_)));
    let started = events.iter().position(|it| matches!(it, AgentEvent::CallStarted(_)));
    assert!(asked < started, "all is decided before anything runs: {events:?}");
}

#[tokio::test]
async fn what_is_allowed_for_the_session_covers_that_tool_and_survives_a_resume() {
    let store = InMemorySessions::default();
    let model = deploying(2).call("pay", json!({}));
    let approver = Scripted::new([Approval::AllowForSession]);
    let builder = || cautious(&model).sessions(store.clone()).approver(approver.clone());
    let id = SessionId::new("s1");
    let session = builder().build().unwrap().session_as(id.clone());

    let (first, _) = go(&session).await;
    session.close().await;

    let statuses: Vec<_> = first.iter().map(|it| it.status).collect();
    assert_eq!(statuses, [CallStatus::Done, CallStatus::Done, CallStatus::Rejected]);
    assert_eq!(approver.asked().len(), 2, "once for deploy, once for pay");

    let again = json!({"text": "again"});
    let model = deploying(1).say("done").call("deploy", again);
    let agent = cautious(&model).sessions(store.clone()).build().unwrap();
    let resumed = agent.resume(&id).await.unwrap().unwrap();
    let (second, _) = go(&resumed).await;
    assert_eq!(second[0].content, "deployed 0");

    resumed.revoke_grants();
    let (third, _) = go(&resumed).await;
    assert_eq!(third[0].status, CallStatus::Rejected);
}

#[tokio::test]
async fn an_answer_for_the_session_spares_the_next_question_of_the_same_reply() {
    let model = ScriptedProvider::new()
        .calls([("deploy", json!({"text": "a"})), ("deploy", json!({"text": "b"}))]);
    let approver = Scripted::new([Approval::AllowForSession]);
    let session = cautious(&model).approver(approver.clone()).build().unwrap().session();

    let (results, _) = go(&session).await;

    assert_eq!(approver.asked().len(), 1);
    assert_eq!(results[1].content, "deployed b");
}

#[tokio::test]
async fn a_denied_call_stays_denied_when_its_like_is_allowed_afterwards() {
    let model = ScriptedProvider::new()
        .calls([("deploy", json!({"text": "a"})), ("deploy", json!({"text": "b"}))]);
    let approver = Scripted::new([Approval::Deny("not a".to_owned()), Approval::AllowForSession]);
    let session = cautious(&model).approver(approver).build().unwrap().session();

    let (results, _) = go(&session).await;

    assert_eq!(results[0].status, CallStatus::Rejected);
    assert_eq!(results[1].content, "deployed b");
}

#[tokio::test]
async fn a_held_call_does_not_run_and_the_host_is_told() {
    let model = deploying(1);
    let approver = Scripted::new([Approval::Hold]);
    let session = cautious(&model).approver(approver).build().unwrap().session();

    let (results, events) = go(&session).await;

    assert_eq!(results[0].status, CallStatus::Rejected);
    assert!(results[0].content.starts_with("Held for a person, not run."));
    let held = events.iter().find_map(|event| match event {
        AgentEvent::CallHeld(request) => Some(request.call.clone()),
        _ => None,
    });
    assert_eq!(held.unwrap().id, results[0].call);
}

#[tokio::test]
async fn an_approver_that_panics_denies() {
    let model = deploying(1);
    let approver = approval::from_fn(|_| async { panic!("as asked") });
    let session = cautious(&model).approver(approver).build().unwrap().session();

    let (results, _) = go(&session).await;

    assert_eq!(results[0].status, CallStatus::Rejected);
    assert!(results[0].content.contains("the approver crashed"));
}

#[tokio::test(start_paused = true)]
async fn silence_is_a_no() {
    let model = deploying(1);
    let approver = approval::from_fn(|_| std::future::pending());
    let approver = approval::Within::new(approver, std::time::Duration::from_secs(60));
    let session = cautious(&model).approver(approver).build().unwrap().session();

    let (results, _) = go(&session).await;

    assert!(results[0].content.contains("nobody answered within 60 s"));
}

#[tokio::test]
async fn cancelling_ends_the_wait_and_every_call_has_a_result() {
    for drops in [false, true] {
        let model = ScriptedProvider::new()
            .calls([("echo", json!({"text": "one"})), ("deploy", json!({"text": "b"}))]);
        let approver = approval::from_fn(|_| std::future::pending());
        let session = cautious(&model).approver(approver).build().unwrap().session();

        let mut reply = session.send("Go.");
        while !matches!(reply.next().await, Some(AgentEvent::ApprovalAsked(_))) {}
        if drops {
            drop(reply);
        } else {
            session.cancel();
            assert_eq!(reply.await.unwrap().finish, Finish::Cancelled);
        }
        session.idle().await;

        let results = results(&session.history());
        assert_eq!(results.len(), 2);
        assert!(results.iter().all(|it| it.status == CallStatus::Cancelled), "{results:?}");
        assert_paired(&session.history());
    }
}

fn hold_only(tool: &str, request: &ApprovalRequest) -> Approval {
    if &*request.call.name == tool { Approval::Hold } else { Approval::AllowOnce }
}

#[tokio::test]
async fn each_decision_is_stored_before_the_next_is_asked_for() {
    let store = InMemorySessions::default();
    let id = SessionId::new("s1");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let approver = {
        let (store, id, seen) = (store.clone(), id.clone(), Arc::clone(&seen));
        approval::from_fn(move |request: ApprovalRequest| {
            let (store, id, seen) = (store.clone(), id.clone(), Arc::clone(&seen));
            async move {
                let stored = store.load(&id).await.unwrap().unwrap();
                let turn = stored.state.turn.unwrap();
                let open = format!("{:?}", turn.next_step());
                seen.lock().unwrap().push((open, turn.rulings().to_vec()));
                hold_only("pay", &request)
            }
        })
    };
    let model =
        ScriptedProvider::new().calls([("pay", json!({})), ("deploy", json!({"text": "b"}))]);
    let agent = cautious(&model).sessions(store).approver(approver).build().unwrap();

    go(&agent.session_as(id)).await;

    let seen = seen.lock().unwrap();
    assert_eq!(seen[0].1, []);
    assert!(seen[0].0.starts_with("AwaitApproval(["), "{seen:?}");
    assert_eq!(seen[1].1.len(), 1);
    assert_eq!(seen[1].1[0].1, Ruling::Held);
}

/// A tool that hands its work to a sub-agent.
fn delegating(model: &ScriptedProvider) -> AgentBuilder {
    let delegate =
        tool::from_fn("hand_over", "Hands over.", |(), context: ToolContext| async move {
            let task = ForkTask::new("Deploy.", Origin::new(OriginKind::Delegate));
            let fork = context.fork().cloned().unwrap();
            let outcome = fork.run(task.with_tools(["deploy"])).await.map_err(ToolError::failed)?;
            let results = results(&outcome.messages);
            Ok(results.iter().map(|it| it.content.clone()).collect::<Vec<_>>().join("\n"))
        });
    cautious(model).tool(delegate)
}

#[tokio::test]
async fn a_fork_asks_too_and_is_not_covered_by_what_the_user_was_allowed() {
    let model = deploying(1)
        .call("hand_over", json!({}))
        .call("deploy", json!({"text": "by another"}))
        .say("did it")
        .say("done");
    let approver = Scripted::new([Approval::AllowForSession, Approval::Deny("not you".to_owned())]);
    let session = delegating(&model).approver(approver.clone()).build().unwrap().session();

    let (results, _) = go(&session).await;

    assert_eq!(results[0].content, "deployed 0");
    assert!(results[1].content.contains("Approval was denied: not you"), "{}", results[1].content);
    let origins: Vec<_> = approver.asked().iter().map(|it| it.origin.kind).collect();
    assert_eq!(origins, [OriginKind::User, OriginKind::Delegate]);
}

#[tokio::test]
async fn a_sandbox_may_allow_everything() {
    let model = deploying(3);
    let agent: Agent = cautious(&model).approver(AllowAll).build().unwrap();

    let (results, _) = go(&agent.session()).await;

    assert!(results.iter().all(|it| it.status == CallStatus::Done));
}

/// An agent with a `terminal` that asks about dangerous commands only.
fn with_terminal(model: &ScriptedProvider) -> AgentBuilder {
    let spec = ToolSpec::new("terminal", "Runs a command.")
        .with_parameters(json!({"type": "object", "properties": {"command": {}}}))
        .with_approval(NeedsApproval::dangerous("command"));
    agent(model).tool(Terminal(spec))
}

#[derive(Debug)]
struct Terminal(ToolSpec);

#[async_trait]
impl Tool for Terminal {
    fn spec(&self) -> ToolSpec {
        self.0.clone()
    }

    async fn call(&self, arguments: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::done(format!("ran {}", arguments["command"])))
    }
}

fn running(commands: &[Value]) -> ScriptedProvider {
    commands.iter().fold(ScriptedProvider::new(), |model, command| {
        model.call("terminal", json!({"command": command}))
    })
}

#[tokio::test]
async fn only_dangerous_commands_are_asked_about() {
    let model = running(&[
        json!("ls -la"),
        json!("grep 'rm -rf /' notes"),
        json!("cd x && rm -rf build"),
        json!(["rm", "-rf", "it's"]),
        json!(["grep", "rm -rf /", "notes"]),
        json!({"rm": "-rf"}),
        json!(null),
    ]);
    let approver = Scripted::default();
    let session = with_terminal(&model).approver(approver.clone()).build().unwrap().session();

    let (results, _) = go(&session).await;

    let ran: Vec<_> = results.iter().map(|it| it.status == CallStatus::Done).collect();
    assert_eq!(ran, [true, true, false, false, true, false, true]);
    let asked = approver.asked();
    assert_eq!(asked[0].reasons, ["It deletes folders with everything in them."]);
    let command = asked[0].command.as_deref().unwrap();
    assert_eq!(command.get(asked[0].dangers[0].range.clone()), Some("rm -rf build"));
    assert_eq!(asked[1].command.as_deref(), Some(r"'rm' '-rf' 'it'\''s'"));
    assert_eq!(asked[2].reasons, ["The \"command\" of \"terminal\" cannot be judged."]);
}

#[tokio::test]
async fn what_is_allowed_for_the_session_covers_the_same_danger_only() {
    let model = running(&[
        json!("rm -rf a"),
        json!("rm -rf b"),
        json!("git push --force"),
        json!("rm -rf c; git push --force"),
        json!("rm -rf /"),
        json!("rm -rf /"),
    ]);
    let approver = Scripted::new([
        Approval::AllowForSession,
        Approval::Deny("no".to_owned()),
        Approval::Deny("no".to_owned()),
        Approval::AllowForSession,
    ]);
    let session = with_terminal(&model).approver(approver.clone()).build().unwrap().session();

    let (results, _) = go(&session).await;

    let ran: Vec<_> = results.iter().map(|it| it.status == CallStatus::Done).collect();
    assert_eq!(
        ran,
        [true, true, false, false, true, false],
        "what is critical is asked every time"
    );
    assert_eq!(approver.asked().len(), 5);
    let classes: Vec<_> = session.grants().into_iter().map(|it| it.class.unwrap()).collect();
    assert_eq!(classes, ["recursive-delete"]);
}

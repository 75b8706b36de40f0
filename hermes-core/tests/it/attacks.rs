//! What meets where features meet: runs again, held calls, crashes, closing, stores that fail.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::StreamExt;
use hermes_core::{
    Agent, Session,
    agent::{
        AgentBuilder, AgentError, AgentEvent, Finish,
        hook::{BeforeCall, CallAction, Hook, HookPoints},
    },
    approval::{self, Approval, ApprovalRequest, Approver, NeedsApproval},
    async_trait,
    audit::{AuditError, AuditEvent, AuditFailure, AuditRecord, AuditSink},
    change::{Change, ChangeAction, ChangeTarget},
    compress::Summariser,
    fork::ForkTask,
    memory::Target,
    message::{Call, CallStatus, Message, Part, StopReason, Usage},
    origin::{Origin, OriginKind},
    prompt::{PromptSource, Section, Slot},
    store::{SessionId, SessionState, SessionStore, StoreError, StoredSession},
    testing::{InMemorySessions, RecordingAudit, ScriptedProvider},
    tool::{self, Tool, ToolContext, ToolSpec},
};
use serde_json::json;
use tokio::sync::Notify;

use crate::support::{Echo, Plan, Troubled, agent, assert_paired, down, none, results};

/// A tool that does not run unasked and says what it was told.
pub(crate) fn deploy() -> impl Tool {
    tool::from_fn("deploy", "Deploys.", |echo: Echo, _| async move { Ok(echo.text) })
        .configure(|spec| spec.with_approval(NeedsApproval::Always))
}

/// Holds everything and keeps what it was asked, as a queue that people work through does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue(Arc<Mutex<Vec<ApprovalRequest>>>);

impl Queue {
    fn take(&self) -> Vec<ApprovalRequest> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[async_trait]
impl Approver for Queue {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        self.0.lock().unwrap().push(request.clone());
        Approval::Hold
    }
}

/// Returns the warnings of a turn that is listened to.
pub(crate) async fn warnings(session: &Session, text: &str) -> Vec<String> {
    let events: Vec<AgentEvent> = session.send(text).collect().await;
    session.idle().await;
    let warning = |it| match it {
        AgentEvent::Warning(text) => Some(text),
        _ => None,
    };
    events.into_iter().filter_map(warning).collect()
}

// What is allowed for a session.

/// An audit that fails to keep what `fails` says, counted from 0.
#[derive(Clone, Debug)]
pub(crate) struct Shaky {
    pub(crate) inner: RecordingAudit,
    pub(crate) count: Arc<AtomicUsize>,
    pub(crate) fails: usize,
}

#[async_trait]
impl AuditSink for Shaky {
    async fn append(&self, records: &[AuditRecord]) -> Result<(), AuditError> {
        if self.count.fetch_add(1, Ordering::SeqCst) == self.fails {
            return Err(AuditError::Backend("disk full".into()));
        }
        self.inner.append(records).await
    }
}

/// Allows everything for the session and counts how often it was asked.
fn generous(asked: &Arc<AtomicU32>) -> impl Approver + use<> {
    let asked = Arc::clone(asked);
    approval::from_fn(move |_: ApprovalRequest| {
        asked.fetch_add(1, Ordering::SeqCst);
        async { Approval::AllowForSession }
    })
}

#[tokio::test]
async fn what_was_denied_because_it_could_not_be_recorded_is_not_allowed_for_the_session() {
    let (inner, count) = (RecordingAudit::default(), Arc::default());
    let audit = Shaky { inner: inner.clone(), count, fails: 0 };
    let asked = Arc::new(AtomicU32::new(0));
    let model = ScriptedProvider::new()
        .call("deploy", json!({"text": "a"}))
        .say("Denied.")
        .call("deploy", json!({"text": "b"}))
        .say("Done.");
    let session = agent(&model)
        .tool(deploy())
        .approver(generous(&asked))
        .audit(audit)
        .audit_failure(AuditFailure::EndTurn)
        .build()
        .unwrap()
        .session();

    session.send("Go.").await.unwrap();
    let after_first = session.grants();
    session.send("Again.").await.unwrap();

    assert_eq!(results(&session.history())[0].status, CallStatus::Rejected);
    assert_eq!(after_first, [], "nobody can see from the record that this was allowed");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    let decisions: Vec<String> = inner
        .events()
        .into_iter()
        .filter_map(|it| match it {
            AuditEvent::Approval { decision, .. } => Some(decision),
            _ => None,
        })
        .collect();
    assert_eq!(decisions, ["allowed_for_session"]);
}

// Warnings.

/// A tool that warns the host of what it is told.
pub(crate) fn warner() -> impl Tool {
    tool::from_fn("warner", "Warns.", |echo: Echo, context: ToolContext| async move {
        context.warn(echo.text);
        Ok("warned")
    })
}

#[tokio::test]
async fn a_warning_waits_for_a_turn_that_somebody_listens_to() {
    let model = ScriptedProvider::new().call("warner", json!({"text": "mind the gap"}));
    let session = agent(&model).tool(warner()).build().unwrap().session();

    session.send("Nobody listens.").await.unwrap();
    session.send("Nor now.").await.unwrap();

    assert_eq!(warnings(&session, "But now.").await, ["mind the gap"]);
    assert_eq!(warnings(&session, "And once only.").await, Vec::<String>::new());
}

#[tokio::test]
async fn what_was_kept_out_of_the_prompt_is_told_although_nobody_listens_to_the_first_turn() {
    let agent = agent(&ScriptedProvider::new()).section(Warns::default()).build().unwrap();
    let session = agent.session();

    session.send("Nobody listens.").await.unwrap();

    assert_eq!(warnings(&session, "Hello.").await, ["an entry was kept out"]);
}

/// Crashes before every call.
#[derive(Debug)]
struct Crashes;

#[async_trait]
impl Hook for Crashes {
    fn listens(&self) -> HookPoints {
        HookPoints::BEFORE_CALL
    }

    async fn before_call(&self, _: &BeforeCall<'_>) -> CallAction {
        panic!("as asked")
    }
}

#[tokio::test]
async fn what_the_loop_warns_of_waits_for_a_listener_too() {
    let model = ScriptedProvider::new()
        .call("deploy", json!({"text": "nobody allows it"}))
        .say("Denied.")
        .call("echo", json!({"text": "the hook crashes"}));
    let session = agent(&model).tool(deploy()).hook(Crashes).build().unwrap().session();

    session.send("Nobody listens.").await.unwrap();
    session.send("Nor now.").await.unwrap();

    let told = warnings(&session, "But now.").await;
    assert!(told[0].contains("no approver"), "{told:?}");
    assert!(told[1].contains("A hook crashed"), "{told:?}");
    assert_eq!(told.len(), 2);
}

#[tokio::test]
async fn what_a_conversation_warns_of_is_not_told_in_another() {
    let model = ScriptedProvider::new().call("warner", json!({"text": "ann's secret"}));
    let agent = agent(&model).tool(warner()).build().unwrap();
    let (ann, bob) = (agent.session(), agent.session());
    ann.send("Go.").await.unwrap();

    let told = warnings(&bob, "Hello.").await;

    assert_eq!(told, Vec::<String>::new());
    assert_eq!(warnings(&ann, "Hello.").await, ["ann's secret"]);
}

#[tokio::test]
async fn a_conversation_that_is_opened_for_every_request_hears_what_it_was_warned_of() {
    let model = ScriptedProvider::new().call("warner", json!({"text": "ann's secret"}));
    let agent = agent(&model).tool(warner()).sessions(InMemorySessions::default()).build().unwrap();
    let [ann, bob] = ["ann", "bob"].map(SessionId::new);
    for text in ["Nobody listens.", "Nor now."] {
        let session = agent.open(&ann).await.unwrap();
        session.send(text).await.unwrap();
        session.close().await;
    }

    let bob = agent.open(&bob).await.unwrap();
    assert_eq!(warnings(&bob, "Hello.").await, Vec::<String>::new());
    let session = agent.resume(&ann).await.unwrap().unwrap();
    assert_eq!(warnings(&session, "But now.").await, ["ann's secret"]);
    session.close().await;
    let session = agent.open(&ann).await.unwrap();
    assert_eq!(warnings(&session, "And once only.").await, Vec::<String>::new());
}

#[tokio::test]
async fn conversations_of_one_name_hear_nothing_of_each_other_without_a_store() {
    let model = ScriptedProvider::new().call("warner", json!({"text": "ann's secret"}));
    let agent = agent(&model).tool(warner()).build().unwrap();
    let [ann, bob] = [(); 2].map(|()| agent.session_as(SessionId::new("web")));
    ann.send("Go.").await.unwrap();

    assert_eq!(warnings(&bob, "Hello.").await, Vec::<String>::new());
    assert_eq!(warnings(&ann, "Hello.").await, ["ann's secret"]);
}

// Held calls.

/// Runs one turn that holds what it calls, and returns its session and what was held.
async fn held(agent: AgentBuilder, queue: &Queue) -> (Agent, Session, Vec<ApprovalRequest>) {
    let agent = agent.approver(queue.clone()).build().unwrap();
    let session = agent.session();
    session.send("Go.").await.unwrap();
    (agent, session, queue.take())
}

/// A tool that writes as long as its turn leaves it time, and says when it began and what it did.
fn slow(began: &Arc<Notify>, done: &Arc<AtomicBool>) -> impl Tool + use<> {
    let (began, done) = (Arc::clone(began), Arc::clone(done));
    tool::from_fn("deploy", "Deploys.", move |_: Echo, context: ToolContext| {
        let (began, done) = (Arc::clone(&began), Arc::clone(&done));
        async move {
            began.notify_one();
            context.token().cancelled().await;
            tokio::time::sleep(Duration::from_secs(1)).await;
            done.store(true, Ordering::SeqCst);
            Ok("finished all the same")
        }
    })
    .configure(|spec| {
        spec.with_approval(NeedsApproval::Always).with_cancel_grace(Duration::from_secs(9))
    })
}

#[tokio::test(start_paused = true)]
async fn a_held_call_whose_caller_goes_away_comes_to_its_end_and_is_recorded() {
    let (began, done) = (Arc::default(), Arc::default());
    let audit = RecordingAudit::default();
    let queue = Queue::default();
    let model = ScriptedProvider::new().call("deploy", json!({"text": "a"}));
    let builder = agent(&model).tool(slow(&began, &done)).audit(audit.clone());
    let (agent, session, held) = held(builder, &queue).await;

    {
        let decide = session.decide_held(&held[0], Approval::AllowOnce, none());
        tokio::pin!(decide);
        tokio::select! {
            _ = &mut decide => panic!("it is slow"),
            () = began.notified() => {}
        }
    }
    agent.settled().await;

    assert!(done.load(Ordering::SeqCst), "a write that has begun is waited for");
    let last = audit.events().pop();
    let is_done = matches!(&last, Some(AuditEvent::Call { status: CallStatus::Done, .. }));
    assert!(is_done, "{last:?}");
}

#[tokio::test(start_paused = true)]
async fn closing_and_shutting_down_wait_for_held_calls() {
    for is_shutdown in [false, true] {
        let (began, done) = (Arc::default(), Arc::default());
        let queue = Queue::default();
        let model = ScriptedProvider::new().call("deploy", json!({"text": "a"}));
        let builder = agent(&model).tool(slow(&began, &done));
        let (agent, session, held) = held(builder, &queue).await;
        let end = async {
            began.notified().await;
            if is_shutdown {
                agent.shutdown().await;
            } else {
                session.close().await;
            }
            done.load(Ordering::SeqCst)
        };
        let decide = session.decide_held(&held[0], Approval::AllowOnce, none());
        let (output, was_done) = tokio::join!(decide, end);

        assert!(was_done, "nothing is written after that ({is_shutdown})");
        let output = output.unwrap();
        assert_eq!(output.content, "finished all the same");
    }
}

/// Holds every write.
#[derive(Debug)]
struct HoldsWrites;

impl hermes_core::review::ReviewPolicy for HoldsWrites {
    fn after_turn(
        &self,
        _: &hermes_core::agent::FinishedTurn,
    ) -> Option<hermes_core::review::ReviewTask> {
        None
    }

    fn judge(&self, _: &hermes_core::review::ProposedWrite) -> hermes_core::review::Verdict {
        hermes_core::review::Verdict::Hold
    }
}

#[tokio::test]
async fn a_held_write_is_not_made_by_running_its_call_again() {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let remember = tool::from_fn("remember", "Keeps.", move |_: Echo, context: ToolContext| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move {
            let change = Change::applied(ChangeTarget::Memory(Target::User), ChangeAction::Update);
            Ok(format!("{:?}", context.ask("remember", &json!({"text": "a"}), change).await))
        }
    });
    let queue = Queue::default();
    let model = ScriptedProvider::new().call("remember", json!({"text": "a"}));
    let builder = agent(&model).tool(remember).review(HoldsWrites);
    let (_, session, held) = held(builder, &queue).await;
    assert!(held[0].change.is_some());

    let outcome = session.decide_held(&held[0], Approval::AllowOnce, none()).await;

    assert!(matches!(outcome, Err(AgentError::HeldWrite)), "{outcome:?}");
    assert_eq!((runs.load(Ordering::SeqCst), queue.take().len()), (1, 0));
}

/// Gives every call of `deploy` the same arguments.
#[derive(Debug)]
struct Normalises;

#[async_trait]
impl Hook for Normalises {
    fn listens(&self) -> HookPoints {
        HookPoints::BEFORE_CALL
    }

    async fn before_call(&self, _: &BeforeCall<'_>) -> CallAction {
        CallAction::Replace(json!({"text": "to staging"}))
    }
}

#[tokio::test]
async fn what_a_hook_leaves_as_it_was_is_not_asked_about_again() {
    let queue = Queue::default();
    let model = ScriptedProvider::new().call("deploy", json!({"text": "to production"}));
    let builder = agent(&model).tool(deploy()).hook(Normalises);
    let (_, session, first) = held(builder, &queue).await;

    let changed = session.decide_held(&first[0], Approval::AllowOnce, none()).await.unwrap();
    let second = queue.take();
    let output = session.decide_held(&second[0], Approval::AllowOnce, none()).await.unwrap();

    assert_eq!(changed.status, CallStatus::Rejected, "other arguments are another question");
    assert_eq!((output.status, output.content.as_str()), (CallStatus::Done, "to staging"));
    assert_eq!(queue.take(), []);
}

/// A section that warns each time it is read, and takes its time.
#[derive(Debug, Default)]
struct Warns(AtomicU32);

#[async_trait]
impl PromptSource for Warns {
    fn slot(&self) -> Slot {
        Slot::Memory
    }

    fn needs_tool(&self) -> Option<&str> {
        None
    }

    async fn render(&self, _: &[&str]) -> Section {
        let count = self.0.fetch_add(1, Ordering::SeqCst);
        for _ in 0..=3 * count {
            tokio::task::yield_now().await;
        }
        Section::new(format!("read {count}")).with_warning("an entry was kept out")
    }
}

#[tokio::test]
async fn a_prompt_that_a_held_call_has_read_is_frozen_and_its_warnings_are_told() {
    let model = ScriptedProvider::new();
    let agent = agent(&model).tool(deploy()).section(Warns::default()).build().unwrap();
    let session = agent.session();
    let call = Call::new("c1", "deploy", json!({"text": "a"}));
    let request = ApprovalRequest::new(call, session.id().clone());

    session.decide_held(&request, Approval::AllowOnce, none()).await.unwrap();

    assert_eq!(warnings(&session, "Hello.").await, ["an entry was kept out"]);
    assert!(model.requests()[0].system.contains("read 0"));
}

#[tokio::test]
async fn a_held_call_beside_the_first_turn_does_not_read_the_prompt_anew() {
    let model = ScriptedProvider::new();
    let agent = agent(&model).tool(deploy()).section(Warns::default()).build().unwrap();
    let session = agent.session();
    let call = Call::new("c1", "deploy", json!({"text": "a"}));
    let request = ApprovalRequest::new(call, session.id().clone());

    let reply = session.send("One.");
    tokio::task::yield_now().await;
    session.decide_held(&request, Approval::AllowOnce, none()).await.unwrap();
    reply.await.unwrap();
    session.send("Two.").await.unwrap();

    let systems: Vec<_> = model.requests().into_iter().map(|it| it.system).collect();
    assert_eq!(systems[0], systems[1]);
    assert_eq!(session.system_prompt(), Some(systems[0].clone()));
}

#[tokio::test]
async fn a_held_call_of_a_sub_agent_starts_no_other() {
    let deeper =
        tool::from_fn("deeper", "Goes deeper.", |_: Echo, context: ToolContext| async move {
            Ok(format!("may fork: {}", context.fork().is_some()))
        })
        .configure(|spec| spec.with_approval(NeedsApproval::Always));
    let delegate =
        tool::from_fn("delegate", "Delegates.", |_: Echo, context: ToolContext| async move {
            let task =
                ForkTask::new("Go.", Origin::new(OriginKind::Delegate)).with_tools(["deeper"]);
            let outcome = context.fork().unwrap().run(task).await.unwrap();
            Ok(outcome.text)
        })
        .configure(ToolSpec::parallel_safe);
    let queue = Queue::default();
    let model = ScriptedProvider::new()
        .call("delegate", json!({"text": ""}))
        .call("deeper", json!({"text": ""}));
    let (_, session, held) = held(agent(&model).tool(deeper).tool(delegate), &queue).await;
    assert_eq!(held[0].origin.kind, OriginKind::Delegate);

    let output = session.decide_held(&held[0], Approval::AllowOnce, none()).await.unwrap();

    assert_eq!(output.content, "may fork: false");
}

#[tokio::test]
async fn a_held_call_survives_a_restart_and_one_of_a_lost_tool_is_said_to_be_lost() {
    let store = InMemorySessions::default();
    let queue = Queue::default();
    let model = ScriptedProvider::new().call("deploy", json!({"text": "a"})).say("It waits.");
    let builder = agent(&model).tool(deploy()).sessions(store.clone());
    let (_, session, held) = held(builder, &queue).await;
    let kept = serde_json::to_string(&held[0]).unwrap();
    let id = session.id().clone();
    session.close().await;
    let request: ApprovalRequest = serde_json::from_str(&kept).unwrap();

    let later = agent(&model).tool(deploy()).sessions(store.clone()).build().unwrap();
    let session = later.open(&id).await.unwrap();
    let output = session.decide_held(&request, Approval::AllowOnce, none()).await.unwrap();
    session.close().await;
    let without = agent(&model).sessions(store).build().unwrap();
    let session = without.open(&id).await.unwrap();
    let lost = session.decide_held(&request, Approval::AllowOnce, none()).await.unwrap();

    assert_eq!((output.status, output.content.as_str()), (CallStatus::Done, "a"));
    assert_eq!(lost.status, CallStatus::Rejected);
    assert!(lost.content.contains("deploy"), "{}", lost.content);
}

/// Holds what says so, and waits for ever about everything else.
fn holds_and_waits() -> impl Approver {
    approval::from_fn(|request: ApprovalRequest| async move {
        if request.call.arguments.as_str().contains("hold") {
            return Approval::Hold;
        }
        std::future::pending().await
    })
}

#[tokio::test]
async fn the_model_is_told_of_a_held_call_also_where_its_turn_is_cancelled() {
    let both = [("deploy", json!({"text": "hold"})), ("deploy", json!({"text": "wait"}))];
    let model = ScriptedProvider::new().calls(both).say("It waits.");
    let agent = agent(&model).tool(deploy()).approver(holds_and_waits()).build().unwrap();
    let session = agent.session();
    let mut reply = session.send("Go.");
    let mut asked = 0;
    while let Some(event) = reply.next().await {
        asked += u32::from(matches!(event, AgentEvent::ApprovalAsked(_)));
        if asked == 2 {
            session.cancel();
        }
    }
    assert_eq!(reply.await.unwrap().finish, Finish::Cancelled);

    session.retry(none()).await.unwrap();

    let results = results(&session.history());
    assert!(results[0].content.starts_with("Held for a person"), "{}", results[0].content);
    assert_eq!(results[1].status, CallStatus::Cancelled);
    assert_paired(&session.history());
}

#[tokio::test]
async fn the_model_is_told_of_a_held_call_after_one_that_was_cancelled_or_ended_the_turn() {
    for (first, finish) in
        [("hang", Finish::Cancelled), ("end", Finish::EndedByTool("enough".to_owned()))]
    {
        let both = [("echo", json!({"text": first})), ("deploy", json!({"text": "b"}))];
        let model = ScriptedProvider::new().calls(both).say("It waits.");
        let agent = agent(&model).tool(deploy()).approver(Queue::default()).build().unwrap();
        let session = agent.session();
        let mut reply = session.send("Go.");
        while let Some(event) = reply.next().await {
            if matches!(event, AgentEvent::CallStarted(_)) && first == "hang" {
                session.cancel();
            }
        }
        assert_eq!(reply.await.unwrap().finish, finish);

        let results = results(&session.history());
        assert!(results[1].content.starts_with("Held for a person"), "{}", results[1].content);
        assert_paired(&session.history());
    }
}

#[tokio::test]
async fn the_model_is_told_of_a_held_call_also_where_its_process_ended() {
    let store = InMemorySessions::default();
    let both = [("deploy", json!({"text": "hold"})), ("deploy", json!({"text": "wait"}))];
    let model = ScriptedProvider::new().calls(both);
    let builder = agent(&model).tool(deploy()).approver(holds_and_waits()).sessions(store.clone());
    let session = builder.build().unwrap().session_as(SessionId::new("s1"));
    let mut reply = session.send("Go.");
    let mut asked = 0;
    while asked < 2 {
        asked += u32::from(matches!(reply.next().await, Some(AgentEvent::ApprovalAsked(_))));
    }
    let killed = store.load(session.id()).await.unwrap().unwrap();

    let later = agent(&ScriptedProvider::new()).tool(deploy()).build().unwrap();
    let later = later.adopt(SessionId::new("s1"), killed);
    later.send("Hello?").await.unwrap();

    let results = results(&later.history());
    assert!(results[0].content.starts_with("Held for a person"), "{}", results[0].content);
    assert_eq!(results[1].status, CallStatus::Cancelled);
    assert_paired(&later.history());
}

// Running a turn again.

#[tokio::test]
async fn wherever_a_store_fails_for_a_moment_a_retry_brings_the_turn_to_its_end() {
    let mut failed = 0;
    for (at, length) in (0..9).flat_map(|at| [(at, 1), (at, 2)]) {
        let (store, inner) = Troubled::failing(&Plan::at(at..at + length));
        let model = ScriptedProvider::new().answer_with(|request| {
            let is_new = request.messages.iter().all(|it| it.call_results().next().is_none());
            if is_new {
                let call = Call::new("c", "echo", json!({"text": "one"}));
                return Message::new(hermes_core::message::Role::Assistant, vec![Part::Call(call)]);
            }
            Message::assistant("done")
        });
        let agent = agent(&model).sessions(store).build().unwrap();
        let session = agent.session();

        let mut turn = session.send("Go.").await;
        while turn.is_err() {
            failed += 1;
            turn = session.retry(none()).await;
            assert!(!matches!(turn, Err(AgentError::NothingToRetry)), "write {at}");
        }

        let turn = turn.unwrap();
        assert_eq!((turn.text.as_str(), turn.finish), ("done", Finish::Answered), "write {at}");
        assert_paired(&session.history());
        let stored = inner.load(session.id()).await.unwrap().unwrap();
        assert_eq!(stored.messages, *session.history(), "write {at}");
        assert_eq!((stored.state.turn, stored.state.turns), (None, 1), "write {at}");
        assert!(matches!(session.retry(none()).await, Err(AgentError::NothingToRetry)));
    }
    assert!(9 < failed, "{failed}");
}

#[tokio::test]
async fn attempts_that_come_to_nothing_do_not_wear_the_counts_down() {
    let plan = Plan::default();
    let (store, _) = Troubled::failing(&plan);
    let model = ScriptedProvider::new();
    let agent = agent(&model).sessions(store).build().unwrap();
    let session = agent.session();
    for _ in 0..3 {
        session.send("Go.").await.unwrap();
    }
    plan.next(0, 1);
    session.send("Go.").await.unwrap_err();

    for _ in 0..3 {
        plan.next(0, 1);
        session.retry(none()).await.unwrap_err();
    }

    assert_eq!(session.counts().turns_since_memory, 3);
}

#[tokio::test]
async fn a_conversation_that_ends_with_a_question_can_be_adopted_and_answered() {
    let model = ScriptedProvider::new().say("Hello!");
    let agent = agent(&model).build().unwrap();
    let stored = StoredSession::new(vec![Message::user("Hi.")], SessionState::default());

    let session = agent.adopt(SessionId::new("s1"), stored);
    let turn = session.retry(none()).await.unwrap();

    assert_eq!((turn.turn, turn.text.as_str()), (1, "Hello!"));
    assert_eq!(session.send("Bye.").await.unwrap().turn, 2);
}

/// A model that says nothing of what it used, and makes room at 1,000 tokens.
fn cramped() -> (ScriptedProvider, Summariser) {
    let room = Summariser::new(1_000).head_messages(0).tail_messages(1).tail_tokens(0);
    (ScriptedProvider::new().usage(Usage::default()), room)
}

const WISH: &str = "Find the needle, and leave the thread alone.";

#[tokio::test]
async fn running_a_turn_again_does_not_lose_what_the_user_asked_for() {
    let (model, room) = cramped();
    let model = model
        .say_then_fail("word ".repeat(1_500), down())
        .say("GOAL: something")
        .say("Here it is.");
    let session = agent(&model).compressor(room).build().unwrap().session();
    session.send(WISH).await.unwrap_err();

    session.retry(none()).await.unwrap();

    let shown = format!("{:?}", model.last_request().unwrap().messages);
    assert!(shown.contains("GOAL: something"), "there was no summary: {shown}");
    assert!(shown.contains(WISH), "{shown}");
    assert!(shown.contains("broken off"), "{shown}");
}

#[tokio::test]
async fn going_on_with_a_cut_answer_does_not_lose_what_the_user_asked_for() {
    let (model, room) = cramped();
    let cut = Message::assistant("word ".repeat(1_500)).with_stop(StopReason::Length);
    let model = model.reply(cut).say("GOAL: something").say("Here it is.");
    let session = agent(&model).compressor(room).build().unwrap().session();

    session.send(WISH).await.unwrap();

    let shown = format!("{:?}", model.last_request().unwrap().messages);
    assert!(shown.contains("GOAL: something"), "there was no summary: {shown}");
    assert!(shown.contains(WISH), "{shown}");
}

#[tokio::test]
async fn what_the_loop_says_are_no_words_of_the_user() {
    let cut = Message::assistant("Once").with_stop(StopReason::Length);
    let model = ScriptedProvider::new().reply(cut).say_then_fail(" upon", down()).say("a time");
    let store = InMemorySessions::default();
    let session = agent(&model).sessions(store.clone()).build().unwrap().session();
    session.send("Tell.").await.unwrap_err();

    session.retry(none()).await.unwrap();

    let history = session.history();
    let users = history.iter().filter(|it| it.role == hermes_core::message::Role::User);
    let words: Vec<String> = users.map(|it| it.text()).collect();
    assert_eq!(words, ["Tell.", "", ""]);
    assert_eq!(store.search("answer", 5).await.unwrap().len(), 0);
}

#[tokio::test]
async fn what_was_steered_meanwhile_goes_with_the_turn_that_runs_again() {
    let model = ScriptedProvider::new().say_then_fail("Once", down()).say("In short: once.");
    let session = agent(&model).build().unwrap().session();
    session.send("Tell.").await.unwrap_err();
    session.steer("But make it short.");

    session.retry(none()).await.unwrap();

    let asked = model.last_request().unwrap().messages;
    let last = asked.last().unwrap();
    assert_eq!(last.text(), "But make it short.");
    assert!(format!("{:?}", last.parts).contains("broken off"));
    assert_eq!(session.history().len(), 4);
}

// Processes that die.

/// Returns what a store has of a turn while its call `text` runs.
async fn killed_at(text: &str) -> StoredSession {
    let store = InMemorySessions::default();
    let model = ScriptedProvider::new()
        .calls([("echo", json!({"text": "one"})), ("echo", json!({"text": text}))]);
    let agent = agent(&model).sessions(store.clone()).build().unwrap();
    let session = agent.session_as(SessionId::new("s1"));
    let mut reply = session.send("Go.");
    let mut started = 0;
    while started < 2 {
        started += u32::from(matches!(reply.next().await, Some(AgentEvent::CallStarted(_))));
    }
    let stored = store.load(session.id()).await.unwrap().unwrap();
    drop(reply);
    session.idle().await;
    stored
}

#[tokio::test]
async fn a_turn_that_was_killed_is_opened_and_run_again_without_repeating_a_call() {
    let killed = killed_at("hang").await;
    let store = InMemorySessions::default();
    let id = SessionId::new("s1");
    store.append(&id, 0, &killed.messages, &killed.state).await.unwrap();
    let model = ScriptedProvider::new().say("done");
    let agent = agent(&model).sessions(store.clone()).build().unwrap();

    let session = agent.open(&id).await.unwrap();
    let turn = session.retry(none()).await.unwrap();

    assert_eq!((turn.turn, turn.text.as_str()), (1, "done"));
    let results = results(&session.history());
    assert_eq!((results[0].status, results[0].content.as_str()), (CallStatus::Done, "one"));
    assert!(results[1].content.contains("may have had an effect"), "{}", results[1].content);
    assert_paired(&session.history());
    assert_eq!(store.load(&id).await.unwrap().unwrap().state.turn, None);
}

#[tokio::test]
async fn a_session_that_is_in_use_is_not_deleted_and_one_that_failed_is() {
    let store = InMemorySessions::default();
    let model = ScriptedProvider::new().fail(down()).say("hello");
    let agent = agent(&model).sessions(store.clone()).build().unwrap();
    let id = SessionId::new("s1");
    let session = agent.open(&id).await.unwrap();
    session.send("Hi.").await.unwrap_err();

    let early = store.delete(&id).await;
    drop(session);
    assert!(store.delete(&id).await.unwrap());
    let again = agent.open(&id).await.unwrap();

    assert!(matches!(early, Err(StoreError::Locked(_))), "{early:?}");
    assert!(matches!(again.retry(none()).await, Err(AgentError::NothingToRetry)));
    assert_eq!(again.send("Hi.").await.unwrap().turn, 1);
}

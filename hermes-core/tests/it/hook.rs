//! Hooks: what they see, what they can change, and that nothing they do breaks a conversation.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::StreamExt;
use hermes_core::{
    Agent, CancellationToken,
    agent::{
        AgentError, AgentEvent, Finish,
        hook::{
            AfterCall, AfterReply, BeforeCall, BeforeRequest, CallAction, Hook, HookPoints,
            RequestAction, RequestChange, ResultAction, TurnEnded,
        },
    },
    approval::{self, Approval, ApprovalRequest, NeedsApproval},
    async_trait,
    change::{Change, ChangeAction, ChangeTarget},
    cost::{Cost, Pricing, Spending},
    fork::ForkTask,
    memory::Target,
    message::{CallStatus, Message, Role, Usage},
    origin::{Origin, OriginKind},
    provider::{EventStream, Provider, ProviderError, ProviderErrorKind, Request, ToolChoice},
    store::{SessionId, SessionStore, StoreError},
    testing::{InMemorySessions, ScriptedProvider},
    tool::{self, ToolContext, ToolOutput, ToolSpec},
};
use serde_json::json;

use crate::support::{Echo, agent, assert_paired, results};

/// A hook that notes what it is shown and answers as told.
#[derive(Clone)]
pub(crate) struct Probe(Arc<Inner>);

struct Inner {
    name: &'static str,
    points: HookPoints,
    log: Arc<Mutex<Vec<String>>>,
    request: Box<dyn Fn(&BeforeRequest<'_>) -> RequestAction + Send + Sync>,
    call: Box<dyn Fn(&BeforeCall<'_>) -> CallAction + Send + Sync>,
    result: Box<dyn Fn(&AfterCall<'_>) -> ResultAction + Send + Sync>,
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl Probe {
    fn new(points: HookPoints) -> Self {
        Self(Arc::new(Inner {
            name: "probe",
            points,
            log: Arc::default(),
            request: Box::new(|_| RequestAction::Proceed),
            call: Box::new(|_| CallAction::Proceed),
            result: Box::new(|_| ResultAction::Keep),
        }))
    }

    fn with(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::get_mut(&mut self.0).unwrap());
        self
    }

    fn request(
        answer: impl Fn(&BeforeRequest<'_>) -> RequestAction + Send + Sync + 'static,
    ) -> Self {
        Self::new(HookPoints::BEFORE_REQUEST).with(|it| it.request = Box::new(answer))
    }

    fn call(answer: impl Fn(&BeforeCall<'_>) -> CallAction + Send + Sync + 'static) -> Self {
        Self::new(HookPoints::BEFORE_CALL).with(|it| it.call = Box::new(answer))
    }

    fn result(answer: impl Fn(&AfterCall<'_>) -> ResultAction + Send + Sync + 'static) -> Self {
        Self::new(HookPoints::AFTER_CALL).with(|it| it.result = Box::new(answer))
    }

    fn named(self, name: &'static str, log: &Arc<Mutex<Vec<String>>>) -> Self {
        self.with(|it| {
            it.name = name;
            it.log = Arc::clone(log);
        })
    }

    fn note(&self, what: impl fmt::Display) {
        self.0.log.lock().unwrap().push(format!("{}: {what}", self.0.name));
    }

    fn log(&self) -> Vec<String> {
        self.0.log.lock().unwrap().clone()
    }
}

#[async_trait]
impl Hook for Probe {
    fn listens(&self) -> HookPoints {
        self.0.points
    }

    async fn before_request(&self, event: &BeforeRequest<'_>) -> RequestAction {
        self.note(format_args!("request {} {:?}", event.number, event.scope.origin.kind));
        (self.0.request)(event)
    }

    async fn after_reply(&self, event: &AfterReply<'_>) {
        self.note(format_args!("reply {} {:?}", event.number, event.scope.origin.kind));
    }

    async fn before_call(&self, event: &BeforeCall<'_>) -> CallAction {
        self.note(format_args!("call {} {:?}", event.call.name, event.scope.origin.kind));
        (self.0.call)(event)
    }

    async fn after_call(&self, event: &AfterCall<'_>) -> ResultAction {
        self.note(format_args!("result {:?} {:?}", event.output.status, event.scope.origin.kind));
        (self.0.result)(event)
    }

    async fn turn_ended(&self, event: &TurnEnded<'_>) {
        let turn = event.turn.map_or("-".to_owned(), |turn| turn.to_string());
        match event.outcome {
            Ok(finished) => self.note(format_args!("end {turn} {:?}", finished.finish)),
            Err(err) => self.note(format_args!("end {turn} {err}")),
        }
    }
}

fn echoes(texts: &[&str]) -> ScriptedProvider {
    ScriptedProvider::new().calls(texts.iter().map(|it| ("echo", json!({"text": it}))))
}

/// Runs one turn in which the model makes these calls at once, and returns how it ended and the
/// results.
async fn one_turn(hook: Probe, texts: &[&str]) -> (Finish, Vec<(CallStatus, String)>) {
    let session = agent(&echoes(texts)).hook(hook).build().unwrap().session();
    let turn = session.send("Go.").await.unwrap();
    assert_paired(&session.history());
    let results = results(&session.history()).into_iter().map(|it| (it.status, it.content));
    (turn.finish, results.collect())
}

fn result(status: CallStatus, content: &str) -> (CallStatus, String) {
    (status, content.to_owned())
}

#[tokio::test]
async fn a_hook_sees_a_turn_in_order() {
    let hook = Probe::new(HookPoints::ALL);
    let session = agent(&echoes(&["one"])).hook(hook.clone()).build().unwrap().session();

    session.send("Go.").await.unwrap();

    assert_eq!(
        hook.log(),
        [
            "probe: request 1 User",
            "probe: reply 1 User",
            "probe: call echo User",
            "probe: result Done User",
            "probe: request 2 User",
            "probe: reply 2 User",
            "probe: end 1 Answered",
        ]
    );
}

#[tokio::test]
async fn a_hook_is_called_only_where_it_listens() {
    let hook = Probe::new(HookPoints::AFTER_REPLY | HookPoints::AFTER_CALL);
    let session = agent(&echoes(&["one"])).hook(hook.clone()).build().unwrap().session();

    session.send("Go.").await.unwrap();

    assert_eq!(
        hook.log(),
        ["probe: reply 1 User", "probe: result Done User", "probe: reply 2 User"]
    );
}

#[tokio::test]
async fn a_request_is_changed_for_once_and_by_each_hook_in_turn() {
    let first = Probe::request(|event| match event.number {
        1 => RequestAction::Change(
            RequestChange::default().with_context("It is late.").with_model("small"),
        ),
        _ => RequestAction::Proceed,
    });
    let second = Probe::request(|event| {
        let seen = format!("{} {}", event.request.model, event.request.messages.len());
        RequestAction::Change(RequestChange::default().with_context(seen))
    });
    let model = echoes(&["one"]);
    let session = agent(&model).hook(first).hook(second).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let requests = model.requests();
    let render = |at: usize| {
        let text = hermes_core::testing::render_request(&requests[at]);
        text.split_once("user:").unwrap().1.to_owned()
    };
    assert_eq!(requests[0].model.as_str(), "small");
    assert_eq!(requests[1].model.as_str(), "scripted");
    assert!(render(0).contains("It is late.") && render(0).contains("small 2"), "{}", render(0));
    assert!(
        !render(1).contains("It is late.") && render(1).contains("scripted 3"),
        "{}",
        render(1)
    );
    assert_eq!(
        (&requests[0].system, &requests[0].tools),
        (&requests[1].system, &requests[1].tools)
    );
    let roles: Vec<_> = session.history().iter().map(|it| it.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Assistant]);
}

#[tokio::test]
async fn a_hook_may_change_the_prompt_if_it_says_so() {
    let hook = Probe::request(|event| {
        let change = RequestChange::default()
            .replacing_system("You are brief.")
            .replacing_tools(Vec::new())
            .with_tool_choice(ToolChoice::Required)
            .with_sampling(event.request.sampling.clone());
        RequestAction::Change(change)
    });
    let call = || ("echo", json!({"text": "x"}));
    let model = ScriptedProvider::new().calls([call()]).say("So far, so good.");
    let session = agent(&model).max_requests(2).hook(hook).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let requests = model.requests();
    assert_eq!(&*requests[0].system, "You are brief.");
    assert!(requests[0].tools.is_empty());
    assert_eq!(requests[0].tool_choice, ToolChoice::Required);
    assert_eq!(requests[1].tool_choice, ToolChoice::None, "the last one sums up");
    assert_eq!(&*session.system_prompt().unwrap(), "You echo.");
}

#[tokio::test]
async fn a_turn_is_stopped_before_a_request() {
    let hook = Probe::request(|event| match event.scope.turn {
        1 if event.number == 2 => RequestAction::Stop("too expensive".to_owned()),
        _ => RequestAction::Proceed,
    });
    let model = echoes(&["one"]);
    let session = agent(&model).hook(hook).build().unwrap().session();

    let turn = session.send("Go.").await.unwrap();

    assert_eq!(turn.finish, Finish::Stopped("too expensive".to_owned()));
    assert!(!turn.is_completed());
    assert_eq!(model.requests().len(), 1);
    assert_paired(&session.history());
    assert_eq!(session.send("Hello?").await.unwrap().text, "done");
}

#[tokio::test]
async fn a_call_is_denied_replaced_or_answered_without_running() {
    let hook = Probe::call(|event| match event.arguments["text"].as_str() {
        Some("deny") => CallAction::Deny("not today".to_owned()),
        Some("replace") => CallAction::Replace(json!({"text": "replaced"})),
        Some("misfit") => CallAction::Replace(json!({"txet": 1})),
        Some("answer") => CallAction::Answer(ToolOutput::done("from the hook")),
        _ => CallAction::Proceed,
    });

    let (finish, results) =
        one_turn(hook, &["deny", "replace", "misfit", "answer", "proceed"]).await;

    assert_eq!(finish, Finish::Answered);
    assert_eq!(
        results,
        [
            result(CallStatus::Rejected, "Not run: not today"),
            result(CallStatus::Done, "replaced"),
            result(
                CallStatus::Failed,
                "Not run: its arguments were replaced by ones that do not fit. \"text\" is required. \
                 You passed \"txet\"; did you mean \"text\"?"
            ),
            result(CallStatus::Done, "from the hook"),
            result(CallStatus::Done, "proceed"),
        ]
    );
}

#[tokio::test]
async fn each_hook_sees_the_arguments_that_the_one_before_made() {
    let append = |suffix: &'static str| {
        Probe::call(move |event| {
            let text = event.arguments["text"].as_str().unwrap();
            CallAction::Replace(json!({"text": format!("{text}{suffix}")}))
        })
    };
    let model = echoes(&["a"]);
    let session = agent(&model).hook(append("b")).hook(append("c")).build().unwrap().session();

    let mut reply = session.send("Go.");
    let started = loop {
        if let AgentEvent::CallStarted(call) = reply.next().await.unwrap() {
            break call;
        }
    };
    reply.await.unwrap();

    assert_eq!(started.arguments.as_str(), r#"{"text":"abc"}"#);
    assert_eq!(results(&session.history())[0].content, "abc");
    let history = session.history();
    assert_eq!(history[1].calls().next().unwrap().arguments.as_str(), r#"{"text":"a"}"#);
}

#[tokio::test]
async fn what_cannot_run_is_not_shown_before_but_after() {
    let hook = Probe::new(HookPoints::BEFORE_CALL | HookPoints::AFTER_CALL);
    let model = ScriptedProvider::new().calls([("ehco", json!({})), ("echo", json!({"text": 1}))]);
    let session = agent(&model).hook(hook.clone()).build().unwrap().session();

    session.send("Go.").await.unwrap();

    assert_eq!(hook.log(), ["probe: result Rejected User", "probe: result Rejected User"]);
}

#[tokio::test]
async fn a_turn_is_stopped_before_a_call() {
    let hook = Probe::call(|event| match event.arguments["text"].as_str() {
        Some("stop") => CallAction::Stop("enough".to_owned()),
        _ => CallAction::Proceed,
    });

    let (finish, results) = one_turn(hook, &["one", "stop", "three"]).await;

    assert_eq!(finish, Finish::Stopped("enough".to_owned()));
    assert_eq!(
        results,
        [
            result(CallStatus::Done, "one"),
            result(CallStatus::Rejected, "Not run: the turn was stopped: enough"),
            result(CallStatus::Rejected, "Not run: an earlier call ended the turn."),
        ]
    );
}

#[tokio::test]
async fn a_result_is_replaced_and_its_changes_stay_on_record() {
    let remember = tool::from_fn("remember", "Remembers.", |_: Echo, _| async move {
        let change = Change::applied(ChangeTarget::Memory(Target::User), ChangeAction::Update);
        Ok(ToolOutput::done("key sk-123").with_change(change))
    });
    let hook = Probe::result(|event| {
        ResultAction::Replace(ToolOutput::done(event.output.content.replace("sk-123", "***")))
    });
    let model = ScriptedProvider::new().call("remember", json!({"text": ""}));
    let session = agent(&model).tool(remember).hook(hook).build().unwrap().session();

    let turn = session.send("Go.").await.unwrap();

    assert_eq!(results(&session.history())[0].content, "key ***");
    assert_eq!(turn.changes.len(), 1);
}

#[tokio::test]
async fn a_turn_is_stopped_after_a_call() {
    let hook = Probe::result(|_| ResultAction::Stop("enough".to_owned()));

    let (finish, results) = one_turn(hook, &["one", "two"]).await;

    assert_eq!(finish, Finish::Stopped("enough".to_owned()));
    assert_eq!(results[0], result(CallStatus::Done, "one"));
    assert_eq!(results[1].0, CallStatus::Rejected);
}

#[tokio::test]
async fn a_tool_that_ends_the_turn_has_the_last_word() {
    let hook = Probe::result(|_| ResultAction::Stop("me too".to_owned()));

    let (finish, _) = one_turn(hook, &["end"]).await;

    assert_eq!(finish, Finish::EndedByTool("enough".to_owned()));
}

#[tokio::test]
async fn a_hook_that_crashes_is_taken_to_say_no() {
    let in_request = Probe::request(|_| panic!("as asked"));
    let (finish, _) = one_turn(in_request, &["one"]).await;
    assert_eq!(finish, Finish::Stopped("a hook crashed before a model request".to_owned()));

    let in_call = Probe::call(|_| panic!("as asked"));
    let (finish, results) = one_turn(in_call, &["one"]).await;
    assert_eq!(finish, Finish::Answered);
    assert_eq!(results, [result(CallStatus::Rejected, "Not run: a check of the call crashed.")]);

    let in_result = Probe::result(|_| panic!("as asked"));
    let (finish, results) = one_turn(in_result, &["one"]).await;
    assert_eq!(finish, Finish::Answered);
    assert_eq!(results[0].0, CallStatus::Failed);
    assert!(!results[0].1.contains("one"), "{results:?}");
}

#[tokio::test]
async fn the_host_hears_of_a_crash() {
    let session = agent(&echoes(&["one"]))
        .hook(Probe::call(|_| panic!("as asked")))
        .build()
        .unwrap()
        .session();

    let events: Vec<_> = session.send("Go.").collect().await;

    let warnings = events.into_iter().filter_map(|event| match event {
        AgentEvent::Warning(text) => Some(text),
        _ => None,
    });
    assert_eq!(warnings.collect::<Vec<_>>(), ["A hook crashed before a call, which was denied."]);
}

/// A hook that never answers at these points.
#[derive(Debug)]
struct Stuck(HookPoints);

#[async_trait]
impl Hook for Stuck {
    fn listens(&self) -> HookPoints {
        self.0
    }

    async fn before_request(&self, _: &BeforeRequest<'_>) -> RequestAction {
        std::future::pending().await
    }

    async fn after_reply(&self, _: &AfterReply<'_>) {
        std::future::pending::<()>().await;
    }

    async fn before_call(&self, _: &BeforeCall<'_>) -> CallAction {
        std::future::pending().await
    }

    async fn after_call(&self, _: &AfterCall<'_>) -> ResultAction {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_hangs_ends_with_the_turn() {
    let check = async |points, expected: Option<&str>| {
        let end = Probe::new(HookPoints::TURN_ENDED);
        let model = echoes(&["one"]);
        let session =
            agent(&model).hook(Stuck(points)).hook(end.clone()).build().unwrap().session();
        let reply = session.send("Go.");
        tokio::time::sleep(Duration::from_secs(1)).await;
        session.cancel();

        assert_eq!(reply.await.unwrap().finish, Finish::Cancelled);
        let results = results(&session.history());
        assert_eq!(results.first().map(|it| it.content.as_str()), expected);
        assert_paired(&session.history());
        assert_eq!(end.log(), ["probe: end 1 Cancelled"]);
    };

    check(HookPoints::BEFORE_REQUEST, None).await;
    check(HookPoints::AFTER_REPLY, Some("Cancelled before it ran.")).await;
    check(HookPoints::BEFORE_CALL, Some("Cancelled before it ran.")).await;
    check(
        HookPoints::AFTER_CALL,
        Some(
            "Cancelled before its result was checked, so it is withheld. The call may have had an effect.",
        ),
    )
    .await;
}

/// A model whose requests crash.
#[derive(Debug)]
struct Crashes;

#[async_trait]
impl Provider for Crashes {
    async fn stream(
        &self,
        _: &Request,
        _: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        panic!("as asked")
    }
}

/// Keeps what turns took.
#[derive(Clone, Debug, Default)]
struct Accounts(Arc<Mutex<Vec<Spending>>>);

#[async_trait]
impl Hook for Accounts {
    fn listens(&self) -> HookPoints {
        HookPoints::TURN_ENDED
    }

    async fn turn_ended(&self, event: &TurnEnded<'_>) {
        self.0.lock().unwrap().push(event.spending);
    }
}

/// A dollar for a request; it crashes on small ones.
#[derive(Debug)]
struct Dollar;

impl Pricing for Dollar {
    fn cost(&self, model: &str, _: &Usage) -> Option<Cost> {
        assert_ne!(model, "bad", "as asked");
        Some(Cost::from_cents(100))
    }
}

#[tokio::test]
async fn the_end_says_what_the_turn_took_also_where_it_failed() {
    let accounts = Accounts::default();
    let refused = || ProviderError::new(ProviderErrorKind::Auth, "no key");
    let one = || ("echo", json!({"text": "one"}));
    let model = ScriptedProvider::new()
        .say("hello")
        .calls([one()])
        .fail(refused())
        .calls([one()])
        .calls([one()])
        .hang()
        .fail(refused());
    let agent = agent(&model).hook(accounts.clone()).pricing(Dollar).build().unwrap();
    let session = agent.session();

    session.send("One.").await.unwrap();
    session.send("Two.").await.unwrap_err();
    let mut third = session.send("Three.");
    let mut results = 0;
    while results < 2 {
        let event = third.next_event().await.unwrap();
        results += usize::from(matches!(event, AgentEvent::CallFinished(_)));
    }
    session.cancel();
    let third = third.await.unwrap();
    session.send("Four.").await.unwrap_err();

    let all = accounts.0.lock().unwrap().clone();
    let requests: Vec<u64> = all.iter().map(|it| it.requests).collect();
    assert_eq!(requests, [1, 1, 2, 0]);
    assert_eq!((all[2].usage, Some(all[2].cost)), (third.usage, third.cost));
    assert_eq!(all[1].cost, Cost::from_cents(100));
    let sum = all.into_iter().fold(Spending::default(), |mut sum, it| {
        sum += it;
        sum
    });
    assert_eq!(session.spending(), sum);
}

#[tokio::test]
async fn what_a_lost_turn_took_is_not_lost() {
    let accounts = Accounts::default();
    let model = ScriptedProvider::new().calls([("echo", json!({"text": "one"}))]).say("done");
    let agent = agent(&model).hook(accounts.clone());
    let agent = agent.hook(SwitchesModel).pricing(Dollar).build().unwrap();
    let session = agent.session();

    let lost = session.send("Go.").await;

    assert!(matches!(lost, Err(AgentError::Lost)), "{lost:?}");
    assert_eq!(accounts.0.lock().unwrap()[0].requests, 1);
    assert_eq!(session.spending().requests, 1);
}

/// Has the second request answered by a model whose price crashes.
#[derive(Debug)]
struct SwitchesModel;

#[async_trait]
impl Hook for SwitchesModel {
    fn listens(&self) -> HookPoints {
        HookPoints::BEFORE_REQUEST
    }

    async fn before_request(&self, event: &BeforeRequest<'_>) -> RequestAction {
        match event.number {
            1 => RequestAction::Proceed,
            _ => RequestAction::Change(RequestChange::default().with_model("bad")),
        }
    }
}

#[tokio::test]
async fn the_end_is_heard_once_however_a_turn_ends() {
    let hook = Probe::new(HookPoints::TURN_ENDED);
    let refused = ProviderError::new(ProviderErrorKind::Auth, "no key");
    let model = ScriptedProvider::new().say("hello").fail(refused).hang().hang();
    let session = agent(&model).hook(hook.clone()).build().unwrap().session();

    session.send("One.").await.unwrap();
    session.send("Two.").await.unwrap_err();
    let third = session.send("Three.");
    session.cancel();
    third.await.unwrap();
    drop(session.send("Four."));
    session.idle().await;
    let crashing = Agent::builder(Crashes).model("any").hook(hook.clone()).build().unwrap();
    let lost = crashing.session().send("Five.").await;

    let lost = lost.unwrap_err().describe();
    assert_eq!(lost, "the model could not be asked: the provider crashed");
    assert_eq!(
        hook.log(),
        [
            "probe: end 1 Answered",
            "probe: end 2 the model could not be asked",
            "probe: end 3 Cancelled",
            "probe: end 4 Cancelled",
            "probe: end 1 the model could not be asked",
        ]
    );
}

#[tokio::test]
async fn the_end_of_a_turn_that_never_began_is_heard_too() {
    let hook = Probe::new(HookPoints::TURN_ENDED);
    let store = Arc::new(InMemorySessions::default());
    let id = SessionId::new("taken");
    let lock = store.lock(&id).await.unwrap();
    let agent = agent(&ScriptedProvider::new()).hook(hook.clone()).sessions(Arc::clone(&store));
    let session = agent.build().unwrap().session_as(id);

    let outcome = session.send("Hello.").await;

    assert!(matches!(outcome, Err(AgentError::Store(StoreError::Locked { .. }))), "{outcome:?}");
    assert_eq!(hook.log(), ["probe: end - the conversation could not be kept"]);
    drop(lock);
}

#[tokio::test]
async fn a_crash_at_the_end_is_nobodys_loss() {
    #[derive(Debug)]
    struct Bad;
    #[async_trait]
    impl Hook for Bad {
        fn listens(&self) -> HookPoints {
            HookPoints::TURN_ENDED | HookPoints::AFTER_REPLY
        }
        async fn after_reply(&self, _: &AfterReply<'_>) {
            panic!("as asked")
        }
        async fn turn_ended(&self, _: &TurnEnded<'_>) {
            panic!("as asked")
        }
    }
    let after = Probe::new(HookPoints::TURN_ENDED);
    let session = agent(&ScriptedProvider::new().say("hello"))
        .hook(Bad)
        .hook(after.clone())
        .build()
        .unwrap()
        .session();

    assert_eq!(session.send("Hello.").await.unwrap().text, "hello");
    assert_eq!(after.log(), ["probe: end 1 Answered"]);
}

#[tokio::test]
async fn several_hooks_are_asked_in_order_until_one_decides() {
    let log = Arc::default();
    let first = Probe::new(HookPoints::ALL).named("first", &log);
    let second = Probe::call(|_| CallAction::Deny("no".to_owned())).named("second", &log);
    let third = Probe::new(HookPoints::ALL).named("third", &log);
    let session =
        agent(&echoes(&["one"])).hook(first).hook(second).hook(third).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let log = log.lock().unwrap();
    let calls: Vec<_> =
        log.iter().filter(|it| it.contains("call") || it.contains("result")).collect();
    assert_eq!(
        calls,
        [
            "first: call echo User",
            "second: call echo User",
            "first: result Rejected User",
            "third: result Rejected User",
        ]
    );
}

#[tokio::test]
async fn calls_of_forks_are_seen_with_their_origin() {
    let delegate =
        tool::from_fn("delegate", "Delegates.", |_: Echo, context: ToolContext| async move {
            let task =
                ForkTask::new("Say two.", Origin::new(OriginKind::Delegate)).with_tools(["echo"]);
            let outcome = context.fork().unwrap().run(task).await.unwrap();
            Ok(outcome.text)
        })
        .configure(ToolSpec::parallel_safe);
    let hook = Probe::new(HookPoints::BEFORE_CALL | HookPoints::TURN_ENDED).with(|it| {
        it.call = Box::new(|event| match event.scope.origin.kind {
            OriginKind::Delegate => CallAction::Deny("not for sub-agents".to_owned()),
            _ => CallAction::Proceed,
        });
    });
    let model = ScriptedProvider::new()
        .call("delegate", json!({"text": ""}))
        .call("echo", json!({"text": "two"}))
        .say("It was denied.")
        .say("done");
    let session = agent(&model).tool(delegate).hook(hook.clone()).build().unwrap().session();

    session.send("Go.").await.unwrap();

    assert_eq!(
        hook.log(),
        ["probe: call delegate User", "probe: call echo Delegate", "probe: end 1 Answered"]
    );
    let denied = &results(&model.requests()[2].messages)[0];
    assert_eq!(denied.content, "Not run: not for sub-agents");
}

#[tokio::test]
async fn what_a_hook_answers_is_cut_to_the_limit_too() {
    let hook = Probe::call(|_| CallAction::Answer(ToolOutput::done("x".repeat(500))));
    let model = echoes(&["one"]);
    let session = agent(&model).max_result_chars(100).hook(hook).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let content = &results(&session.history())[0].content;
    assert!(content.contains("400 of 500 characters left out"), "{content}");
}

#[tokio::test]
async fn an_approval_is_for_the_arguments_that_were_asked_about() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let notes = Arc::clone(&asked);
    let approver = approval::from_fn(move |request: ApprovalRequest| {
        let arguments = request.call.arguments.as_str().to_owned();
        let answer = if arguments.contains("rm") {
            Approval::Deny("no".to_owned())
        } else {
            Approval::AllowOnce
        };
        notes.lock().unwrap().push(arguments);
        async move { answer }
    });
    let shell = tool::from_fn("shell", "Runs.", |echo: Echo, _| async move { Ok(echo.text) })
        .configure(|spec| spec.with_approval(NeedsApproval::Always));
    let hook = Probe::call(|_| CallAction::Replace(json!({"text": "rm"})));
    let model = ScriptedProvider::new().call("shell", json!({"text": "ls"}));
    let session =
        agent(&model).tool(shell).approver(approver).hook(hook).build().unwrap().session();

    session.send("Go.").await.unwrap();

    assert_eq!(*asked.lock().unwrap(), [r#"{"text":"ls"}"#, r#"{"text":"rm"}"#]);
    assert_eq!(results(&session.history())[0].status, CallStatus::Rejected);
}

mod property {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proptest::prelude::*;

    use super::*;

    /// A hook that does what it was told, one answer after the other.
    #[derive(Debug)]
    struct Meddler {
        answers: Vec<u8>,
        next: AtomicUsize,
        ends: AtomicUsize,
    }

    impl Meddler {
        fn next(&self) -> u8 {
            let at = self.next.fetch_add(1, Ordering::SeqCst);
            let answer = self.answers.get(at).copied().unwrap_or_default();
            assert!(answer != 9, "as asked");
            answer
        }
    }

    #[async_trait]
    impl Hook for Meddler {
        fn listens(&self) -> HookPoints {
            HookPoints::ALL
        }

        async fn before_request(&self, event: &BeforeRequest<'_>) -> RequestAction {
            match self.next() {
                1 => RequestAction::Stop("enough".to_owned()),
                2 => RequestAction::Change(RequestChange::default().with_context("so")),
                3 => {
                    event.scope.token.cancel();
                    RequestAction::Proceed
                }
                _ => RequestAction::Proceed,
            }
        }

        async fn after_reply(&self, event: &AfterReply<'_>) {
            if self.next() == 3 {
                event.scope.token.cancel();
            }
        }

        async fn before_call(&self, event: &BeforeCall<'_>) -> CallAction {
            match self.next() {
                1 => CallAction::Stop("enough".to_owned()),
                2 => CallAction::Deny("no".to_owned()),
                3 => {
                    event.scope.token.cancel();
                    std::future::pending().await
                }
                4 => CallAction::Replace(json!({"text": "other"})),
                5 => CallAction::Replace(json!([])),
                6 => CallAction::Answer(ToolOutput::failed("")),
                _ => CallAction::Proceed,
            }
        }

        async fn after_call(&self, _: &AfterCall<'_>) -> ResultAction {
            match self.next() {
                1 => ResultAction::Stop("enough".to_owned()),
                2 => ResultAction::Replace(ToolOutput::rejected("")),
                3 => std::future::pending().await,
                _ => ResultAction::Keep,
            }
        }

        async fn turn_ended(&self, _: &TurnEnded<'_>) {
            self.ends.fetch_add(1, Ordering::SeqCst);
            self.next();
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 300,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn whatever_a_hook_does_the_conversation_stays_usable(
            answers in prop::collection::vec(0_u8..10, 0..40),
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .unwrap();
            runtime.block_on(async {
                let model = echoes(&["one", "two"]).calls([
                    ("reads", json!({"text": "x"})),
                    ("reads", json!({"text": "x"})),
                    ("echo", json!({"text": "fail"})),
                ]);
                let hook = Arc::new(Meddler {
                    answers,
                    next: AtomicUsize::new(0),
                    ends: AtomicUsize::new(0),
                });
                let reads = tool::from_fn("reads", "Reads.", |echo: Echo, _| async { Ok(echo.text) })
                    .configure(ToolSpec::read_only);
                let session = agent(&model).tool(reads).hook(Arc::clone(&hook)).build().unwrap().session();

                let mut sent = 0;
                let last = loop {
                    sent += 1;
                    let reply = session.send("Go.");
                    let turn = tokio::time::timeout(Duration::from_secs(60), reply).await;
                    session.idle().await;
                    assert_paired(&session.history());
                    assert_eq!(hook.ends.load(Ordering::SeqCst), sent, "one end for each turn");
                    match turn {
                        Ok(Ok(turn)) if turn.finish == Finish::Answered => break turn,
                        _ => assert!(sent < 60, "the answers run out"),
                    }
                };

                assert_eq!(last.text, "done");
                let valid = |it: &Message| it.role != Role::Assistant || !it.is_blank();
                assert!(session.history().iter().all(valid));
            });
        }
    }
}

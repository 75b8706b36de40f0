//! Sub-agents: what they see, what comes back, and how they end.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::StreamExt;
use hermes_core::{
    Cost, Pricing,
    agent::{AgentBuilder, AgentError, AgentEvent, Finish, Limits, SessionLimits, TurnInput},
    approval::{self, Approval, ApprovalRequest, NeedsApproval},
    change::{Change, ChangeAction, ChangeTarget},
    delegate::Delegate,
    memory::Target,
    message::{Call, CallStatus, Message, Part, Role, StopReason, Usage},
    origin::OriginKind,
    provider::{ProviderError, ProviderErrorKind, Request, ToolChoice},
    testing::{ScriptedProvider, render_request},
    tool::{self, Tool, ToolOutput},
};
use serde_json::{Value, json};

use crate::support::{Echo, agent, assert_paired, results};

/// A model that delegates once; its sub-agents answer by the task they have.
fn delegating(
    tasks: Value,
    sub: impl Fn(&str, &Request) -> Message + Send + Sync + 'static,
) -> ScriptedProvider {
    ScriptedProvider::from_fn(move |request| {
        let first = request.messages[0].text();
        if let Some(task) = first.split("Task:\n").nth(1) {
            return sub(task.lines().next().unwrap(), request);
        }
        match request.messages.len() {
            1 => call("delegate", &json!({"tasks": tasks})),
            _ => Message::assistant("all done"),
        }
    })
}

fn call(name: &str, arguments: &Value) -> Message {
    Message::new(Role::Assistant, vec![Part::Call(Call::new("", name, arguments.to_string()))])
}

/// Runs one turn and returns what the model got of `delegate`.
async fn delegated(builder: AgentBuilder) -> (CallStatus, String) {
    let session = builder.build().unwrap().session();
    session.send("Go.").await.unwrap();
    assert_paired(&session.history());
    let result = results(&session.history()).swap_remove(0);
    (result.status, result.content)
}

fn reports(content: &str) -> Vec<Value> {
    let content: Value = serde_json::from_str(content).unwrap();
    content["results"].as_array().unwrap().clone()
}

#[tokio::test]
async fn what_the_model_is_told_of_the_tool() {
    let spec = Delegate::new(["read_file", "search_files"]).spec();

    insta::assert_snapshot!(spec.description);
    insta::assert_snapshot!(serde_json::to_string_pretty(&spec.parameters).unwrap());
}

#[tokio::test]
async fn a_sub_agent_sees_its_task_and_nothing_else() {
    let tasks = json!([{"goal": "Say one.", "context": "The user likes numbers.", "tools": []}]);
    let model = delegating(tasks, |_, _| Message::assistant("One."));

    let (status, content) = delegated(agent(&model).tool(Delegate::new(["echo"]))).await;

    assert_eq!(status, CallStatus::Done);
    assert_eq!(
        content,
        r#"{"results":[{"task_index":0,"status":"completed","summary":"One.","requests":1,"usage":{"input":100,"output":10},"changes":[]}]}"#
    );
    let requests = model.requests();
    assert_eq!(
        (&requests[1].system, &requests[1].tools),
        (&requests[0].system, &requests[0].tools)
    );
    let seen = render_request(&requests[1]);
    insta::assert_snapshot!(seen.split_once("user:").unwrap().1);
}

#[tokio::test(start_paused = true)]
async fn tasks_run_at_the_same_time_and_are_reported_in_order() {
    let slow = tool::from_fn("slow", "Waits.", |echo: Echo, _| async move {
        tokio::time::sleep(Duration::from_millis(echo.text.parse().unwrap())).await;
        Ok(echo.text)
    });
    let tasks = json!([{"goal": "40"}, {"goal": "10"}, {"goal": "30"}]);
    let model = delegating(tasks, |task, request| match request.messages.len() {
        1 => call("slow", &json!({"text": task})),
        _ => Message::assistant(format!("waited {task}")),
    });
    let start = tokio::time::Instant::now();

    let (_, content) = delegated(agent(&model).tool(slow).tool(Delegate::new(["slow"]))).await;

    assert!(start.elapsed() < Duration::from_millis(60), "{:?}", start.elapsed());
    let summaries: Vec<_> = reports(&content).iter().map(|it| it["summary"].clone()).collect();
    assert_eq!(summaries, ["waited 40", "waited 10", "waited 30"]);
}

#[tokio::test]
async fn a_failure_is_a_report_and_does_not_touch_the_others() {
    let tasks = json!([{"goal": "loop"}, {"goal": "end"}, {"goal": "silent"}, {"goal": "refuse"}]);
    let model = delegating(tasks, |task, _| match task {
        "loop" => call("echo", &json!({"text": "x"})),
        "end" => call("echo", &json!({"text": "end"})),
        "silent" => Message::assistant(""),
        _ => Message::assistant("I won't.").with_stop(StopReason::Refusal),
    });
    let delegate = Delegate::new(["echo"]).max_tasks(4).max_requests(2);

    let (status, content) = delegated(agent(&model).tool(delegate)).await;

    assert_eq!(status, CallStatus::Done);
    let ends: Vec<_> = reports(&content)
        .iter()
        .map(|it| {
            (it["status"].as_str().unwrap().to_owned(), it["error"].as_str().map(str::to_owned))
        })
        .collect();
    let end = |status: &str, error: &str| (status.to_owned(), Some(error.to_owned()));
    assert_eq!(
        ends,
        [
            end("incomplete", "its budget was spent"),
            end("stopped", "enough"),
            end("failed", "it said nothing"),
            end("failed", "the model refused"),
        ]
    );
}

#[tokio::test]
async fn a_model_that_cannot_be_asked_is_a_report_too() {
    let refused = ProviderError::new(ProviderErrorKind::Auth, "no key");
    let other = ScriptedProvider::new().fail(refused);
    let model = delegating(json!([{"goal": "one"}]), |_, _| Message::assistant("not asked"));
    let delegate = Delegate::new(["echo"]).provider(other.clone()).model("small");

    let (status, content) = delegated(agent(&model).tool(delegate)).await;

    assert_eq!(status, CallStatus::Done);
    let report = &reports(&content)[0];
    assert_eq!(report["status"], "failed");
    assert!(report["error"].as_str().unwrap().contains("no key"), "{report}");
    assert_eq!(other.last_request().unwrap().model.as_str(), "small");
}

#[tokio::test]
async fn what_sub_agents_change_is_on_record() {
    let remember = tool::from_fn("remember", "Remembers.", |_: Echo, _| async move {
        let change = Change::applied(ChangeTarget::Memory(Target::User), ChangeAction::Update);
        Ok(ToolOutput::done("kept").with_change(change))
    });
    let tasks = json!([{"goal": "one"}, {"goal": "two"}]);
    let model = delegating(tasks, |_, request| match request.messages.len() {
        1 => call("remember", &json!({"text": ""})),
        _ => Message::assistant("kept"),
    });
    let delegate = Delegate::new(["remember"]);
    let session = agent(&model).tool(remember).tool(delegate).build().unwrap().session();

    let turn = session.send("Go.").await.unwrap();

    assert_eq!(turn.changes.len(), 2);
    let content = &results(&session.history())[0].content;
    assert_eq!(reports(content)[1]["changes"], json!([turn.changes[0].line()]));
}

#[tokio::test]
async fn a_sub_agent_has_only_the_tools_of_its_task() {
    let other = tool::from_fn("other", "Is another.", |_: Echo, _| async { Ok("other") });
    let tasks = json!([{"goal": "one", "tools": ["echo"]}]);
    let model = delegating(tasks, |_, request| match request.messages.len() {
        1 => call("other", &json!({"text": "x"})),
        _ => Message::assistant(results(&request.messages)[0].content.clone()),
    });
    let delegate = Delegate::new(["echo", "other"]);

    let (_, content) = delegated(agent(&model).tool(other).tool(delegate)).await;

    assert_eq!(
        reports(&content)[0]["summary"],
        "\"other\" is not available here. Available: echo."
    );
}

#[tokio::test]
async fn wrong_tasks_are_refused_with_all_that_is_wrong() {
    let cases = [
        (
            json!([{"goal": "", "tools": ["ehco"]}, {"tools": ["ehco", "echo"]}]),
            "The tool \"delegate\" was not run. \"tasks[0].tools[0]\" must be one of \"echo\", not \
             \"ehco\". Did you mean \"echo\"? \"tasks[1].goal\" is required. \"tasks[1].tools[0]\" must \
             be one of \"echo\", not \"ehco\". Did you mean \"echo\"?",
        ),
        (
            json!([{"goal": ""}, {"goal": " "}]),
            "No task was started. Task 1: \"goal\" is blank. Task 2: \"goal\" is blank.",
        ),
    ];
    for (tasks, expected) in cases {
        let model = delegating(tasks, |_, _| unreachable!());

        let (status, content) = delegated(agent(&model).tool(Delegate::new(["echo"]))).await;

        assert_eq!((status, content.as_str()), (CallStatus::Rejected, expected));
    }
}

#[tokio::test]
async fn sub_agents_are_nested_to_the_limit_and_no_deeper() {
    let deeper = |task: &str, request: &Request| match (task, request.messages.len()) {
        ("deeper", 1) => call("delegate", &json!({"tasks": [{"goal": "deepest"}]})),
        ("deepest", 1) => call("delegate", &json!({"tasks": [{"goal": "too deep"}]})),
        _ => Message::assistant(results(&request.messages)[0].content.clone()),
    };
    let check = async |depth, expected: &str| {
        let model = delegating(json!([{"goal": "deeper"}]), deeper);
        let builder = agent(&model).tool(Delegate::new(["delegate"])).max_depth(depth);
        let (_, content) = delegated(builder).await;
        let refusals = content.matches("No sub-agent can be started here").count();
        assert_eq!(refusals, 1, "{content}");
        let nested = content.matches("results").count();
        assert_eq!(nested.to_string(), expected, "{content}");
    };

    check(0, "0").await;
    check(1, "1").await;
    check(2, "2").await;
}

#[tokio::test(start_paused = true)]
async fn a_sub_agent_has_only_so_much_time() {
    let tasks = json!([{"goal": "hang"}, {"goal": "answer"}]);
    let model = delegating(tasks, |task, _| match task {
        "hang" => call("echo", &json!({"text": "hang"})),
        _ => Message::assistant("done"),
    });
    let delegate = Delegate::new(["echo"]).timeout(Duration::from_secs(60));

    let (_, content) = delegated(agent(&model).tool(delegate)).await;

    let reports = reports(&content);
    assert_eq!(reports[0]["status"], "timed_out");
    assert_eq!(reports[0]["error"], "it was not done after 60 seconds");
    assert_eq!(reports[1]["status"], "completed");
}

#[tokio::test]
async fn sub_agents_are_cancelled_with_the_turn() {
    let (sent, calls) = crate::support::shared(std::sync::atomic::AtomicU32::new(0));
    let hang = tool::from_fn("hang", "Hangs.", move |_: Echo, context: tool::ToolContext| {
        let sent = Arc::clone(&sent);
        async move {
            sent.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            context.token().cancelled().await;
            Ok("never")
        }
    });
    let tasks = json!([{"goal": "one"}, {"goal": "two"}]);
    let model = delegating(tasks, |_, _| call("hang", &json!({"text": ""})));
    let session = agent(&model).tool(hang).tool(Delegate::new(["hang"])).build().unwrap().session();

    let reply = session.send("Go.");
    while calls.load(std::sync::atomic::Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    session.cancel();
    let turn = reply.await.unwrap();

    assert_eq!(turn.finish, Finish::Cancelled);
    let result = &results(&session.history())[0];
    assert_eq!(result.status, CallStatus::Done, "{result:?}");
    assert!(reports(&result.content).iter().all(|it| it["status"] == "cancelled"), "{result:?}");
    assert_eq!(model.requests().len(), 3, "nobody went on");
    assert_paired(&session.history());
}

#[tokio::test]
async fn the_host_hears_how_far_it_is() {
    let model = delegating(json!([{"goal": "one"}]), |_, _| Message::assistant("One."));
    let session = agent(&model).tool(Delegate::new(["echo"])).build().unwrap().session();

    let events: Vec<_> = session.send("Go.").collect().await;

    let notes = events.into_iter().filter_map(|event| match event {
        AgentEvent::Progress { note, .. } => Some(note),
        _ => None,
    });
    assert_eq!(notes.collect::<Vec<_>>(), ["Task 1: completed"]);
}

#[tokio::test]
async fn the_host_hears_what_a_sub_agent_asks_and_is_warned_of() {
    let deploy = tool::from_fn("deploy", "Deploys.", |(), _| async { Ok("deployed") })
        .configure(|spec| spec.with_approval(NeedsApproval::Always));
    let model = delegating(json!([{"goal": "x"}]), |_, request| match request.messages.len() {
        1 => call("deploy", &json!({})),
        _ => Message::assistant("asked"),
    });
    let agent = agent(&model).tool(deploy).tool(Delegate::new(["deploy"])).build().unwrap();
    let session = agent.session();

    let mut reply = session.send("Go.");
    let (mut asked, mut warnings, mut started) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(event) = reply.next().await {
        match event {
            AgentEvent::ApprovalAsked(request) => asked.push(request),
            AgentEvent::Warning(text) => warnings.push(text),
            AgentEvent::CallStarted(call) => started.push(call.name),
            _ => {}
        }
    }

    assert_eq!((&*asked[0].call.name, asked[0].origin.kind), ("deploy", OriginKind::Delegate));
    assert_eq!(asked.len(), 1);
    assert!(warnings[0].starts_with("In a sub-agent: A call was denied"), "{warnings:?}");
    assert_eq!(started.len(), 1, "only the call of `delegate` itself: {started:?}");
}

/// A model whose sub-agents call a tool for ever, two of them at once.
fn endless() -> ScriptedProvider {
    delegating(json!([{"goal": "x"}, {"goal": "y"}]), |_, request| {
        if request.tool_choice == ToolChoice::None {
            return Message::assistant("summed up");
        }
        call("echo", &json!({"text": "on"}))
    })
}

#[tokio::test]
async fn sub_agents_draw_on_the_budget_of_their_session() {
    let model = endless();
    let limits = SessionLimits::default().requests(10);
    let session = agent(&model)
        .tool(Delegate::new(["echo"]))
        .session_limits(limits)
        .build()
        .unwrap()
        .session();

    let turn = session.send("Go.").await.unwrap();

    assert_eq!(turn.finish, Finish::OutOfRounds);
    let spent = session.spending().requests + session.delegated_spending().requests;
    assert!(
        (10..=14).contains(&spent),
        "ten, and at most one under way and one grace each: {spent}"
    );
    let reports = reports(&results(&session.history())[0].content);
    assert!(reports.iter().all(|it| it["summary"] == "summed up"), "{reports:?}");
    let err = session.send("More.").await.unwrap_err();
    assert!(matches!(err, AgentError::OutOfBudget), "{err:?}");
}

#[tokio::test]
async fn sub_agents_draw_on_the_tokens_and_the_money_of_their_turn() {
    let a_cent = FixedPrice(Cost::from_cents(1));
    let by_tokens = Limits::default().tokens(1_000);
    let by_cost = Limits::default().cost(Cost::from_cents(9));
    for limits in [by_tokens, by_cost] {
        let model = endless();
        let agent = agent(&model).tool(Delegate::new(["echo"])).limits(limits).pricing(a_cent);
        let session = agent.build().unwrap().session();

        let turn = session.send("Go.").await.unwrap();

        assert_eq!(turn.finish, Finish::OutOfRounds);
        assert!(model.requests().len() <= 15, "{}", model.requests().len());
    }
}

/// The same price for every request.
#[derive(Clone, Copy, Debug)]
struct FixedPrice(Cost);

impl Pricing for FixedPrice {
    fn cost(&self, _: &str, _: &Usage) -> Option<Cost> {
        Some(self.0)
    }
}

#[tokio::test]
async fn requests_of_sub_agents_can_be_told_apart() {
    let pay = tool::from_fn("pay", "Pays.", |(), _| async { Ok("paid") })
        .configure(|spec| spec.with_approval(NeedsApproval::Always));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let person = approval::from_fn(move |request: ApprovalRequest| {
        log.lock().unwrap().push(request);
        async { Approval::AllowOnce }
    });
    let model = delegating(json!([{"goal": "x"}, {"goal": "y"}]), |_, request| {
        match request.messages.len() {
            1 => call("pay", &json!({})),
            _ => Message::assistant("paid"),
        }
    });
    let agent = agent(&model).tool(pay).tool(Delegate::new(["pay"])).approver(person);
    let session = agent.build().unwrap().session();

    session.send(TurnInput::new("Go.").on_behalf_of("sam")).await.unwrap();

    let asked = asked.lock().unwrap();
    assert_ne!(asked[0].id, asked[1].id);
    let delegate = session.history()[1].calls().next().unwrap().id.to_string();
    let mut tasks: Vec<_> =
        asked.iter().map(|it| it.origin.task.as_deref().unwrap().to_owned()).collect();
    tasks.sort();
    assert_eq!(tasks, [format!("{delegate}/1"), format!("{delegate}/2")]);
    assert!(asked.iter().all(|it| it.origin.by.as_deref() == Some("sam")));
}

#[tokio::test]
async fn what_sub_agents_changed_before_they_were_cancelled_is_on_record() {
    let writes = tool::from_fn("write", "Writes.", |(), _| async {
        let target = ChangeTarget::Memory(Target::Memory);
        Ok(ToolOutput::done("ok").with_change(Change::applied(target, ChangeAction::Update)))
    });
    let tasks = json!([{"goal": "x"}]);
    let model = delegating(tasks, |_, request| match request.messages.len() {
        1 => call("write", &json!({})),
        _ => call("echo", &json!({"text": "hang"})),
    });
    let delegate = Delegate::new(["write", "echo"]);
    let session = agent(&model).tool(writes).tool(delegate).build().unwrap().session();

    let reply = session.send("Go.");
    while model.requests().len() < 3 {
        tokio::task::yield_now().await;
    }
    session.cancel();
    let turn = reply.await.unwrap();

    assert_eq!((turn.finish, turn.changes.len()), (Finish::Cancelled, 1));
    assert_paired(&session.history());
}

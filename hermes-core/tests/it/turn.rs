//! One turn, in every way it can go.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::StreamExt;
use hermes_core::{
    Cost, Pricing,
    agent::{AgentError, AgentEvent, BuildError, Finish, FinishedTurn, Limits, SessionLimits},
    approval::NeedsApproval,
    change::{Change, ChangeAction, ChangeTarget},
    memory::Target,
    message::{Call, CallStatus, Message, Part, Role, StopReason, Usage},
    provider::{ModelEvent, ProviderError, ProviderErrorKind, ToolChoice},
    review::{ProposedWrite, ReviewPolicy, ReviewTask, Verdict},
    testing::ScriptedProvider,
    tool::{self, Extensions, ToolError, ToolOutput, ToolSpec},
    version::Version,
};
use serde_json::{Value, json};

use crate::support::{Echo, agent, assert_paired, results};

#[tokio::test]
async fn calls_run_until_the_model_answers() {
    let model = ScriptedProvider::new().call("echo", json!({"text": "one"})).say("That was one.");
    let session = agent(&model).build().unwrap().session();

    let turn = session.send("Say one.").await.unwrap();

    assert_eq!((turn.text.as_str(), turn.finish), ("That was one.", Finish::Answered));
    assert_eq!((turn.requests, turn.tool_rounds, turn.calls), (2, 1, 1));
    assert_eq!(turn.usage.input, 200);
    assert_eq!(results(&session.history())[0].content, "one");
    assert_paired(&session.history());
    let requests = model.requests();
    assert_eq!(&*requests[0].system, "You echo.");
    assert_eq!(requests[0].system, requests[1].system);
    assert_eq!(requests[0].tools, requests[1].tools);
    assert_eq!(requests[1].messages[..1], requests[0].messages[..]);
}

#[tokio::test]
async fn events_come_in_order() {
    let model = ScriptedProvider::new().call("echo", json!({"text": "one"})).say("That was one.");
    let session = agent(&model).build().unwrap().session();

    let mut reply = session.send("Say one.");
    let mut seen = Vec::new();
    let mut text = String::new();
    while let Some(event) = reply.next().await {
        match event {
            AgentEvent::CallStarted(call) => seen.push(format!("start {}", call.name)),
            AgentEvent::CallFinished(result) => seen.push(format!("finish {}", result.content)),
            AgentEvent::Text(delta) => text.push_str(&delta),
            other => panic!("{other:?}"),
        }
    }

    assert_eq!(seen, ["start echo", "finish one"]);
    assert_eq!(text, reply.await.unwrap().text);
}

#[tokio::test]
async fn whatever_is_wrong_with_a_call_becomes_its_result() {
    let model = ScriptedProvider::new()
        .calls([
            ("ehco", json!({"text": "x"})),
            ("echo", json!({"txet": "x"})),
            ("echo", json!({"text": "panic"})),
            ("echo", json!({"text": "fail"})),
        ])
        .reply(Message::new(
            Role::Assistant,
            vec![Part::Call(Call::new("broken", "echo", "{\"text\": \"x"))],
        ))
        .say("done");
    let session = agent(&model).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let results = results(&session.history());
    let all: Vec<_> = results.iter().map(|it| (it.status, it.content.as_str())).collect();
    assert_eq!(
        all,
        [
            (
                CallStatus::Rejected,
                "There is no tool called \"ehco\". Did you mean \"echo\"? The tools are: echo."
            ),
            (
                CallStatus::Rejected,
                "The tool \"echo\" was not run. \"text\" is required. You passed \"txet\"; did you mean \"text\"?"
            ),
            (CallStatus::Failed, "The tool crashed; it may have had an effect."),
            (CallStatus::Failed, "it broke"),
            (
                CallStatus::Rejected,
                "The arguments of \"echo\" are not valid JSON: EOF while parsing a string at line 1 column 11. \
                 The tool was not run."
            ),
        ]
    );
    assert_paired(&session.history());
}

#[tokio::test]
async fn a_tool_can_end_the_turn_and_the_rest_is_answered() {
    let model = ScriptedProvider::new()
        .calls([("echo", json!({"text": "end"})), ("echo", json!({"text": "two"}))]);
    let session = agent(&model).build().unwrap().session();

    let turn = session.send("Go.").await.unwrap();

    assert_eq!(turn.finish, Finish::EndedByTool("enough".to_owned()));
    assert_eq!(model.requests().len(), 1);
    assert_eq!(results(&session.history())[1].status, CallStatus::Rejected);
    assert_paired(&session.history());
}

#[tokio::test(start_paused = true)]
async fn reads_run_at_the_same_time_and_keep_their_order() {
    let slow = tool::from_fn("slow", "Waits.", |echo: Echo, _| async move {
        let pause: u64 = echo.text.parse().unwrap();
        tokio::time::sleep(Duration::from_millis(pause)).await;
        Ok(echo.text)
    })
    .configure(ToolSpec::read_only);
    let model = ScriptedProvider::new()
        .calls(["40", "10", "30"].map(|it| ("slow", json!({"text": it}))))
        .say("done");
    let session = agent(&model).tool(slow).build().unwrap().session();
    let start = tokio::time::Instant::now();

    session.send("Go.").await.unwrap();

    let took = start.elapsed();
    assert!(took < Duration::from_millis(45), "{took:?}");
    let contents: Vec<_> = results(&session.history()).into_iter().map(|it| it.content).collect();
    assert_eq!(contents, ["40", "10", "30"]);
}

#[tokio::test(start_paused = true)]
async fn writes_run_beside_reads_only_where_they_say_so() {
    let waits = |name, configure: fn(ToolSpec) -> ToolSpec| {
        tool::from_fn(name, "Waits.", |_: Echo, _| async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Ok("ok")
        })
        .configure(configure)
    };
    let names = ["reads", "safe", "safe", "writes", "safe", "reads"];
    let model =
        ScriptedProvider::new().calls(names.map(|it| (it, json!({"text": it})))).say("done");
    let session = agent(&model)
        .tool(waits("reads", ToolSpec::read_only))
        .tool(waits("safe", ToolSpec::parallel_safe))
        .tool(waits("writes", ToolSpec::idempotent))
        .build()
        .unwrap()
        .session();
    let start = tokio::time::Instant::now();

    session.send("Go.").await.unwrap();

    // Three beside each other, then the write alone, then two.
    assert_eq!(start.elapsed(), Duration::from_millis(30));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_too_long_is_stopped() {
    let slow =
        tool::from_fn("slow", "Waits.", |_: Echo, _| std::future::pending::<Result<String, _>>())
            .configure(|spec| spec.with_timeout(Duration::from_secs(3)));
    let model = ScriptedProvider::new().call("slow", json!({"text": ""})).say("done");
    let session = agent(&model).tool(slow).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let result = &results(&session.history())[0];
    assert_eq!(result.status, CallStatus::Failed);
    assert!(result.content.contains("ran out of time"), "{}", result.content);
}

#[tokio::test]
async fn cancelling_a_tool_leaves_a_usable_conversation() {
    let model = ScriptedProvider::new()
        .calls([("echo", json!({"text": "hang"})), ("echo", json!({"text": "two"}))])
        .say("hello again");
    let session = agent(&model).build().unwrap().session();

    let mut reply = session.send("Go.");
    while !matches!(reply.next().await, Some(AgentEvent::CallStarted(_))) {}
    session.cancel();
    let turn = reply.await.unwrap();

    assert_eq!(turn.finish, Finish::Cancelled);
    let statuses: Vec<_> = results(&session.history()).iter().map(|it| it.status).collect();
    assert_eq!(statuses, [CallStatus::Cancelled; 2]);
    assert_paired(&session.history());
    assert_eq!(session.send("Hello?").await.unwrap().text, "hello again");
}

#[tokio::test]
async fn cancelling_an_answer_keeps_what_there_was() {
    let model = ScriptedProvider::new().say_then_hang("The answer is").say("hello again");
    let session = agent(&model).build().unwrap().session();

    let mut reply = session.send("Go.");
    while !matches!(reply.next().await, Some(AgentEvent::Text(_))) {}
    drop(reply);
    session.idle().await;

    let history = session.history();
    let last = history.last().unwrap();
    assert_eq!(last.role, Role::Assistant);
    assert_eq!(last.stop, Some(StopReason::Cancelled));
    assert!("The answer is".starts_with(last.text().trim_end()));
    assert_eq!(session.send("Hello?").await.unwrap().text, "hello again");
}

#[tokio::test]
async fn an_error_is_typed_and_the_session_goes_on() {
    let unreachable = ProviderError::new(ProviderErrorKind::Unreachable, "connection refused");
    let model = ScriptedProvider::new().fail(unreachable).cut("half an ans").say("hello again");
    let session = agent(&model).build().unwrap().session();

    let first = session.send("One.").await.unwrap_err();
    let second = session.send("Two.").await.unwrap_err();
    let third = session.send("Three.").await.unwrap();

    let kind = |err: &AgentError| match err {
        AgentError::Provider(err) => err.kind(),
        other => panic!("{other:?}"),
    };
    assert_eq!(kind(&first), ProviderErrorKind::Unreachable);
    assert_eq!(kind(&second), ProviderErrorKind::StreamCut);
    assert_eq!(third.text, "hello again");
    let partial = &session.history()[2];
    assert_eq!(
        (partial.text().as_str(), partial.stop.as_ref()),
        ("half an ans", Some(&StopReason::Interrupted))
    );
}

#[tokio::test]
async fn a_second_message_during_a_turn_is_refused() {
    let model = ScriptedProvider::new().hang();
    let session = agent(&model).build().unwrap().session();

    let reply = session.send("One.");
    let second = session.send("Two.").await;

    assert!(matches!(second, Err(AgentError::Busy)), "{second:?}");
    session.cancel();
    assert_eq!(reply.await.unwrap().finish, Finish::Cancelled);
}

#[test]
fn sending_outside_a_runtime_is_an_error() {
    let session = agent(&ScriptedProvider::new()).build().unwrap().session();

    let reply = session.send("One.");

    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let err = runtime.block_on(async { reply.await.unwrap_err() });
    assert!(matches!(err, AgentError::NoRuntime), "{err:?}");
}

#[tokio::test]
async fn the_budget_ends_with_a_request_to_sum_up() {
    let call = || ("echo", json!({"text": "x"}));
    let model = ScriptedProvider::new().calls([call()]).calls([call()]).say("So far, so good.");
    let session = agent(&model).max_requests(3).build().unwrap().session();

    let turn = session.send("Go.").await.unwrap();

    assert_eq!(turn.finish, Finish::OutOfRounds);
    assert_eq!(turn.text, "So far, so good.");
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[2].tool_choice, ToolChoice::None);
    assert_paired(&session.history());
}

#[tokio::test]
async fn what_is_sent_during_a_turn_arrives_after_the_calls() {
    let (sent, steered) = crate::support::shared(Mutex::new(None));
    let steer = tool::from_fn("steer", "Steers.", move |_: Echo, _| {
        let session: Option<hermes_core::Session> = sent.lock().unwrap().clone();
        async move {
            session.unwrap().steer("Shorter, please.");
            Ok("ok")
        }
    });
    let model = ScriptedProvider::new().call("steer", json!({"text": ""})).say("Ok.");
    let session = agent(&model).tool(steer).build().unwrap().session();
    *steered.lock().unwrap() = Some(session.clone());

    session.send("Go.").await.unwrap();

    let roles: Vec<_> = session.history().iter().map(|it| it.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::User, Role::Assistant]);
    assert_eq!(model.requests()[1].messages[3].text(), "Shorter, please.");
}

#[tokio::test]
async fn what_is_sent_between_turns_goes_before_the_next() {
    let model = ScriptedProvider::new();
    let session = agent(&model).build().unwrap().session();

    session.steer("In French.");
    session.send("Hello.").await.unwrap();

    assert_eq!(model.requests()[0].messages[0].text(), "In French.\n\nHello.");
}

#[tokio::test]
async fn an_empty_reply_is_not_kept() {
    let model = ScriptedProvider::new().say("").say(" ").say("hello again");
    let session = agent(&model).build().unwrap().session();

    let turn = session.send("Go.").await.unwrap();

    assert_eq!(turn.finish, Finish::Empty);
    assert_eq!(session.history().len(), 1);
    assert_eq!(session.send("Hello?").await.unwrap().text, "hello again");
}

#[tokio::test]
async fn a_cut_answer_is_continued() {
    let cut = Message::assistant("One, two, ").with_stop(StopReason::Length);
    let model = ScriptedProvider::new().reply(cut).say("three.");
    let session = agent(&model).build().unwrap().session();

    let turn = session.send("Count.").await.unwrap();

    assert_eq!(turn.text, "One, two, three.");
    assert_eq!(turn.finish, Finish::Answered);
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_not_run() {
    let calls = ["{\"text\":\"whole\"}", ""].map(|it| Part::Call(Call::new("", "echo", it)));
    let cut = Message::new(Role::Assistant, calls.to_vec()).with_stop(StopReason::Length);
    let model = ScriptedProvider::new().reply(cut).say("done");
    let session = agent(&model).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let results = results(&session.history());
    assert_eq!(results[0].content, "whole");
    assert_eq!(results[1].status, CallStatus::Rejected);
    assert!(results[1].content.contains("cut off"), "{}", results[1].content);
}

#[tokio::test]
async fn long_results_are_cut_in_the_middle() {
    let model = ScriptedProvider::new().call("echo", json!({"text": "é".repeat(500)})).say("done");
    let session = agent(&model).max_result_chars(100).build().unwrap().session();

    session.send("Go.").await.unwrap();

    assert!(
        results(&session.history())[0].content.contains("[… 400 of 500 characters left out …]")
    );
}

#[tokio::test]
async fn tools_find_what_the_host_attached() {
    struct UserId(u32);
    let whoami = tool::from_fn("whoami", "Says who asks.", |_: Value, context| async move {
        let id = context.extensions().get::<UserId>().map(|it| it.0);
        Ok(ToolOutput::done(format!("{id:?} in turn {}", context.turn())))
    });
    let model = ScriptedProvider::new().call("whoami", json!({})).say("done");
    let session = agent(&model).tool(whoami).build().unwrap().session();

    let input = hermes_core::agent::TurnInput::new("Who am I?")
        .with_extensions(Extensions::default().with(UserId(7)));
    session.send(input).await.unwrap();

    assert_eq!(results(&session.history())[0].content, "Some(7) in turn 1");
}

#[tokio::test]
async fn a_forced_tool_is_forced_once_a_turn() {
    let model = ScriptedProvider::new().call("echo", json!({"text": "x"})).say("done");
    let forced = ToolChoice::Tool("echo".into());
    let session = agent(&model).tool_choice(forced.clone()).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let choices: Vec<_> = model.requests().into_iter().map(|it| it.tool_choice).collect();
    assert_eq!(choices, [forced, ToolChoice::Auto]);
}

#[tokio::test]
async fn tools_that_are_ruled_out_stay_so_for_the_whole_turn() {
    let model = ScriptedProvider::new().say("").say("done");
    let session = agent(&model).tool_choice(ToolChoice::None).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let choices: Vec<_> = model.requests().into_iter().map(|it| it.tool_choice).collect();
    assert_eq!(choices, [ToolChoice::None, ToolChoice::None]);
}

#[test]
fn mistakes_of_the_builder_name_the_parts() {
    let model = ScriptedProvider::new();
    let check = |builder: hermes_core::agent::AgentBuilder, expected: &str| {
        let err: BuildError = builder.build().unwrap_err();
        assert_eq!(err.to_string(), expected);
    };

    check(hermes_core::Agent::builder(model.clone()), "no model is set; call `model`");
    check(agent(&model).tool(crate::support::echo()), "two tools are called \"echo\"");
    check(
        agent(&model).max_requests(0),
        "a turn may make no model request; set `max_requests` to at least 1",
    );
    check(
        agent(&model).tool(tool::from_fn("my tool", "", |_: Echo, _| async { Ok("") })),
        "the tool \"my tool\" cannot be offered: its name must be 1 to 64 of a-z, A-Z, 0-9, '_' and '-'",
    );
}

/// Prices every token at a cent.
#[derive(Debug)]
struct Cents;

impl Pricing for Cents {
    fn cost(&self, model: &str, usage: &Usage) -> Option<Cost> {
        (model == "scripted").then(|| Cost::from_cents(usage.total()))
    }
}

#[tokio::test]
async fn what_a_turn_costs_is_known_and_limited() {
    // Each request takes 110 tokens.
    let model = ScriptedProvider::new()
        .call("echo", json!({"text": "one"}))
        .call("echo", json!({"text": "two"}))
        .say("That was two.");
    let mut limits = Limits::default();
    limits.cost = Some(Cost::from_cents(220));
    let agent = agent(&model).pricing(Cents).limits(limits).build().unwrap();
    let session = agent.session();

    let turn = session.send("Say things.").await.unwrap();

    assert_eq!((turn.finish, turn.text.as_str()), (Finish::OutOfRounds, "That was two."));
    assert_eq!(turn.cost, Some(Cost::from_cents(330)));
    assert_eq!(session.spending().requests, 3);
    assert_eq!(model.last_request().unwrap().tool_choice, ToolChoice::None);
}

#[tokio::test]
async fn a_session_ends_when_its_budget_is_spent() {
    let model = ScriptedProvider::new().say("one").say("two").say("three");
    let agent = agent(&model).session_limits(SessionLimits::default().tokens(200)).build().unwrap();
    let session = agent.session();

    session.send("Go.").await.unwrap();
    let second = session.send("Go.").await.unwrap();
    let history = session.history();
    let err = session.send("Go.").await.unwrap_err();

    assert!(second.is_completed());
    assert!(matches!(err, AgentError::OutOfBudget), "{err:?}");
    assert_eq!(session.history(), history, "nothing was asked, nothing was noted");
}

#[tokio::test]
async fn a_model_without_a_price_is_told_once() {
    let model = ScriptedProvider::new().call("echo", json!({"text": "one"})).say("done");
    let mut limits = Limits::default();
    limits.cost = Some(Cost::from_cents(1));
    let builder = agent(&model).model("other").limits(limits);
    let session = builder.pricing(Cents).build().unwrap().session();

    let mut reply = session.send("Go.");
    let mut warnings = Vec::new();
    while let Some(event) = reply.next().await {
        if let AgentEvent::Warning(why) = event {
            warnings.push(why);
        }
    }
    let turn = reply.await.unwrap();

    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!((turn.finish, turn.cost), (Finish::Answered, None));
    let mut limits = Limits::default();
    limits.cost = Some(Cost::from_cents(1));
    let unpriced = agent(&model).limits(limits).build().unwrap_err();
    assert_eq!(unpriced, BuildError::NoPricing);
}

#[tokio::test]
async fn the_results_of_one_reply_are_bounded_together() {
    let long = json!({"text": "x".repeat(3_000)});
    let model = ScriptedProvider::new().calls([
        ("echo", long.clone()),
        ("echo", json!({"text": "y".repeat(4_000)})),
        ("echo", json!({"text": "z".repeat(5_000)})),
    ]);
    let session = agent(&model).max_round_chars(6_000).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let results = results(&session.history());
    assert_eq!(results[0].content.len(), 3_000);
    assert!(results[1].content.contains("[… 1000 of 4000 characters left out …]"));
    assert!(
        results[2].content.contains("[… 3000 of 5000 characters left out …]"),
        "2,000 are left"
    );
}

#[tokio::test]
async fn what_a_call_noted_before_it_failed_counts() {
    let half = tool::from_fn("half", "Breaks.", |(), context| async move {
        let change = |target| Change::applied(ChangeTarget::Memory(target), ChangeAction::Update);
        context.note_change(change(Target::User));
        Err::<String, _>(ToolError::failed("the second half broke"))
    });
    let model = ScriptedProvider::new().call("half", json!({})).say("done");
    let session = agent(&model).tool(half).build().unwrap().session();

    let turn = session.send("Go.").await.unwrap();

    assert_eq!(turn.changes.len(), 1);
}

/// A price for one model only.
#[derive(Debug)]
struct ByName;

impl Pricing for ByName {
    fn cost(&self, model: &str, _: &Usage) -> Option<Cost> {
        (model == "dearest").then(|| Cost::from_cents(99))
    }
}

#[tokio::test]
async fn a_request_is_priced_as_the_model_that_answered() {
    let model = ScriptedProvider::new().events(vec![
        ModelEvent::Model("dearest".into()),
        ModelEvent::Text("Yes.".to_owned()),
        ModelEvent::Done { stop: StopReason::EndTurn, usage: Usage::new(1, 1) },
    ]);
    let session = agent(&model).pricing(ByName).build().unwrap().session();

    let turn = session.send("Go.").await.unwrap();

    assert_eq!(turn.cost, Some(Cost::from_cents(99)));
}

#[test]
fn approval_that_goes_by_an_argument_no_call_has_is_no_approval() {
    let shell = tool::from_fn("shell", "Runs.", |_: Echo, _| async { Ok("ran") })
        .configure(|spec| spec.with_approval(NeedsApproval::dangerous("txet")));

    let err = agent(&ScriptedProvider::new()).tool(shell).build().unwrap_err();

    assert!(matches!(err, BuildError::InvalidTool { .. }), "{err:?}");
}

#[tokio::test]
async fn limits_and_requests_are_set_in_any_order() {
    let requests = async |builder: hermes_core::agent::AgentBuilder| {
        let session = builder.build().unwrap().session();
        session.send("Go.").await.unwrap().requests
    };
    let endless = || {
        ScriptedProvider::from_fn(|_| {
            let call = Call::new("", "echo", r#"{"text":"on"}"#);
            Message::new(Role::Assistant, vec![Part::Call(call)])
        })
    };

    let before = requests(agent(&endless()).max_requests(3).limits(Limits::default())).await;
    let after = requests(agent(&endless()).limits(Limits::default()).max_requests(3)).await;

    assert_eq!((before, after), (3, 3));
}

#[tokio::test]
async fn a_call_that_ends_itself_is_waited_for_when_the_turn_is_cancelled() {
    let careful =
        tool::from_fn("careful", "Writes.", |(), context: tool::ToolContext| async move {
            context.token().cancelled().await;
            tokio::task::yield_now().await;
            let change = Change::applied(ChangeTarget::Memory(Target::User), ChangeAction::Update);
            Ok(ToolOutput::done("half of it was written").with_change(change))
        })
        .configure(|spec| spec.with_cancel_grace(Duration::from_secs(60)));
    let model = ScriptedProvider::new().call("careful", json!({}));
    let session = agent(&model).tool(careful).build().unwrap().session();

    let mut reply = session.send("Go.");
    while let Some(event) = reply.next().await {
        if let AgentEvent::CallStarted(_) = event {
            session.cancel();
        }
    }
    let turn = reply.await.unwrap();

    assert_eq!((turn.finish, turn.changes.len()), (Finish::Cancelled, 1));
    assert_eq!(results(&session.history())[0].content, "half of it was written");
}

#[tokio::test]
async fn what_was_cut_was_not_seen() {
    let view =
        tool::from_fn("view", "Shows.", |echo: Echo, context: tool::ToolContext| async move {
            context.seen().note(echo.text.clone(), Version::of(&echo.text));
            Ok(if echo.text == "long" { "x".repeat(3_000) } else { echo.text })
        })
        .configure(ToolSpec::read_only);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let look = tool::from_fn("look", "Looks.", move |(), context: tool::ToolContext| {
        log.lock().unwrap().extend(context.seen().snapshot());
        async { Ok("looked") }
    });
    let model = ScriptedProvider::new()
        .calls([("view", json!({"text": "long"})), ("view", json!({"text": "short"}))])
        .call("look", json!({}));
    let agent = agent(&model).tool(view).tool(look).max_result_chars(2_500).build().unwrap();

    agent.session().send("Go.").await.unwrap();

    assert_eq!(*seen.lock().unwrap(), [("short".to_owned(), Version::of("short"))]);
}

/// A policy and prices that panic.
#[derive(Debug)]
struct Panics;

impl Pricing for Panics {
    fn cost(&self, _: &str, _: &Usage) -> Option<Cost> {
        panic!("as asked")
    }
}

impl ReviewPolicy for Panics {
    fn after_turn(&self, _: &FinishedTurn) -> Option<ReviewTask> {
        panic!("as asked")
    }

    fn judge(&self, _: &ProposedWrite) -> Verdict {
        Verdict::Apply
    }
}

#[tokio::test]
async fn a_lost_turn_leaves_a_settled_conversation() {
    let model = ScriptedProvider::new().call("echo", json!({"text": "x"}));
    let session = agent(&model).pricing(Panics).build().unwrap().session();

    let err = session.send("Go.").await.unwrap_err();

    assert!(matches!(err, AgentError::Lost), "{err:?}");
    assert_paired(&session.history());
    assert_eq!(session.broken_off(), None);
}

#[tokio::test]
async fn a_policy_that_panics_costs_the_review_and_nothing_else() {
    let model = ScriptedProvider::new().say("Yes.");
    let session = agent(&model).review(Panics).build().unwrap().session();

    let mut reply = session.send("Go.");
    let mut warnings = Vec::new();
    while let Some(event) = reply.next().await {
        if let AgentEvent::Warning(text) = event {
            warnings.push(text);
        }
    }

    assert_eq!(reply.await.unwrap().text, "Yes.");
    assert_eq!(warnings, ["the review policy crashed, so there is no review"]);
}

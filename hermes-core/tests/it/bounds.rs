//! What is bounded in a turn, whatever the model asks for.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use futures::StreamExt;
use hermes_core::{
    Cost, Pricing, Session,
    agent::{
        AgentBuilder, AgentError, AgentEvent, Finish, Limits, SessionLimits,
        hook::{AfterReply, Hook, HookPoints},
    },
    message::{Call, CallResult, CallStatus, Message, Part, Reasoning, Role, StopReason, Usage},
    testing::ScriptedProvider,
    tool::{self, Extensions, ToolOutput, ToolSpec},
};
use serde_json::json;

use crate::support::{Echo, agent, assert_paired, results, shared};

/// A reply of `count` calls of `name`, each of which says its number.
fn many(name: &str, count: usize) -> Message {
    let call = |at: usize| {
        let text = json!({"text": at.to_string()});
        Part::Call(Call::new(format!("c{at}").as_str(), name, text))
    };
    Message::new(Role::Assistant, (0..count).map(call).collect())
}

/// Runs 40 calls of a tool that only reads, the later the faster, and returns how many ran at once.
async fn most_at_once(configure: impl FnOnce(AgentBuilder) -> AgentBuilder) -> usize {
    let (now, running) = shared(AtomicUsize::new(0));
    let (most, high) = shared(AtomicUsize::new(0));
    let read = tool::from_fn("read", "Reads.", move |echo: Echo, _| {
        let (now, most) = (now.clone(), most.clone());
        async move {
            most.fetch_max(now.fetch_add(1, Relaxed) + 1, Relaxed);
            let number: u64 = echo.text.parse().unwrap();
            tokio::time::sleep(Duration::from_millis(50 - number)).await;
            now.fetch_sub(1, Relaxed);
            Ok(ToolOutput::done(echo.text))
        }
    });
    let model = ScriptedProvider::new().reply(many("read", 40)).say("done");
    let builder = configure(agent(&model)).tool(read.configure(ToolSpec::read_only));
    let session = builder.build().unwrap().session();

    session.send("Read.").await.unwrap();

    assert_paired(&session.history());
    let said: Vec<String> = results(&session.history()).into_iter().map(|it| it.content).collect();
    assert_eq!(said, (0..40).map(|it| it.to_string()).collect::<Vec<_>>());
    assert_eq!(running.load(Relaxed), 0);
    high.load(Relaxed)
}

#[tokio::test(start_paused = true)]
async fn no_more_than_eight_calls_run_at_the_same_time() {
    assert_eq!(most_at_once(|it| it).await, 8);
}

#[tokio::test(start_paused = true)]
async fn the_host_says_how_many_calls_run_at_the_same_time() {
    assert_eq!(most_at_once(|it| it.max_parallel_calls(3)).await, 3);
    assert_eq!(most_at_once(|it| it.max_parallel_calls(0)).await, 1);
    assert_eq!(most_at_once(|it| it.max_parallel_calls(100)).await, 40);
}

/// Sends one more message when the model has answered, once.
#[derive(Debug, Default)]
struct Afterthought(Mutex<Option<Session>>);

#[hermes_core::async_trait]
impl Hook for Afterthought {
    fn listens(&self) -> HookPoints {
        HookPoints::AFTER_REPLY
    }

    async fn after_reply(&self, _: &AfterReply<'_>) {
        if let Some(session) = self.0.lock().unwrap().take() {
            session.steer("In French.");
        }
    }
}

#[tokio::test]
async fn what_is_sent_during_the_last_answer_goes_before_the_next_message() {
    for requests in [1, 2] {
        let model = ScriptedProvider::new().say("Yes.").say("Oui.");
        let (hook, steers) = shared(Afterthought::default());
        let session = agent(&model).hook(hook).max_requests(requests).build().unwrap().session();
        *steers.0.lock().unwrap() = Some(session.clone());

        let mut reply = session.send("Well?");
        let mut steered = 0;
        while let Some(event) = reply.next_event().await {
            steered += usize::from(matches!(event, AgentEvent::Steered(_)));
        }
        let turn = reply.await.unwrap();
        let next = session.send("Go on.").await.unwrap();

        assert_eq!((turn.text.as_str(), turn.finish, steered), ("Yes.", Finish::Answered, 0));
        assert_eq!(next.text, "Oui.");
        assert_eq!(session.history()[2].text(), "In French.\n\nGo on.");
    }
}

#[tokio::test]
async fn an_answer_of_which_reasoning_took_all_ends_the_turn_at_once() {
    let thought = Part::Reasoning(Reasoning::new("Let me think"));
    let cut = Message::new(Role::Assistant, vec![thought]).with_stop(StopReason::Length);
    let model = ScriptedProvider::new().reply(cut).say("Yes.");
    let session = agent(&model).build().unwrap().session();

    let turn = session.send("Well?").await.unwrap();

    assert_eq!((turn.finish.clone(), turn.requests), (Finish::Length, 1));
    assert!(!turn.is_completed());
    assert_eq!(session.history().len(), 1);
    assert_eq!(session.retry(Extensions::default()).await.unwrap().text, "Yes.");
}

#[tokio::test]
async fn limits_on_tokens_hold_where_the_endpoint_reports_none() {
    let model = ScriptedProvider::new()
        .usage(Usage::default())
        .call("echo", json!({"text": "word ".repeat(2_000)}))
        .otherwise("That was it.");
    let builder = agent(&model).limits(Limits::default().tokens(2_000));
    let session =
        builder.session_limits(SessionLimits::default().tokens(2_100)).build().unwrap().session();

    let mut reply = session.send("Say it.");
    let mut warnings = Vec::new();
    while let Some(event) = reply.next_event().await {
        if let AgentEvent::Warning(text) = event {
            warnings.push(text);
        }
    }
    let turn = reply.await.unwrap();

    assert_eq!((turn.finish.clone(), turn.requests), (Finish::OutOfRounds, 2));
    assert!((7_000..12_000).contains(&turn.usage.total()), "{:?}", turn.usage);
    assert_eq!(warnings, ["no usage was reported for scripted: its tokens are estimated"]);
    let spending = session.spending();
    assert_eq!((spending.requests, spending.estimated), (2, 2));
    // What a message says of its usage stays what the endpoint said.
    assert!(session.history().iter().all(|it| it.usage.unwrap_or_default().total() == 0));
    let err = session.send("Again.").await.unwrap_err();
    assert!(matches!(err, AgentError::OutOfBudget), "{err:?}");
}

#[tokio::test]
async fn that_tokens_are_estimated_is_told_to_the_next_that_listens() {
    let silent = ScriptedProvider::new().usage(Usage::default()).say("Yes.");
    let model = silent.usage(Usage::new(100, 10));
    let session = agent(&model).limits(Limits::default().tokens(20_000)).build().unwrap().session();

    session.send("Nobody listens.").await.unwrap();
    let events: Vec<AgentEvent> = session.send("But now.").collect().await;

    let warnings = events.into_iter().filter_map(|event| match event {
        AgentEvent::Warning(text) => Some(text),
        _ => None,
    });
    let what = "no usage was reported for scripted: its tokens are estimated";
    assert_eq!(warnings.collect::<Vec<_>>(), [what]);
}

/// Two cents a token.
#[derive(Debug)]
struct TwoCents;

impl Pricing for TwoCents {
    fn cost(&self, _: &str, usage: &Usage) -> Option<Cost> {
        (0 < usage.total()).then(|| Cost::from_cents(2 * usage.total()))
    }
}

#[tokio::test]
async fn limits_on_money_hold_where_the_endpoint_reports_no_usage() {
    let model = ScriptedProvider::new()
        .usage(Usage::default())
        .call("echo", json!({"text": "word"}))
        .otherwise("That was it.");
    let limits = Limits::default().cost(Cost::from_cents(10));
    let session = agent(&model).limits(limits).pricing(TwoCents).build().unwrap().session();

    let turn = session.send("Say it.").await.unwrap();

    assert_eq!((turn.finish.clone(), turn.requests), (Finish::OutOfRounds, 2));
    assert!(turn.cost.is_some_and(|cost| Cost::from_cents(20) < cost), "{:?}", turn.cost);
}

#[tokio::test]
async fn what_no_user_can_say_is_refused_and_leaves_the_conversation_as_it_is() {
    let model = ScriptedProvider::new().say("Yes.");
    let session = agent(&model).build().unwrap().session();
    let result = CallResult::new("a".into(), CallStatus::Done, "ok");
    let parts = [
        Part::Call(Call::new("a", "echo", "{}")),
        Part::Result(result),
        Part::Reasoning(Reasoning::new("hm")),
    ];

    for part in parts {
        let message = Message::new(Role::User, vec![Part::Text("Well?".to_owned()), part]);
        let err = session.send(message).await.unwrap_err();
        assert!(matches!(err, AgentError::NotInput), "{err:?}");
    }

    assert!(session.history().is_empty());
    let said = Message::new(Role::User, vec![Part::Context("It rains.".to_owned())]);
    assert_eq!(session.send(said).await.unwrap().text, "Yes.");
}

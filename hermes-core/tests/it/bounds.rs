//! What is bounded in a turn, whatever the model asks for.

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use hermes_core::{
    agent::AgentBuilder,
    message::{Call, Message, Part, Role},
    testing::ScriptedProvider,
    tool::{self, ToolOutput, ToolSpec},
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

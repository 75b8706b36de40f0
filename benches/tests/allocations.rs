//! What a round of the loop allocates depends on what is new in it, not on the conversation.
//!
//! The set-up is that of the comparison with other frameworks: an agent built beforehand, a scripted
//! model, a store in memory, one call of a trivial tool a round.
#![expect(clippy::unwrap_used, reason = "a test with its helper")]

use std::sync::Arc;

use hermes_core::{
    Agent,
    agent::{
        AgentBuilder,
        hook::{Hook, HookPoints},
    },
    async_trait,
    message::{Call, Message, Part, Role},
    schemars::{self, JsonSchema},
    testing::{InMemorySessions, ScriptedProvider},
    tool,
};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Numbers {
    x: i64,
    y: i64,
}

/// A hook that listens to nothing.
#[derive(Debug)]
struct Deaf;

#[async_trait]
impl Hook for Deaf {
    fn listens(&self) -> HookPoints {
        HookPoints::NONE
    }
}

/// Returns how many allocations a turn of `calls` rounds makes.
fn allocations(calls: usize) -> u64 {
    counted(calls, |agent| agent)
}

/// Returns how many allocations a turn of `calls` rounds makes of an agent with what `configure` adds.
fn counted(calls: usize, configure: impl FnOnce(AgentBuilder) -> AgentBuilder) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let add = tool::from_fn("add", "Adds.", |numbers: Numbers, _| async move {
        Ok((numbers.x + numbers.y).to_string())
    });
    let mut model = ScriptedProvider::new();
    for number in 0..calls {
        let call = Call::new(format!("c{number}").as_str(), "add", r#"{"x":1,"y":2}"#);
        model = model.reply(Message::new(Role::Assistant, vec![Part::Call(call)]));
    }
    let agent = Agent::builder(model.say("3"))
        .model("scripted")
        .tool(add)
        .sessions(Arc::new(InMemorySessions::default()));
    let agent = configure(agent).build().unwrap();
    let session = agent.session();
    let info = allocation_counter::measure(|| {
        let turn = runtime.block_on(async { session.send("add").await.unwrap() });
        assert_eq!(turn.text, "3");
    });
    info.count_total
}

#[test]
fn a_turn_allocates_little_and_grows_with_its_rounds_only() {
    let (twelve, fifty) = (allocations(12), allocations(50));
    println!("12 calls: {twelve} allocations, 50 calls: {fifty}");

    assert!(twelve <= 1_000, "{twelve}");
    assert!(fifty <= 5 * twelve, "{fifty} against {twelve}");
}

/// A hook that listens to everything and does nothing.
#[derive(Debug)]
struct Idle;

#[async_trait]
impl Hook for Idle {
    fn listens(&self) -> HookPoints {
        HookPoints::ALL
    }
}

#[test]
fn without_a_hook_that_listens_nothing_is_allocated_for_hooks() {
    let without = allocations(12);

    let deaf = counted(12, |agent| (0..100).fold(agent, |agent, _| agent.hook(Deaf)));
    let idle = counted(12, |agent| agent.hook(Idle));

    assert_eq!(deaf, without, "points that nobody listens to cost nothing");
    // The measure would see what hooks cost.
    assert!(without < idle, "{idle} against {without}");
}

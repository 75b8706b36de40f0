//! What a round of the loop allocates depends on what is new in it, not on the conversation.
//!
//! The set-up is that of the comparison with other frameworks: an agent built beforehand, a scripted
//! model, a store in memory, one call of a trivial tool a round.
#![expect(clippy::unwrap_used, reason = "a test with its helper")]

use std::sync::Arc;

use hermes_core::{
    Agent,
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

/// Returns how many allocations a turn of `calls` rounds makes.
fn allocations(calls: usize) -> u64 {
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
        .sessions(Arc::new(InMemorySessions::default()))
        .build()
        .unwrap();
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

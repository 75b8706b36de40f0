//! What the model sees: whole requests, as text, at the moments that differ.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "helpers of tests")]

use std::{fmt::Write as _, fs, path::Path};

use hermes_core::{
    Agent,
    agent::AgentBuilder,
    compress::Summariser,
    message::{Message, Part, Usage},
    provider::Request,
    testing::ScriptedProvider,
    tool,
};
use hermes_memory::{FileMemory, Memory};
use hermes_review::{Intervals, NudgePolicy};
use hermes_skills::{FsSkills, Skills};
use serde_json::{Value, json};

const SKILL: &str = "---\nname: trips\ndescription: Plans trips by train.\n---\n\n# Trips\n\nAsk for dates first.\n";

/// An agent with a fact, a skill and a tool.
fn agent(model: &ScriptedProvider, home: &Path) -> AgentBuilder {
    fs::create_dir_all(home.join("memories")).unwrap();
    fs::write(home.join("memories/MEMORY.md"), "Kilometres are preferred.").unwrap();
    fs::create_dir_all(home.join("skills/travel/trips")).unwrap();
    fs::write(home.join("skills/travel/trips/SKILL.md"), SKILL).unwrap();
    let distance =
        tool::from_fn("distance", "Tells a distance.", |_: Value, _| async { Ok("500 km") });
    Agent::builder(model.clone())
        .model("scripted")
        .identity("You plan trips.")
        .tool(distance)
        .memory(Memory::new(FileMemory::new(home)))
        .skills(Skills::new(FsSkills::new(home)))
}

/// A model that does not say what it used, so that sizes are estimated.
fn model() -> ScriptedProvider {
    ScriptedProvider::new().usage(Usage::default())
}

/// Returns a request as a person would read it; of the tools only the names.
fn shown(request: &Request) -> String {
    let mut text = format!("# System\n\n{}\n\n# Tools\n\n", request.system);
    let names: Vec<_> = request.tools.iter().map(|it| &*it.name).collect();
    write!(text, "{} (choice: {:?})\n\n# Messages\n", names.join(", "), request.tool_choice)
        .unwrap();
    for message in request.messages.iter() {
        write!(text, "\n## {:?}\n", message.role).unwrap();
        text.extend(message.parts.iter().map(|part| format!("\n{}\n", part_of(part))));
    }
    text
}

fn part_of(part: &Part) -> String {
    match part {
        Part::Text(text) => text.clone(),
        Part::Context(text) => format!("(context) {text}"),
        Part::Call(call) => format!("(call {}) {} {}", call.id, call.name, call.arguments.as_str()),
        Part::Result(result) => {
            format!("(result of {}, {:?}) {}", result.call, result.status, result.content)
        }
        other => format!("{other:?}"),
    }
}

/// Takes out what differs from run to run.
fn steady(text: &str, home: &Path) -> String {
    text.replace(home.to_str().unwrap(), "HOME")
}

#[tokio::test]
async fn in_the_first_turn() {
    let home = tempfile::tempdir().unwrap();
    let model = model().say("To Oslo?");
    let session = agent(&model, home.path()).build().unwrap().session();

    session.send("How far is it?").await.unwrap();

    insta::assert_snapshot!(steady(&shown(&model.last_request().unwrap()), home.path()));
}

#[tokio::test]
async fn what_tools_say_of_themselves() {
    let home = tempfile::tempdir().unwrap();
    let model = model();
    let session = agent(&model, home.path()).build().unwrap().session();
    session.send("Hi.").await.unwrap();

    let mut text = String::new();
    for tool in model.last_request().unwrap().tools.iter() {
        let schema = serde_json::to_string_pretty(&*tool.parameters).unwrap();
        write!(text, "# {}\n\n{}\n\n{schema}\n\n", tool.name, tool.description).unwrap();
    }
    insta::assert_snapshot!(steady(&text, home.path()));
}

#[tokio::test]
async fn after_compression() {
    let home = tempfile::tempdir().unwrap();
    let model = model()
        .call("distance", json!({"to": "Oslo"}))
        .say("It is 500 km. ".repeat(400))
        .say("GOAL: plan a trip to Oslo.\nDONE: the distance is 500 km.")
        .say("By train.");
    let compressor = Summariser::new(2_500).head_messages(0).tail_messages(1).tail_tokens(0);
    let session = agent(&model, home.path()).compressor(compressor).build().unwrap().session();
    session.send("Plan a trip to Oslo.").await.unwrap();

    session.send("How do I get there?").await.unwrap();

    assert_eq!(model.remaining(), 0);
    insta::assert_snapshot!(steady(&shown(&model.last_request().unwrap()), home.path()));
}

#[tokio::test]
async fn in_a_fork() {
    let home = tempfile::tempdir().unwrap();
    let model = model().say("It is 500 km.").say("Nothing to save.");
    let policy = NudgePolicy::new(Intervals::new(1, 1));
    let session = agent(&model, home.path()).review(policy).build().unwrap().session();

    let turn = session.send("How far is Oslo? I like trains.").await.unwrap();
    turn.review.unwrap().await;

    insta::assert_snapshot!(steady(&shown(&model.last_request().unwrap()), home.path()));
}

#[tokio::test]
async fn after_a_steer() {
    let home = tempfile::tempdir().unwrap();
    let model = model().call("wait", json!({})).say("To Bergen, then.");
    let handle = std::sync::Arc::<std::sync::OnceLock<hermes_core::Session>>::default();
    let inner = std::sync::Arc::clone(&handle);
    let wait = tool::from_fn("wait", "Waits.", move |_: Value, _| {
        inner.get().unwrap().steer("To Bergen instead.");
        async { Ok("waited") }
    });
    let session = agent(&model, home.path()).tool(wait).build().unwrap().session();
    handle.set(session.clone()).unwrap();

    session.send("Plan a trip to Oslo.").await.unwrap();

    let last = model.last_request().unwrap();
    let messages: Vec<Message> = last.messages.to_vec();
    assert_eq!(messages[3].text(), "To Bergen instead.");
    insta::assert_snapshot!(steady(&shown(&last), home.path()));
}

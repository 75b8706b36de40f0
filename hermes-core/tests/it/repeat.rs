//! Calls made in vain again and again, and results that are too long.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use futures::StreamExt;
use hermes_core::{
    agent::AgentEvent,
    async_trait,
    message::CallStatus,
    testing::ScriptedProvider,
    tool::{self, ResultSpill, SpillFolder, ToolOutput, ToolSpec},
};
use serde_json::json;

use crate::support::{Echo, agent, assert_paired, results};

const FAILED_TWICE: &str = "it broke\n\n[This call has failed 2 times in a row with the same arguments. Do not repeat it: change them, try another way, or tell the user what is in the way.]";

/// A model that makes these calls one after the other.
fn calls(calls: &[(&'static str, &str)]) -> ScriptedProvider {
    calls.iter().fold(ScriptedProvider::new(), |model, (name, text)| {
        model.call(*name, json!({"text": text}))
    })
}

#[tokio::test]
async fn a_call_that_fails_again_and_again_is_noticed_and_then_refused() {
    let runs = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&runs);
    let broken = tool::from_fn("broken", "Breaks.", move |_: Echo, _| {
        counter.fetch_add(1, Ordering::SeqCst);
        async { Ok(ToolOutput::failed("it broke")) }
    });
    let model = calls(&[("broken", "x"); 7]);
    let session = agent(&model).tool(broken).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let results = results(&session.history());
    assert_eq!(results[0].content, "it broke");
    assert_eq!(results[1].content, FAILED_TWICE);
    assert!(results[4].content.contains("failed 5 times in a row"), "{}", results[4].content);
    for refused in &results[5..] {
        assert_eq!(refused.status, CallStatus::Rejected);
        assert!(
            refused.content.starts_with("Not run: this call has failed "),
            "{}",
            refused.content
        );
    }
    assert_eq!(runs.load(Ordering::SeqCst), 5);
    assert_paired(&session.history());
}

#[tokio::test]
async fn a_call_may_run_again_once_something_has_changed() {
    let model = calls(&[("echo", "fail"), ("echo", "fail"), ("echo", "done"), ("echo", "fail")]);
    let session = agent(&model).max_repeats(2).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let contents: Vec<_> = results(&session.history()).into_iter().map(|it| it.content).collect();
    assert_eq!(contents, ["it broke", FAILED_TWICE, "done", "it broke"]);
}

#[tokio::test]
async fn the_user_may_ask_for_the_same_again() {
    let model = calls(&[("echo", "fail"), ("echo", "fail")])
        .say("It fails.")
        .call("echo", json!({"text": "fail"}));
    let session = agent(&model).max_repeats(2).build().unwrap().session();

    session.send("Go.").await.unwrap();
    session.send("Again.").await.unwrap();

    assert_eq!(results(&session.history())[2].content, "it broke");
}

#[tokio::test]
async fn wrong_arguments_count_and_the_limit_can_be_lifted() {
    let model = (0..9).fold(ScriptedProvider::new(), |model, _| model.call("echo", json!({})));
    let session = agent(&model).max_repeats(0).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let results = results(&session.history());
    assert!(results[8].content.contains("\"text\" is required"), "{}", results[8].content);
    assert!(results[8].content.contains("failed 9 times in a row"), "{}", results[8].content);
}

#[tokio::test]
async fn reading_the_same_again_is_noticed() {
    let read = tool::from_fn("read", "Reads.", |echo: Echo, _| async move { Ok(echo.text) })
        .configure(ToolSpec::read_only);
    let model = calls(&[
        ("read", "a"),
        ("read", "b"),
        ("read", "a"),
        ("read", "a"),
        ("echo", "changed"),
        ("read", "a"),
    ]);
    let session = agent(&model).tool(read).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let note = |times| {
        format!(
            "a\n\n[This call has brought the same result {times} times in a row. Nothing has changed \
             since the first time; go on with what you have.]"
        )
    };
    let contents: Vec<_> = results(&session.history()).into_iter().map(|it| it.content).collect();
    assert_eq!(contents, ["a".into(), "b".into(), note(2), note(3), "changed".into(), "a".into()]);
}

#[tokio::test]
async fn long_results_are_kept_whole_where_the_model_can_read_them() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("{}{}", "a".repeat(3_000), "é".repeat(3_000));
    let model = calls(&[("echo", &long)]);
    let session = agent(&model)
        .max_result_chars(2_000)
        .spill_results(SpillFolder::new(folder.path().join("results")))
        .build()
        .unwrap()
        .session();

    session.send("Go.").await.unwrap();

    let content = &results(&session.history())[0].content;
    let (preview, marker) = content.rsplit_once("\n\n[").unwrap();
    assert!(preview.contains("[… 4500 of 6000 characters left out …]"), "{preview}");
    let path = marker.strip_prefix("The whole result, 6000 characters, is in ").unwrap();
    let path = path.split(". Read the part you need").next().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), long);
    assert!(path.starts_with(folder.path().to_str().unwrap()), "{path}");
}

/// A place that is full.
#[derive(Debug)]
struct Full;

#[async_trait]
impl ResultSpill for Full {
    async fn spill(&self, tool: &str, _: &str) -> io::Result<String> {
        assert!(tool != "crash", "as asked");
        Err(io::Error::other("disk full"))
    }
}

#[tokio::test]
async fn what_cannot_be_kept_is_cut_and_the_host_told() {
    let crash = tool::from_fn("crash", "Is long.", |echo: Echo, _| async move { Ok(echo.text) });
    let long = "x".repeat(500);
    let model = calls(&[("echo", &long), ("crash", &long)]);
    let session = agent(&model)
        .tool(crash)
        .max_result_chars(100)
        .spill_results(Full)
        .build()
        .unwrap()
        .session();

    let events: Vec<_> = session.send("Go.").collect().await;

    for result in results(&session.history()) {
        assert!(result.content.contains("400 of 500 characters left out"), "{}", result.content);
    }
    let warnings = events.into_iter().filter_map(|event| match event {
        AgentEvent::Warning(text) => Some(text),
        _ => None,
    });
    assert_eq!(
        warnings.collect::<Vec<_>>(),
        [
            "A long result was cut, as it could not be kept: disk full",
            "A long result was cut, as it could not be kept: it crashed",
        ]
    );
}

#[tokio::test]
async fn short_results_stay_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let results_folder = folder.path().join("results");
    let model = calls(&[("echo", "short")]);
    let session =
        agent(&model).spill_results(SpillFolder::new(&results_folder)).build().unwrap().session();

    session.send("Go.").await.unwrap();

    assert_eq!(results(&session.history())[0].content, "short");
    assert!(!results_folder.exists());
}

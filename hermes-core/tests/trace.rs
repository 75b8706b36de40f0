//! What a host sees in its traces.
//!
//! A program of its own with one test: whether a span is wanted is decided once for the whole process, by whichever
//! thread comes to it first, and other tests run on threads without a subscriber.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use hermes_core::{
    Agent,
    compress::Summariser,
    delegate::Delegate,
    message::{StopReason, Usage},
    provider::{ModelEvent, ProviderError, ProviderErrorKind},
    schemars::{self, JsonSchema},
    store::SessionId,
    testing::ScriptedProvider,
    tool,
};
use serde::Deserialize;
use serde_json::json;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// What to say.
    text: String,
}

type Fields = BTreeMap<&'static str, String>;

/// Notes every span of this crate with its fields.
#[derive(Clone, Default)]
struct Recorder {
    next: Arc<AtomicU64>,
    spans: Arc<Mutex<BTreeMap<u64, (&'static str, Fields)>>>,
}

struct Taker<'a>(&'a mut Fields);

impl Visit for Taker<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("hermes_core")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.next.fetch_add(1, Ordering::SeqCst) + 1;
        let mut fields = Fields::new();
        span.record(&mut Taker(&mut fields));
        self.spans.lock().unwrap().insert(id, (span.metadata().name(), fields));
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut spans = self.spans.lock().unwrap();
        let (_, fields) = spans.get_mut(&span.into_u64()).unwrap();
        values.record(&mut Taker(fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Runs a turn of one call and one that fails, and returns the spans that `recorder` took of them.
async fn spans(recorder: &Recorder, has_content: bool) -> Vec<(&'static str, Fields)> {
    recorder.spans.lock().unwrap().clear();
    let model = ScriptedProvider::new()
        .call("echo", json!({"text": "secret"}))
        .say("That was secret.")
        .fail(ProviderError::new(ProviderErrorKind::Auth, "no"));
    let echo =
        tool::from_fn("echo", "Says it again.", |echo: Echo, _| async move { Ok(echo.text) });
    let agent = Agent::builder(model)
        .model("scripted")
        .identity("You echo.")
        .tool(echo)
        .trace_content(has_content)
        .build()
        .unwrap();
    let session = agent.session();
    session.send("Say secret.").await.unwrap();
    session.send("Again.").await.unwrap_err();
    let spans = recorder.spans.lock().unwrap();
    spans.values().cloned().collect()
}

#[tokio::test]
async fn spans_have_the_names_of_the_convention_and_what_was_said_only_on_request() {
    let recorder = Recorder::default();
    tracing::subscriber::set_global_default(recorder.clone()).unwrap();

    assert_nothing_was_said(&spans(&recorder, false).await);
    assert_all_was_said(&spans(&recorder, true).await);
    assert_a_sub_agent_has_its_own(&delegated(&recorder).await);
    assert_eq!(models_asked_for_a_summary(&recorder).await, ["scripted", "other", "scripted"]);
}

/// Runs two turns between which a summary is written, and returns the models of the requests.
async fn models_asked_for_a_summary(recorder: &Recorder) -> Vec<String> {
    recorder.spans.lock().unwrap().clear();
    let summary = vec![
        ModelEvent::Model("other".into()),
        ModelEvent::Text("GOAL: it".to_owned()),
        ModelEvent::Done { stop: StopReason::EndTurn, usage: Usage::new(5, 2) },
    ];
    let model = ScriptedProvider::new().say("word ".repeat(1_500)).events(summary).say("Yes.");
    let compressor = Summariser::new(100).head_messages(0).tail_messages(1).tail_tokens(0);
    let agent = Agent::builder(model).model("scripted").compressor(compressor).build().unwrap();
    let session = agent.session();
    session.send("Find it.").await.unwrap();
    session.send("And now?").await.unwrap();
    let spans = recorder.spans.lock().unwrap();
    let chats = spans.values().filter(|(name, _)| *name == "chat");
    chats.map(|(_, fields)| fields["gen_ai.response.model"].clone()).collect()
}

/// Runs a turn with a sub-agent that makes a call, and returns the spans.
async fn delegated(recorder: &Recorder) -> Vec<(&'static str, Fields)> {
    recorder.spans.lock().unwrap().clear();
    let model = ScriptedProvider::new()
        .call("delegate", json!({"tasks": [{"goal": "Ask."}]}))
        .call("ping", json!({}))
        .say("It answers.")
        .say("done");
    let ping = tool::from_fn("ping", "Answers.", |(), _| async { Ok("pong") });
    let agent = Agent::builder(model).model("scripted").tool(ping).tool(Delegate::new(["ping"]));
    agent.build().unwrap().session_as(SessionId::new("s1")).send("Go.").await.unwrap();
    let spans = recorder.spans.lock().unwrap();
    spans.values().cloned().collect()
}

fn assert_a_sub_agent_has_its_own(spans: &[(&'static str, Fields)]) {
    let names: Vec<_> = spans.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        [
            "invoke_agent",
            "chat",
            "execute_tool",
            "invoke_agent",
            "chat",
            "execute_tool",
            "chat",
            "chat"
        ]
    );
    let fields = |at: usize, field: &str| spans[at].1.get(field).map(String::as_str);
    for (at, agent, tokens) in [(0, None, "200"), (3, Some("delegate"), "200")] {
        assert_eq!(fields(at, "gen_ai.operation.name"), Some("invoke_agent"));
        assert_eq!(fields(at, "gen_ai.conversation.id"), Some("s1"));
        assert_eq!(fields(at, "gen_ai.request.model"), Some("scripted"));
        assert_eq!(fields(at, "gen_ai.agent.name"), agent);
        assert_eq!(fields(at, "gen_ai.usage.input_tokens"), Some(tokens));
    }
    assert!(fields(3, "gen_ai.agent.id").is_some_and(|it| it.ends_with("/1")), "{spans:?}");
}

fn assert_nothing_was_said(spans: &[(&'static str, Fields)]) {
    let names: Vec<_> = spans.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["invoke_agent", "chat", "execute_tool", "chat", "invoke_agent", "chat"]);
    let fields = |at: usize, field: &str| spans[at].1.get(field).map(String::as_str);
    assert_eq!(fields(1, "gen_ai.request.model"), Some("scripted"));
    assert_eq!(fields(1, "gen_ai.usage.input_tokens"), Some("100"));
    assert_eq!(fields(1, "gen_ai.response.finish_reasons"), Some(r#"["tool_calls"]"#));
    assert_eq!(fields(2, "gen_ai.tool.name"), Some("echo"));
    assert_eq!(fields(5, "error.type"), Some("auth"));
    assert_eq!((fields(0, "error.type"), fields(4, "error.type")), (None, Some("auth")));
    let all = format!("{spans:?}");
    assert!(!all.contains("secret"), "{all}");
}

fn assert_all_was_said(spans: &[(&'static str, Fields)]) {
    let fields = |at: usize, field: &str| spans[at].1.get(field).cloned().unwrap();
    assert_eq!(fields(1, "gen_ai.system_instructions"), "You echo.");
    assert!(fields(1, "gen_ai.input.messages").contains("Say secret."));
    assert!(fields(3, "gen_ai.output.messages").contains("That was secret."));
    assert_eq!(fields(2, "gen_ai.tool.call.arguments"), r#"{"text":"secret"}"#);
    assert_eq!(fields(2, "gen_ai.tool.call.result"), "secret");
}

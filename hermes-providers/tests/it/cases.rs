//! The cases of what goes over the wire, on all three: what other agents were reported to lose, run twice
//! or be refused for.
#![expect(clippy::indexing_slicing, clippy::panic, reason = "these are tests with their helpers")]

use std::sync::{Arc, Mutex};

use hermes_core::{
    Agent, async_trait,
    message::{Call, CallResult, CallStatus, Message, Part, Role},
    provider::{Provider, ProviderErrorKind as Kind, ProviderExt, Request},
    tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec},
};
use hermes_providers::Retry;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    ask,
    server::{Server, json},
    wires::{Called, WIRES, Wire},
};

/// What a body says, whatever its wire.
#[derive(Debug, PartialEq)]
enum Said {
    Text(String),
    Call { id: String, name: String, arguments: Value },
    Result { id: String, text: String },
}

impl Said {
    fn text(of: &Value) -> Self {
        Self::Text(word(of))
    }

    fn call(id: &Value, name: &Value, arguments: &Value) -> Self {
        let arguments = match arguments {
            Value::String(text) => serde_json::from_str(text).unwrap(),
            other => other.clone(),
        };
        Self::Call { id: word(id), name: word(name), arguments }
    }

    fn result(id: &Value, text: &Value) -> Self {
        Self::Result { id: word(id), text: word(text) }
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Reads a request of any of the wires.
fn said(request: &str) -> Vec<Said> {
    let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    let input = items(&body["input"]).iter().flat_map(of_item);
    input.chain(items(&body["messages"]).iter().flat_map(of_message)).collect()
}

fn of_item(item: &Value) -> Vec<Said> {
    match item["type"].as_str() {
        Some("function_call") => {
            vec![Said::call(&item["call_id"], &item["name"], &item["arguments"])]
        }
        Some("function_call_output") => vec![Said::result(&item["call_id"], &item["output"])],
        _ => items(&item["content"]).iter().map(|part| Said::text(&part["text"])).collect(),
    }
}

fn of_message(message: &Value) -> Vec<Said> {
    if message["role"] == "tool" {
        return vec![Said::result(&message["tool_call_id"], &message["content"])];
    }
    let mut said: Vec<Said> = items(&message["content"]).iter().map(of_block).collect();
    if message["content"].is_string() {
        said.push(Said::text(&message["content"]));
    }
    said.extend(items(&message["tool_calls"]).iter().map(|call| {
        Said::call(&call["id"], &call["function"]["name"], &call["function"]["arguments"])
    }));
    said
}

fn of_block(block: &Value) -> Said {
    match block["type"].as_str() {
        Some("tool_use") => Said::call(&block["id"], &block["name"], &block["input"]),
        Some("tool_result") => Said::result(&block["tool_use_id"], &block["content"]),
        _ => Said::text(&block["text"]),
    }
}

/// Checks that every call is answered right after it, every result has its call, and nothing is blank.
#[track_caller]
fn check_accepted(said: &[Said], name: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut answers = false;
    for one in said {
        match one {
            Said::Call { id, name, arguments } => {
                assert!(!answers || open.is_empty(), "{name}: {said:?}");
                assert!(!name.trim().is_empty() && arguments.is_object(), "{name}: {said:?}");
                assert!(!open.contains(&id.as_str()), "{name}: {said:?}");
                answers = false;
                open.push(id);
            }
            Said::Result { id, .. } => {
                let at = open.iter().position(|it| it == id);
                open.remove(at.unwrap_or_else(|| panic!("{name}: {said:?}")));
                answers = true;
            }
            Said::Text(text) => {
                assert!(open.is_empty() && !text.trim().is_empty(), "{name}: {said:?}");
            }
        }
    }
    assert!(open.is_empty(), "{name}: {said:?}");
}

/// A tool that notes what it was called with.
#[derive(Debug)]
struct Noting {
    name: &'static str,
    ran: Arc<Mutex<Vec<(&'static str, Value)>>>,
}

#[async_trait]
impl Tool for Noting {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(self.name, "Does it.")
    }

    async fn call(&self, arguments: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.ran.lock().unwrap().push((self.name, arguments));
        Ok(ToolOutput::done("ok"))
    }
}

/// What a turn of an agent did.
struct Turn {
    /// The tools that ran, with their arguments.
    ran: Vec<(&'static str, Value)>,
    /// What the second request said.
    second: Vec<Said>,
    failed: usize,
}

impl Turn {
    /// Lets the endpoint make calls and then say hello.
    async fn run(wire: Wire, calls: &[Called<'_>]) -> Self {
        let server = Server::start(vec![wire.calling(calls), wire.good()]);
        let ran: Arc<Mutex<Vec<(&'static str, Value)>>> = Arc::default();
        let provider: Arc<dyn Provider> = wire.provider(&server.url()).into();
        let mut builder = Agent::builder(provider).model("m");
        for name in ["ping", "write_file", "calendar"] {
            builder = builder.tool(Noting { name, ran: Arc::clone(&ran) });
        }
        let session = builder.build().unwrap().session();

        assert_eq!(session.send("go").await.unwrap().text, "hello", "{}", wire.name);

        let requests = server.requests();
        assert_eq!(requests.len(), 2, "{}", wire.name);
        let second = said(&requests[1]);
        check_accepted(&second, wire.name);
        let history = session.history();
        let results = history.iter().flat_map(|it| it.call_results());
        let failed = results.filter(|it| it.status != CallStatus::Done).count();
        let ran = ran.lock().unwrap().clone();
        Self { ran, second, failed }
    }
}

fn call<'a>(index: u64, id: &'a str, name: &'a str, arguments: &'a str) -> Called<'a> {
    Called { index, id, name, arguments }
}

/// pw-blank-tool-name.
#[tokio::test]
async fn a_call_without_a_name_runs_nothing_and_the_next_request_is_accepted() {
    for wire in WIRES {
        let turn = Turn::run(wire, &[call(0, "b1", "", "{}")]).await;

        assert_eq!((turn.ran, turn.failed), (vec![], 1), "{}", wire.name);
    }
}

/// pw-concatenated-objects.
#[tokio::test]
async fn objects_glued_together_are_as_many_calls() {
    for wire in WIRES {
        let turn = Turn::run(wire, &[call(0, "g1", "calendar", r#"{"d":1}{"d":2}{"d":3}"#)]).await;

        let days: Vec<i64> = turn.ran.iter().filter_map(|(_, it)| it["d"].as_i64()).collect();
        assert_eq!(days, [1, 2, 3], "{}: {:?}", wire.name, turn.second);
    }
}

/// pw-truncated-args-not-run.
#[tokio::test]
async fn arguments_that_are_cut_run_nothing_and_go_back_as_an_object() {
    for wire in WIRES {
        let cut = r#"{"path":"a","content":"line one"#;

        let turn = Turn::run(wire, &[call(0, "t1", "write_file", cut)]).await;

        assert_eq!((turn.ran, turn.failed), (vec![], 1), "{}", wire.name);
    }
}

/// pw-same-index-parallel.
#[tokio::test]
async fn calls_that_share_an_index_are_two() {
    for wire in WIRES {
        let calls = [
            call(0, "a1", "write_file", r#"{"p":"a"}"#),
            call(0, "a2", "write_file", r#"{"p":"b"}"#),
        ];

        let turn = Turn::run(wire, &calls).await;

        let paths: Vec<&str> = turn.ran.iter().filter_map(|(_, it)| it["p"].as_str()).collect();
        assert_eq!(paths, ["a", "b"], "{}: {:?}", wire.name, turn.second);
    }
}

/// pw-400-not-retried and pw-context-overflow-detected.
#[tokio::test]
async fn what_a_pause_cannot_help_is_asked_once() {
    let malformed = (r#"{"error":{"message":"invalid tool call arguments"}}"#, Kind::BadRequest);
    let overflow = (
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#,
        Kind::ContextOverflow,
    );
    for wire in WIRES {
        for (body, kind) in [malformed, overflow] {
            let server = Server::start(vec![json("400 Bad Request", body)]);

            let provider: Arc<dyn Provider> = wire.provider(&server.url()).into();
            let err = ask(&Retry::new(provider)).await.unwrap_err();

            assert_eq!(err.kind(), kind, "{}: {err}", wire.name);
            assert_eq!(server.requests().len(), 1, "{}", wire.name);
        }
    }
}

/// Returns what goes out for a history.
async fn sent(wire: Wire, messages: Vec<Message>) -> Vec<Said> {
    let server = Server::start(vec![wire.good()]);
    let request = Request::new("m", messages);
    wire.provider(&server.url()).complete(&request, &CancellationToken::new()).await.unwrap();
    let said = said(&server.requests()[0]);
    check_accepted(&said, wire.name);
    said
}

fn calling(text: &str, ids: &[&str]) -> Message {
    let calls = ids.iter().map(|id| Part::Call(Call::new(*id, "ping", "{}")));
    Message::new(Role::Assistant, [Part::Text(text.to_owned())].into_iter().chain(calls).collect())
}

fn result(id: &str, text: &str) -> Message {
    Message::results([CallResult::new(id.into(), CallStatus::Done, text)])
}

/// pw-orphans-both-ways.
#[tokio::test]
async fn a_result_without_a_call_goes_and_a_call_without_a_result_gets_one() {
    for wire in WIRES {
        let messages = vec![
            Message::user("a"),
            result("ghost", "old result"),
            calling("b", &["q1", "q2"]),
            result("q1", "r1"),
            Message::user("next"),
        ];

        let said = sent(wire, messages).await;

        let is_result = |it: &&Said| matches!(it, Said::Result { .. });
        assert_eq!(said.iter().filter(is_result).count(), 2, "{}: {said:?}", wire.name);
        assert!(said.contains(&Said::Result { id: "q1".into(), text: "r1".into() }));
        assert_eq!(said.last(), Some(&Said::Text("next".into())), "{}", wire.name);
    }
}

/// pw-anthropic-adjacency and pw-anthropic-no-empty-text.
#[tokio::test]
async fn a_late_result_moves_to_its_call_and_nothing_blank_goes_out() {
    for wire in WIRES {
        let messages = vec![
            Message::user("a"),
            calling("", &["q1"]),
            Message::user("steer: hurry"),
            result("q1", ""),
            Message::assistant(" "),
            Message::user(" "),
        ];

        let said = sent(wire, messages).await;

        assert!(matches!(&said[..3], [Said::Text(_), Said::Call { .. }, Said::Result { .. }]));
        assert_eq!(said[3], Said::Text("steer: hurry".into()), "{}: {said:?}", wire.name);
    }
}

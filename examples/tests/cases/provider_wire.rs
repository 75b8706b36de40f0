//! The area `provider-wire`: what goes over the wire and what is made of what comes back.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
};

use futures::StreamExt;
use hermes_core::{
    Agent, async_trait,
    clock::{Clock, SystemClock},
    message::{CallResult, CallStatus, Message, StopReason},
    provider::{Assembly, EventStream, ModelEvent, Provider, ProviderError, Recovery, Request},
    tool::{self, Tool, ToolOutput},
};
use hermes_providers::{
    OpenAiChat, Retry, classify, openai,
    reqwest::header::{HeaderMap, HeaderName},
};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    anthropic_wire,
    check::{Checks, contains_any, has},
    read::Node,
    serve::{Answer, Server},
};

/// Runs one case.
pub(crate) async fn run(case: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
    let (input, expect) = (case.get("input")?, case.get("expect")?);
    let op = input.get("op")?.str();
    match (input.get("provider")?.str(), op) {
        ("openai", "stream") => stream(&input, &expect, checks).await,
        ("openai", "build_request") => build_request(&input, &expect, checks),
        ("openai", "parse_response") => parse_response(&input, &expect, checks),
        ("openai", "agent_turn") => agent_turn(&input, &expect, checks).await,
        ("anthropic", "build_request") => anthropic_wire::build_request(&input, &expect, checks),
        ("anthropic", "replay_after_compress") => {
            anthropic_wire::replay_after_compress(&input, &expect, checks)
        }
        ("anthropic", "replay") => anthropic_wire::replay(&input, &expect, checks),
        (_, "classify_error") => classify_error(&input, &expect, checks).await,
        (_, "retry_sequence") => retry_sequence(&input, &expect, checks).await,
        (provider, op) => Err(format!("the op {op} is not built yet for {provider}")),
    }
}

fn chat(server: &Server) -> OpenAiChat {
    OpenAiChat::builder(server.address()).build().unwrap()
}

fn question() -> Request {
    Request::new("scripted", vec![Message::user("go")])
}

/// What came of one streamed answer.
struct Streamed {
    message: Message,
    fragments: usize,
    error: Option<ProviderError>,
}

async fn ask(provider: &dyn Provider) -> Streamed {
    let token = CancellationToken::new();
    let mut assembly = Assembly::default();
    let (mut fragments, mut error) = (0, None);
    match provider.stream(&question(), &token).await {
        Ok(mut events) => {
            while let Some(event) = events.next().await {
                match event {
                    Ok(event) => {
                        fragments += usize::from(matches!(event, ModelEvent::CallDelta { .. }));
                        assembly.push(event);
                    }
                    Err(err) => error = Some(err),
                }
            }
        }
        Err(err) => error = Some(err),
    }
    Streamed { message: assembly.into_message(), fragments, error }
}

/// Returns an error and its causes in one line.
fn chain(err: &dyn std::error::Error) -> String {
    let source = err.source().map(|it| format!(": {}", chain(it))).unwrap_or_default();
    format!("{err}{source}")
}

async fn stream(input: &Node<'_>, expect: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
    let chunks: Vec<Value> =
        input.get("chunks")?.items().iter().map(|it| it.whole().clone()).collect();
    let texts: Vec<String> = chunks
        .iter()
        .map(|chunk| chunk.as_str().map_or_else(|| chunk.to_string(), str::to_owned))
        .collect();
    let answer = Answer::events(texts.iter().map(String::as_str));
    let server = Server::start(vec![answer.clone()]).await;
    let streamed = ask(&chat(&server)).await;
    let done = Answer::events([
        r#"{"choices":[{"index":0,"delta":{"content":"done"},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ]);
    let turn = Turn::run(vec![answer, done]).await;
    let sent = sent_fragments(&chunks);
    check_stream(&streamed, &turn, sent, expect, checks);
    checks.any_of(expect, |alternative, checks| {
        check_stream(&streamed, &turn, sent, alternative, checks);
    });
    Ok(())
}

fn sent_fragments(chunks: &[Value]) -> usize {
    let calls =
        |chunk: &Value| chunk.pointer("/choices/0/delta/tool_calls")?.as_array().map(Vec::len);
    chunks.iter().filter_map(calls).sum()
}

fn check_stream(
    streamed: &Streamed,
    turn: &Turn,
    sent: usize,
    expect: &Node<'_>,
    checks: &mut Checks,
) {
    let calls: Vec<Value> = streamed
        .message
        .calls()
        .map(|call| {
            let raw = || Value::from(call.arguments.as_str());
            let arguments = call.arguments.parse().map_or_else(|_| raw(), Value::clone);
            json!({"id": call.id.as_str(), "name": &*call.name, "arguments": arguments})
        })
        .collect();
    if let Some(expected) = expect.opt("tool_calls") {
        let holds = has(&Value::from(calls.clone()), expected.whole());
        checks.that(holds, format!("calls are {calls:?}"));
    }
    if let Some(expected) = expect.opt("tool_calls_args") {
        let arguments: Vec<Value> =
            calls.iter().map(|it| it.get("arguments").cloned().unwrap_or_default()).collect();
        let holds = has(&Value::from(arguments), expected.whole());
        checks.that(holds, format!("calls are {calls:?}"));
    }
    if let Some(unique) = expect.opt("ids_unique") {
        let ids: HashSet<&str> = streamed.message.calls().map(|it| it.id.as_str()).collect();
        checks.that((ids.len() == calls.len()) == unique.bool(), format!("calls are {calls:?}"));
    }
    if let Some(kept) = expect.opt("no_chunk_dropped") {
        let holds = (sent <= streamed.fragments) == kept.bool();
        checks.that(holds, format!("{sent} fragments sent, {} came", streamed.fragments));
    }
    if let Some(text) = expect.opt("text") {
        let actual = streamed.message.text();
        checks.that(actual == text.str(), format!("text is {actual:?}"));
    }
    if let Some(surfaced) = expect.opt("error_surfaced") {
        let actual = streamed.error.is_some();
        checks.that(actual == surfaced.bool(), format!("error is {:?}", streamed.error));
    }
    if let Some(words) = expect.opt("error_contains_any") {
        let text = streamed.error.as_ref().map(|it| chain(it)).unwrap_or_default();
        checks.that(contains_any(&text, &words.strings()), format!("error is {text:?}"));
    }
    if let Some(reason) = expect.opt("finish_reason") {
        let stop = match &streamed.message.stop {
            Some(StopReason::EndTurn) => "stop",
            Some(StopReason::ToolCalls) => "tool_calls",
            Some(StopReason::Length) => "length",
            Some(StopReason::Refusal) => "content_filter",
            Some(StopReason::Other(other)) => other.as_str(),
            _ => "",
        };
        checks.that(stop == reason.str(), format!("stop is {stop}"));
    }
    turn.check(expect, checks);
}

fn build_request(input: &Node<'_>, expect: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
    let values: Vec<Value> =
        input.get("messages")?.items().iter().map(|it| it.whole().clone()).collect();
    let imported = openai::import(&values);
    let before = serde_json::to_string(&imported.messages).unwrap();
    let request = Request::new("scripted", imported.messages.clone()).with_system(imported.system);
    let provider = OpenAiChat::builder("http://127.0.0.1:1/v1").build().unwrap();
    let body = provider.build_body(&request);
    if let Some(wire) = expect.opt("wire") {
        check_wire(&serde_json::from_slice(&body).unwrap(), &wire, checks);
    }
    if let Some(unchanged) = expect.opt("input_messages_unchanged") {
        let holds = serde_json::to_string(&*request.messages).unwrap() == before;
        checks.that(holds == unchanged.bool(), "the messages given have changed");
    }
    Ok(())
}

/// Reads whole replies and sends them again.
fn parse_response(input: &Node<'_>, expect: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
    let source = input.opt("parse_response").unwrap_or_else(|| input.clone());
    let replies: Vec<Value> =
        source.get("messages_out")?.items().iter().map(|it| it.whole().clone()).collect();
    let mut messages = vec![Message::user("go")];
    for reply in openai::import(&replies).messages {
        let results: Vec<CallResult> = reply
            .calls()
            .map(|it| CallResult::new(it.id.clone(), CallStatus::Done, "ok"))
            .collect();
        messages.push(reply);
        if !results.is_empty() {
            messages.push(Message::results(results));
        }
    }
    let provider = OpenAiChat::builder("http://127.0.0.1:1/v1").build().unwrap();
    let body = provider.build_body(&Request::new("scripted", messages.clone()));
    if let Some(expected) = expect.opt("tool_calls") {
        let calls: Vec<Value> = messages
            .iter()
            .flat_map(|it| it.calls())
            .map(|call| {
                let raw = || Value::from(call.arguments.as_str());
                let arguments = call.arguments.parse().map_or_else(|_| raw(), Value::clone);
                json!({"id": call.id.as_str(), "name": &*call.name, "arguments": arguments})
            })
            .collect();
        let holds = has(&Value::from(calls.clone()), expected.whole());
        checks.that(holds, format!("calls are {calls:?}"));
    }
    if let Some(wire) = expect.opt("wire") {
        check_wire(&serde_json::from_slice(&body).unwrap(), &wire, checks);
    }
    Ok(())
}

/// Checks a body of chat completions.
fn check_wire(body: &Value, expect: &Node<'_>, checks: &mut Checks) {
    let text = body.to_string();
    for part in expect.opt("contains").iter().flat_map(Node::strings) {
        checks.that(text.contains(part), format!("the body lacks {part:?}: {text}"));
    }
    for part in expect.opt("not_contains").iter().flat_map(Node::strings) {
        checks.that(!text.contains(part), format!("the body has {part:?}: {text}"));
    }
    let empty = Vec::new();
    let messages = body.get("messages").and_then(Value::as_array).unwrap_or(&empty);
    let calls = |message: &Value| -> Vec<Value> {
        message.get("tool_calls").and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let role = |message: &Value| message.get("role").and_then(Value::as_str).map(str::to_owned);
    let mut check = |key: &str, holds: bool| {
        if let Some(expected) = expect.opt(key) {
            checks.that(holds == expected.bool(), format!("{key}: {text}"));
        }
    };
    check("paired", is_paired(messages));
    let first = messages.iter().find(|it| role(it).as_deref() != Some("system"));
    check("starts_with_user", first.and_then(role).as_deref() == Some("user"));
    let has_empty_array = messages
        .iter()
        .any(|it| it.get("tool_calls").is_some_and(|it| it.as_array().is_none_or(Vec::is_empty)));
    check("no_empty_tool_calls_array", !has_empty_array);
    let is_blank = |it: &Value| it.as_str().is_some_and(|it| it.trim().is_empty());
    let has_empty_text = messages.iter().any(|it| match it.get("content") {
        Some(Value::Array(blocks)) => blocks.iter().any(|it| it.get("text").is_some_and(is_blank)),
        Some(content) => is_blank(content) && role(it).as_deref() != Some("tool"),
        None => false,
    });
    check("no_empty_text_blocks", !has_empty_text);
    check("no_empty_text", !has_empty_text);
    let names: Vec<Value> = messages
        .iter()
        .flat_map(&calls)
        .map(|it| it.pointer("/function/name").cloned().unwrap_or_default())
        .collect();
    check("no_empty_tool_names", !names.iter().any(|it| it.is_null() || is_blank(it)));
    if let Some(expected) = expect.opt("roles") {
        let roles: Vec<String> = messages.iter().filter_map(role).collect();
        checks.that(roles == expected.strings(), format!("roles are {roles:?}"));
    }
    if let Some(expected) = expect.opt("assistant_with_tool_calls_content") {
        let holds = messages
            .iter()
            .filter(|it| !calls(it).is_empty())
            .all(|it| it.get("content").is_none_or(Value::is_null));
        checks.that(
            holds && expected.str() == "null_or_absent",
            format!("content beside calls: {text}"),
        );
    }
}

/// Returns whether every call has its result right behind it, and every result its call.
fn is_paired(messages: &[Value]) -> bool {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        let id = message.get("tool_call_id").and_then(Value::as_str).map(str::to_owned);
        match (message.get("role").and_then(Value::as_str), id) {
            (Some("tool"), Some(id)) => {
                let Some(at) = open.iter().position(|it| *it == id) else { return false };
                open.remove(at);
            }
            (Some("tool"), None) => return false,
            _ if !open.is_empty() => return false,
            _ => {}
        }
        let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        open.extend(calls.filter_map(|it| it.get("id")?.as_str().map(str::to_owned)));
    }
    open.is_empty()
}

/// A turn of an agent whose endpoint answers as it is told.
struct Turn {
    executed: Vec<String>,
    requests: Vec<Value>,
    rejected: usize,
}

impl Turn {
    async fn run(answers: Vec<Answer>) -> Self {
        let server = Server::start(answers).await;
        let executed: Arc<Mutex<Vec<String>>> = Arc::default();
        let mut builder = Agent::builder(chat(&server)).model("scripted");
        for name in ["ping", "write_file", "calendar", "terminal"] {
            builder = builder.tool(recording(name, &executed));
        }
        let session = builder.build().unwrap().session();
        // A turn that fails is an outcome; what counts is what was executed and sent.
        drop(session.send("go").await);
        let rejected = session
            .history()
            .iter()
            .flat_map(|it| it.call_results())
            .filter(|it| it.status != CallStatus::Done)
            .count();
        let executed = executed.lock().unwrap().clone();
        Self { executed, requests: server.requests(), rejected }
    }

    fn check(&self, expect: &Node<'_>, checks: &mut Checks) {
        if let Some(tools) = expect.opt("executed_tools") {
            checks.that(self.executed == tools.strings(), format!("executed {:?}", self.executed));
        }
        if let Some(count) = expect.opt("tool_calls_executed") {
            checks.that(
                self.executed.len() == count.usize(),
                format!("executed {:?}", self.executed),
            );
        }
        for key in ["error_result_to_model", "error_result_or_retry"] {
            if let Some(expected) = expect.opt(key) {
                let is_told = 0 < self.rejected && 1 < self.requests.len();
                checks.that(is_told == expected.bool(), format!("{key}: {:?}", self.requests));
            }
        }
        if let Some(valid) = expect.opt("history_arguments_all_valid_json") {
            let is_object = |raw: &Value| {
                let parsed = raw.as_str().and_then(|it| serde_json::from_str::<Value>(it).ok());
                parsed.is_some_and(|it| it.is_object())
            };
            let messages = self.requests.iter().filter_map(|it| it.get("messages")?.as_array());
            let calls =
                messages.flatten().filter_map(|it| it.get("tool_calls")?.as_array()).flatten();
            let holds = calls.filter_map(|it| it.pointer("/function/arguments")).all(is_object);
            checks.that(holds == valid.bool(), format!("{:?}", self.requests));
        }
        if let Some(wire) = expect.opt("next_request") {
            match self.requests.get(1) {
                Some(body) => check_wire(body, &wire, checks),
                None => checks.broken("there is no second request".to_owned()),
            }
        }
    }
}

fn recording(name: &'static str, executed: &Arc<Mutex<Vec<String>>>) -> impl Tool + use<> {
    let executed = Arc::clone(executed);
    tool::from_fn(name, "Does something.", move |_: Value, _| {
        executed.lock().unwrap().push(name.to_owned());
        async { Ok(ToolOutput::done("ok")) }
    })
}

async fn agent_turn(
    input: &Node<'_>,
    expect: &Node<'_>,
    checks: &mut Checks,
) -> Result<(), String> {
    let answers: Vec<Answer> = input.get("responses")?.items().iter().map(answer).collect();
    let turn = Turn::run(answers).await;
    turn.check(expect, checks);
    checks.any_of(expect, |alternative, checks| turn.check(alternative, checks));
    Ok(())
}

/// Returns a reply of a case as the stream that an endpoint sends.
fn answer(node: &Node<'_>) -> Answer {
    let mut chunks = Vec::new();
    if let Some(text) = node.opt("text") {
        chunks.push(json!({"choices": [{"index": 0, "delta": {"content": text.str()}}]}));
    }
    for (index, call) in node.opt("tool_calls").iter().flat_map(Node::items).enumerate() {
        let field = |key: &str| call.opt(key).map(|it| it.whole().clone()).unwrap_or_default();
        let function = json!({"name": field("name"), "arguments": field("arguments")});
        let call =
            json!({"index": index, "id": field("id"), "type": "function", "function": function});
        chunks.push(json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}));
    }
    let reason = node.opt("finish_reason").map_or("stop", |it| it.str());
    chunks.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
    let mut data: Vec<String> = chunks.iter().map(Value::to_string).collect();
    data.push("[DONE]".to_owned());
    Answer::events(data.iter().map(String::as_str))
}

async fn classify_error(
    input: &Node<'_>,
    expect: &Node<'_>,
    checks: &mut Checks,
) -> Result<(), String> {
    let server = Server::start(vec![failure(input)?]).await;
    let error = ask(&chat(&server)).await.error.ok_or("there was no error")?;
    if let Some(kinds) = expect.opt("kind_any") {
        let kind = error.kind().as_str();
        checks.that(kinds.strings().contains(&kind), format!("kind is {kind}"));
    }
    if let Some(expected) = expect.opt("retryable_after_compress") {
        let holds = (error.recovery() == Recovery::Compress) == expected.bool();
        checks.that(holds, format!("recovery is {:?}", error.recovery()));
    }
    if let Some(expected) = expect.opt("retryable") {
        let holds = matches!(error.recovery(), Recovery::Retry(_)) == expected.bool();
        checks.that(holds, format!("recovery is {:?}", error.recovery()));
    }
    if let Some(words) = expect.opt("error_contains_any") {
        let text = chain(&error);
        checks.that(contains_any(&text, &words.strings()), format!("error is {text:?}"));
    }
    Ok(())
}

/// Returns an answer that a case gives by status, headers and body.
fn failure(node: &Node<'_>) -> Result<Answer, String> {
    let status = u16::try_from(node.get("status")?.usize()).map_err(|err| err.to_string())?;
    let headers = node.opt("headers").map(|it| it.entries()).unwrap_or_default();
    let mut headers: Vec<(String, String)> = headers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.str().to_owned()))
        .collect();
    let body = node.opt("body").map(|it| it.whole().clone()).unwrap_or_default();
    let body = match body {
        Value::String(text) => text,
        other => {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
            other.to_string()
        }
    };
    Ok(Answer { status, headers, body })
}

/// An endpoint that answers every request with the next failure, and then with the last.
#[derive(Clone, Debug)]
struct Failing {
    answers: Arc<Vec<Answer>>,
    asked: Arc<Mutex<Vec<Instant>>>,
}

#[async_trait]
impl Provider for Failing {
    async fn stream(
        &self,
        _: &Request,
        _: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let number = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(Instant::now());
            asked.len() - 1
        };
        let answer = self.answers.get(number).or(self.answers.last()).unwrap();
        let mut headers = HeaderMap::new();
        for (name, value) in &answer.headers {
            headers.insert(HeaderName::try_from(name).unwrap(), value.parse().unwrap());
        }
        Err(classify(answer.status, &headers, answer.body.as_bytes(), SystemClock.now()))
    }
}

/// What came of asking through the default [`Retry`], in time that only passes when all wait.
async fn retry_sequence(
    input: &Node<'_>,
    expect: &Node<'_>,
    checks: &mut Checks,
) -> Result<(), String> {
    input.opt("fake_clock");
    let answers: Result<Vec<Answer>, String> =
        input.get("responses")?.items().iter().map(failure).collect();
    let failing = Failing { answers: Arc::new(answers?), asked: Arc::default() };
    let provider = Retry::new(failing.clone());
    let asking = tokio::task::spawn_blocking(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(ask(&provider)).error
    });
    let error = asking.await.map_err(|err| err.to_string())?.ok_or("there was no error")?;
    let asked = failing.asked.lock().unwrap().clone();
    if let Some(most) = expect.opt("requests_max") {
        checks.that(asked.len() <= most.usize(), format!("{} requests", asked.len()));
    }
    if let Some(words) = expect.opt("error_contains_any") {
        let text = chain(&error);
        checks.that(contains_any(&text, &words.strings()), format!("error is {text:?}"));
    }
    if let Some(count) = expect.opt("compressions") {
        let compressions = usize::from(error.recovery() == Recovery::Compress);
        checks.that(compressions == count.usize(), format!("recovery is {:?}", error.recovery()));
    }
    if let Some(range) = expect.opt("slept_s_between") {
        let slept = asked.first().zip(asked.get(1)).map(|(first, second)| *second - *first);
        let slept = slept.map(|it| it.as_secs_f64());
        let bounds: Vec<f64> = range.items().iter().filter_map(|it| it.whole().as_f64()).collect();
        let holds = matches!((slept, &*bounds), (Some(it), [from, to]) if *from <= it && it <= *to);
        checks.that(holds, format!("slept {slept:?} s"));
    }
    Ok(())
}

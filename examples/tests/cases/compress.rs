//! The area `compress`: shortening a conversation that nears its window.

use std::{collections::HashSet, sync::Arc, time::UNIX_EPOCH};

use hermes_core::{
    compress::{
        CompressError, CompressState, CompressTask, Compressor, Summariser, summary_message,
    },
    message::{Message, MessageId, Role},
    provider::{ProviderError, ProviderErrorKind, Request},
    store::{SessionId, SessionState, SessionStore},
    testing::{InMemorySessions, ScriptedProvider},
};
use hermes_providers::openai::import;
use serde_json::{Value, json};

use crate::{check::Checks, read::Node};

/// Runs one case.
pub(crate) async fn run(case: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
    let input = case.get("input")?;
    let config = input.opt("config");
    let config = config.as_ref();
    let expect = case.get("expect")?;
    let mut play = Play::new(&input, config);
    if let Some(steps) = input.opt("steps") {
        let mut ran = Vec::new();
        for step in steps.items() {
            ran.push(play.step(&step, config).await?);
        }
        for expected in expect.opt("steps").iter().flat_map(Node::items) {
            let at = expected.get("step")?.usize();
            let ran = ran.get(at).and_then(Option::as_ref).ok_or("no such step")?;
            check(&expected, ran, checks).await?;
        }
        return Ok(());
    }
    let model = summarizer(input.opt("summarizer").as_ref());
    let mut ran = match input.get("op")?.str() {
        "compress" => play.compress(&model, config).await,
        "compress_loop" => play.run_loop(&input, &model, config).await?,
        other => return Err(format!("unknown op {other}")),
    };
    ran.is_persisted =
        config.and_then(|it| it.opt("mark_messages_persisted")).is_some_and(|it| it.bool());
    check(&expect, &ran, checks).await
}

/// Returns a model that answers every request for a summary alike.
fn summarizer(script: Option<&Node<'_>>) -> ScriptedProvider {
    let Some(script) = script else { return ScriptedProvider::new().otherwise("SUMMARY-OK") };
    if let Some(text) = script.opt_str() {
        return ScriptedProvider::new().otherwise(text);
    }
    let text = script.opt("error").map_or("", |it| it.str()).to_owned();
    let kind = if text.contains("429") {
        ProviderErrorKind::RateLimited
    } else {
        ProviderErrorKind::Unreachable
    };
    let fail = || ProviderError::new(kind, text.clone());
    (0..20).fold(ScriptedProvider::new(), |model, _| model.fail(fail()))
}

/// A conversation, and what it remembers of its compressions.
struct Play {
    messages: Vec<Message>,
    state: CompressState,
    overhead: usize,
}

/// What came of a step.
struct Ran {
    before: Vec<Message>,
    after: Vec<Message>,
    errors: Vec<CompressError>,
    requests: Vec<Request>,
    is_persisted: bool,
}

impl Play {
    fn new(input: &Node<'_>, _: Option<&Node<'_>>) -> Self {
        let messages = input.opt("messages").map_or_else(pairs, |it| {
            let whole = it.whole().as_array().cloned().unwrap_or_default();
            with_summaries(import(&whole).messages)
        });
        let overhead = input.opt("fixed_overhead_tokens").map_or(0, |it| it.usize());
        Self { messages: numbered(messages), state: CompressState::default(), overhead }
    }

    async fn step(
        &mut self,
        step: &Node<'_>,
        config: Option<&Node<'_>>,
    ) -> Result<Option<Ran>, String> {
        match step.get("do")?.str() {
            "new_session" => {
                (self.messages, self.state) = (numbered(pairs()), CompressState::default());
                Ok(None)
            }
            "compress" => {
                let model = summarizer(step.opt("summarizer").as_ref());
                Ok(Some(self.compress(&model, config).await))
            }
            other => Err(format!("unknown step {other}")),
        }
    }

    /// Adds a turn, asks whether to compress, and does it, so many times.
    async fn run_loop(
        &mut self,
        input: &Node<'_>,
        model: &ScriptedProvider,
        config: Option<&Node<'_>>,
    ) -> Result<Ran, String> {
        self.messages.clear();
        let mut all = Ran::new(Vec::new());
        for turn in 0..input.get("turns")?.usize() {
            self.messages.push(Message::user(format!("q{turn}")));
            self.messages.push(Message::assistant(format!("a{turn}")));
            self.messages = numbered(std::mem::take(&mut self.messages));
            let request = self.request();
            let tokens = hermes_core::compress::request_tokens(&request, self.state.compressed_at);
            if compressor(config).is_due(tokens, UNIX_EPOCH, &self.state) {
                all.errors.extend(self.compress(model, config).await.errors);
            }
        }
        all.after.clone_from(&self.messages);
        all.requests = model.requests();
        Ok(all)
    }

    fn request(&self) -> Request {
        Request::new("scripted", self.messages.clone()).with_system("word".repeat(self.overhead))
    }

    async fn compress(&mut self, model: &ScriptedProvider, config: Option<&Node<'_>>) -> Ran {
        let mut ran = Ran::new(self.messages.clone());
        let task = CompressTask::new(Arc::new(model.clone()), self.request(), UNIX_EPOCH);
        match compressor(config).compress(&task, &mut self.state).await {
            Ok(done) => self.messages = done.messages,
            Err(err) => ran.errors.push(err),
        }
        ran.after.clone_from(&self.messages);
        ran.requests = model.requests();
        ran
    }
}

impl Ran {
    fn new(before: Vec<Message>) -> Self {
        let (after, errors, requests) = (before.clone(), Vec::new(), Vec::new());
        Self { before, after, errors, requests, is_persisted: false }
    }
}

fn compressor(config: Option<&Node<'_>>) -> Summariser {
    let number = |key: &str| config.and_then(|it| it.opt(key)).map(|it| it.usize());
    let threshold = number("threshold_tokens").unwrap_or(1);
    let compressor = Summariser::new(u64::try_from(threshold).unwrap())
        .head_messages(number("protect_first").unwrap_or(3))
        .tail_messages(number("protect_last").unwrap_or(4))
        .tail_tokens(0);
    match number("tool_args_max_chars") {
        Some(chars) => compressor.argument_chars(chars),
        None => compressor,
    }
}

/// Returns twelve questions and answers of 200 characters.
fn pairs() -> Vec<Message> {
    let text = |what: &str, at: usize| format!("{:x<200}", format!("{what} {at} "));
    let pair = |at| [Message::user(text("question", at)), Message::assistant(text("answer", at))];
    (0..12).flat_map(pair).collect()
}

fn numbered(messages: Vec<Message>) -> Vec<Message> {
    messages.into_iter().zip(1..).map(|(it, id)| it.with_id(MessageId(id))).collect()
}

/// Makes summaries of ours of the messages that stand for them.
fn with_summaries(messages: Vec<Message>) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::new();
    let mut held: Option<String> = None;
    for message in messages {
        let text = message.text();
        if let Some(body) = text.strip_prefix("@@PREVIOUS_SUMMARY:") {
            held = Some(body.to_owned());
            continue;
        }
        match held.take() {
            Some(body) if message.role == Role::User => {
                out.push(summary_message(&body, message.parts.clone()));
                continue;
            }
            Some(body) => out.push(summary_message(&body, Vec::new())),
            None => {}
        }
        out.push(message);
    }
    out.extend(held.map(|body| summary_message(&body, Vec::new())));
    out
}

async fn check(expect: &Node<'_>, ran: &Ran, checks: &mut Checks) -> Result<(), String> {
    let flag = |key: &str| expect.opt(key).map(|it| it.bool());
    let is_same = ran.before == ran.after;
    let errors = || ran.errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    if let Some(expected) = flag("compressed") {
        checks.that((!is_same && ran.errors.is_empty()) == expected, errors());
    }
    if let Some(expected) = flag("messages_unchanged") {
        checks.that(is_same == expected, "the messages differ");
    }
    if let Some(expected) = flag("aborted") {
        checks.that((is_same && !ran.errors.is_empty()) == expected, "not given up");
    }
    if let Some(expected) = flag("error_reported") {
        let names = |err: &CompressError| matches!(err, CompressError::Provider(err) if !err.to_string().is_empty());
        checks.that(ran.errors.iter().any(names) == expected, errors());
    }
    if let Some(expected) = flag("exhausted_reported") {
        let is_exhausted = |it: &&CompressError| matches!(it, CompressError::Exhausted);
        let count = ran.errors.iter().filter(is_exhausted).count();
        checks.that((count == 1) == expected, format!("exhausted {count} times"));
    }
    if let Some(most) = expect.opt("compress_calls_max") {
        let count = ran.requests.len();
        checks.that(count <= most.usize(), format!("{count} calls"));
    }
    if let Some(expected) = flag("no_private_keys_in_output") {
        let holds = has_documented_keys(ran) && is_stored(ran).await?;
        checks.that(holds == expected, "private keys, or messages that are not stored");
    }
    check_texts(expect, ran, checks);
    for invariant in expect.opt("invariants").iter().flat_map(Node::strings) {
        checks.that(holds(invariant, &ran.after)?, invariant);
    }
    Ok(())
}

fn check_texts(expect: &Node<'_>, ran: &Ran, checks: &mut Checks) {
    let all = serde_json::to_string(&ran.after).unwrap();
    let seen = ran.requests.iter().flat_map(|it| it.messages.iter()).map(|it| it.text());
    let seen: String = seen.collect();
    for marker in
        expect.opt("each_marker_kept_or_in_summarizer_input").iter().flat_map(Node::strings)
    {
        checks.that(all.contains(marker) || seen.contains(marker), format!("{marker} is lost"));
    }
    if let Some(unwanted) = expect.opt("not_contains_text") {
        let unwanted = unwanted.opt_str().map_or_else(|| unwanted.strings(), |it| vec![it]);
        checks.that(!unwanted.iter().any(|it| all.contains(it)), "unwanted text");
    }
    let is_like = |message: &Message, node: &Node<'_>| {
        let [role, content] = ["role", "content"].map(|it| node.opt(it).map_or("", |it| it.str()));
        json!(message.role) == json!(role) && message.text() == content
    };
    if let Some(wanted) = expect.opt("contains_message") {
        checks.that(ran.after.iter().any(|it| is_like(it, &wanted)), "the message is not there");
    }
    if let Some(wanted) = expect.opt("last_message") {
        checks.that(ran.after.last().is_some_and(|it| is_like(it, &wanted)), "another one is last");
    }
    if let Some(expected) = expect.opt("summary_not_last") {
        let is_last = ran.after.last().is_some_and(|it| it.is_summary && it.text().is_empty());
        checks.that(is_last != expected.bool(), "the summary is last");
    }
    let summaries = || ran.after.iter().filter(|it| it.is_summary);
    if let Some(expected) = expect.opt("summary_message_count") {
        let count = summaries().count();
        checks.that(count == expected.usize(), format!("{count} summaries"));
    }
    if let Some(expected) = expect.opt("summary_marked_reference_only") {
        let is_marked = |it: &Message| {
            let text = serde_json::to_string(it).unwrap();
            text.contains("for reference only") && text.contains("not a request")
        };
        let holds = summaries().next().is_some() && summaries().all(is_marked);
        checks.that(holds == expected.bool(), "the summary reads like a request");
    }
    if let Some(expected) = expect.opt("every_tool_arguments_parses_as_object") {
        let mut calls = ran.after.iter().flat_map(|it| it.calls());
        let holds = calls.all(|call| call.arguments.parse().is_ok_and(Value::is_object));
        checks.that(holds == expected.bool(), "arguments are no object");
    }
}

fn has_documented_keys(ran: &Ran) -> bool {
    let known = ["id", "role", "parts", "stop", "usage", "is_summary"];
    let values = ran.after.iter().map(|it| serde_json::to_value(it).unwrap());
    let mut keys = values.flat_map(|it| it.as_object().cloned().unwrap_or_default());
    keys.all(|(key, _)| known.contains(&key.as_str()))
}

/// Returns whether a store gives back every message that came of it.
async fn is_stored(ran: &Ran) -> Result<bool, String> {
    let (store, id) = (InMemorySessions::default(), SessionId::new("case"));
    let state = SessionState::default();
    let mut expected = 0;
    if ran.is_persisted {
        expected = ran.before.len();
        store.append(&id, 0, &ran.before, &state).await.map_err(|err| err.to_string())?;
    }
    store.compact(&id, expected, &ran.after, &state).await.map_err(|err| err.to_string())?;
    let loaded = store.load(&id).await.map_err(|err| err.to_string())?;
    Ok(loaded.is_some_and(|it| it.messages == ran.after))
}

fn holds(invariant: &str, messages: &[Message]) -> Result<bool, String> {
    let calls = || messages.iter().flat_map(|it| it.calls()).map(|it| &it.id);
    let results = || messages.iter().flat_map(|it| it.call_results()).map(|it| &it.call);
    let pairs = || messages.iter().zip(messages.iter().skip(1));
    Ok(match invariant {
        "no_orphan_tool_results" => {
            let known: HashSet<_> = calls().collect();
            results().all(|it| known.contains(it))
        }
        "no_unanswered_tool_calls" => {
            let known: HashSet<_> = results().collect();
            calls().all(|it| known.contains(it))
        }
        "tool_results_directly_after_call" => {
            let is_first = messages.first().is_some_and(|it| it.role == Role::Tool);
            let follows = |(before, after): (&Message, &Message)| {
                let known: HashSet<_> = before.calls().map(|it| &it.id).collect();
                after.call_results().all(|it| known.contains(&it.call))
            };
            !is_first && pairs().all(follows)
        }
        "no_adjacent_same_role_user_or_assistant" => {
            pairs().all(|(before, after)| before.role != after.role || before.role == Role::Tool)
        }
        "has_user_message" => {
            messages.iter().any(|it| it.role == Role::User && !it.text().trim().is_empty())
        }
        other => return Err(format!("unknown invariant {other}")),
    })
}

//! The area `review`: the background review on a scripted model.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use hermes_core::{
    Agent, Session, async_trait,
    message::{CallResult, CallStatus, History, Message},
    provider::{EventStream, Provider, ProviderError, ProviderErrorKind, Request},
    review::{ReviewOutcome, ReviewReport, ReviewScope, ReviewTask},
    store::{SessionId, SessionState, StoredSession},
    testing::ScriptedProvider,
    tool::{self, Tool, ToolOutput},
};
use hermes_memory::{FileMemory, Memory};
use hermes_providers::openai;
use hermes_review::{BackgroundReview, Intervals, NudgePolicy};
use hermes_skills::{FsSkills, Skills};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    check::{Checks, contains_any},
    home::Home,
    model::{anything, reply},
    read::Node,
    session_search::Database,
};

/// Runs one case; once per way in which the model fails, where the case names several.
pub(crate) async fn run(case: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
    let input = case.get("input")?;
    let faults = input.opt("model_errors").map(|it| it.strings());
    match faults {
        None => one(case, None, checks).await,
        Some(faults) => {
            for fault in faults {
                one(case, Some(fault), checks).await?;
            }
            Ok(())
        }
    }
}

async fn one(case: &Node<'_>, fault: Option<&str>, checks: &mut Checks) -> Result<(), String> {
    let (setup, input, expect) = (case.get("setup")?, case.get("input")?, case.get("expect")?);
    let home = Home::set_up(Some(&setup));
    let mut play = Play::open(&setup, &input, &home, fault).await?;
    let before = play.observe();
    let rows_before = play.rows();
    play.run(&setup, &input).await?;
    let rows_after = play.rows();
    home.check(&expect, checks);
    play.check_review(&expect, checks);
    play.check_requests(&expect, checks);
    if let Some(unchanged) = expect.opt("parent_history_unchanged") {
        let holds = (before == play.observe()) == unchanged.bool();
        checks.that(holds, "the parent's history has changed");
    }
    if let Some(added) = expect.opt("session_db_rows_added") {
        let count = rows_after.iter().sum::<usize>() - rows_before.iter().sum::<usize>();
        checks.that(count == added.usize(), format!("{count} rows were added"));
    }
    if let Some(created) = expect.opt("child_sessions_created") {
        let count = rows_after.first().copied().unwrap_or_default().saturating_sub(1);
        checks.that(count == created.usize(), format!("{count} sessions were created"));
    }
    if let Some(count) = expect.opt("compressions") {
        // What loads is what was stored, message for message, unless something was compressed.
        let stored = play.stored_messages().await;
        let compressed = usize::from(stored.is_some_and(|it| it != play.session.history().len()));
        checks.that(compressed == count.usize(), "the conversation was compressed");
    }
    play.check_afterwards(&expect, checks).await;
    Ok(())
}

struct Play {
    agent: Agent,
    session: Session,
    model: Split,
    database: Option<Database>,
    report: Option<Arc<ReviewReport>>,
    parent_request: Option<Request>,
    parent_turn: Option<Result<String, String>>,
    reviews_started: usize,
}

/// One endpoint with two scripts: what a review asks is answered from its own.
#[derive(Clone, Debug)]
struct Split {
    parent: ScriptedProvider,
    review: ScriptedProvider,
    panics: bool,
    running: Arc<AtomicUsize>,
    most_running: Arc<AtomicUsize>,
}

#[async_trait]
impl Provider for Split {
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let prompt = hermes_review::review_prompt(ReviewScope::Both, &[]);
        let opening = prompt.split('.').next().unwrap_or_default();
        let is_review = request.messages.iter().any(|it| it.text().starts_with(opening));
        if !is_review {
            return self.parent.stream(request, token).await;
        }
        assert!(!self.panics, "as the case asks");
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_running.fetch_max(running, Ordering::SeqCst);
        let answer = self.review.stream(request, token).await;
        self.running.fetch_sub(1, Ordering::SeqCst);
        answer
    }
}

impl Play {
    async fn open(
        setup: &Node<'_>,
        input: &Node<'_>,
        home: &Home,
        fault: Option<&str>,
    ) -> Result<Self, String> {
        let default = input.opt("model_script_default").map(|it| it.str());
        let default = default.map_or("done", |it| it.trim_start_matches("text:")).to_owned();
        let model = Split {
            parent: ScriptedProvider::new().otherwise(default.clone()),
            review: review_model(input, &default, fault),
            panics: fault == Some("panic"),
            running: Arc::default(),
            most_running: Arc::default(),
        };
        let builder = Agent::builder(model.clone()).model("scripted");
        let mut builder = with_tools(builder, setup, home);
        let has_database = setup.opt("session_db").is_some_and(|it| it.bool());
        let database = if has_database { Some(Database::open(home.path()).await?) } else { None };
        if let Some(database) = &database {
            builder = builder.sessions(database.store());
        }
        builder = builder.review(NudgePolicy::new(intervals(setup)));
        let agent = builder.build().map_err(|err| err.to_string())?;
        let session = start(&agent, setup, database.as_ref()).await?;
        Ok(Self {
            agent,
            session,
            model,
            database,
            report: None,
            parent_request: None,
            parent_turn: None,
            reviews_started: 0,
        })
    }

    fn observe(&self) -> String {
        serde_json::to_string(&*self.session.history()).unwrap()
    }

    fn rows(&self) -> [usize; 2] {
        match &self.database {
            Some(database) => database.rows(),
            None => [0, 0],
        }
    }

    async fn stored_messages(&self) -> Option<usize> {
        self.database.as_ref()?.messages_of(self.session.id()).await
    }

    async fn run(&mut self, setup: &Node<'_>, input: &Node<'_>) -> Result<(), String> {
        let blocking = input.opt("model_script_blocking").is_some_and(|it| it.bool());
        if setup.opt("parent_request_capture").is_some_and(|it| it.bool()) {
            self.turn("first").await?;
            self.parent_request = self.model.parent.last_request();
        }
        for number in 0..input.opt("user_turns").map_or(0, |it| it.usize()) {
            self.turn(&format!("u{number}")).await?;
        }
        let Some(wanted) = input.opt("run_review") else { return Ok(()) };
        // How much of the report a host shows is up to the host.
        wanted.opt("notification");
        let has = |key: &str| wanted.opt(key).is_some_and(|it| it.bool());
        let scope = ReviewScope::join(
            has("memory").then_some(ReviewScope::Memory),
            has("skills").then_some(ReviewScope::Skills),
        );
        let scope = scope.ok_or("a review of nothing")?;
        let task = ReviewTask::new(scope, Arc::new(BackgroundReview::new()));
        let handle = self.session.review(task).await.map_err(|err| err.describe())?;
        self.reviews_started += 1;
        if blocking {
            while self.model.running.load(Ordering::SeqCst) == 0 {
                tokio::task::yield_now().await;
            }
            for number in 0..input.opt("user_turns_while_review_blocked").map_or(0, |it| it.usize())
            {
                let sent = self.session.send(format!("meanwhile {number}")).await;
                let sent = sent.map_err(|err| err.describe())?;
                self.reviews_started += usize::from(sent.review.is_some());
            }
            handle.cancel();
        }
        self.report = handle.await;
        Ok(())
    }

    /// One user turn, and the review it may start, to its end.
    async fn turn(&mut self, text: &str) -> Result<(), String> {
        match self.session.send(text).await {
            Ok(turn) => {
                self.parent_turn = Some(Ok(turn.text.clone()));
                if let Some(review) = turn.review {
                    self.reviews_started += 1;
                    self.report = review.await;
                }
            }
            Err(err) => self.parent_turn = Some(Err(err.describe())),
        }
        Ok(())
    }

    fn check_review(&self, expect: &Node<'_>, checks: &mut Checks) {
        let report = self.report.as_deref();
        let outcome = report.map(|it| &it.outcome);
        if let Some(completed) = expect.opt("review_completed") {
            let failed =
                matches!(outcome, None | Some(ReviewOutcome::Failed(_) | ReviewOutcome::Cancelled));
            checks.that(failed != completed.bool(), format!("the review's outcome is {outcome:?}"));
        }
        if let Some(reported) = expect.opt("review_error_reported") {
            let says = matches!(outcome, Some(ReviewOutcome::Failed(reason)) if !reason.is_empty());
            checks.that(says == reported.bool(), format!("the review's outcome is {outcome:?}"));
        }
        let lines = report.map(ReviewReport::lines).unwrap_or_default();
        if let Some(expected) = expect.opt("summary_lines") {
            checks.that(lines == expected.strings(), format!("lines are {lines:?}"));
        }
        for part in expect.opt("summary_contains").iter().flat_map(Node::strings) {
            checks.that(lines.join("\n").contains(part), format!("lines are {lines:?}"));
        }
        if let Some(count) = expect.opt("reviews_started") {
            let actual = self.reviews_started;
            checks.that(actual == count.usize(), format!("{actual} reviews were started"));
        }
        if let Some(most) = expect.opt("max_concurrent_reviews") {
            let actual = self.model.most_running.load(Ordering::SeqCst);
            checks.that(actual <= most.usize(), format!("{actual} reviews at once"));
        }
        let results = self.results();
        for (call, success) in expect.opt("tool_results_success").iter().flat_map(Node::entries) {
            let result = results.get(call);
            let actual = result.map(is_success);
            checks.that(actual == Some(success.bool()), format!("result of {call}: {result:?}"));
        }
        for (call, words) in expect.opt("tool_result").iter().flat_map(Node::entries) {
            let words = words.opt("contains_any").map(|it| it.strings()).unwrap_or_default();
            let result = results.get(call);
            let holds = result.is_some_and(|it| contains_any(&it.content, &words));
            checks.that(holds, format!("result of {call}: {result:?}"));
        }
    }

    /// Returns the results that the review's model was shown, by call.
    fn results(&self) -> HashMap<String, CallResult> {
        let requests = self.model.review.requests();
        let results =
            requests.iter().flat_map(|it| it.messages.iter()).flat_map(|it| it.call_results());
        results.map(|it| (it.call.to_string(), it.clone())).collect()
    }

    fn check_requests(&self, expect: &Node<'_>, checks: &mut Checks) {
        let requests = self.model.review.requests();
        if let Some(most) = expect.opt("model_requests_max") {
            let count = requests.len();
            checks.that(0 < count && count <= most.usize(), format!("{count} requests"));
        }
        let Some(same) = expect.opt("review_request") else { return };
        let pair = self.parent_request.as_ref().zip(requests.first());
        checks.that(pair.is_some(), "there is no request to compare with");
        let Some((parent, review)) = pair else { return };
        if let Some(equal) = same.opt("system_equals_parent") {
            checks.that(
                (parent.system == review.system) == equal.bool(),
                "the system prompt differs",
            );
        }
        if let Some(equal) = same.opt("tools_equal_parent") {
            checks.that((parent.tools == review.tools) == equal.bool(), "the tools differ");
        }
        if let Some(equal) = same.opt("messages_prefix_equals_parent") {
            let holds = review.messages.starts_with(&parent.messages);
            checks.that(holds == equal.bool(), "the messages differ");
        }
    }

    /// Checks what is asked of the conversation once the review is over.
    async fn check_afterwards(&mut self, expect: &Node<'_>, checks: &mut Checks) {
        if let Some(expected) = expect.opt("parent_reply") {
            let holds = matches!(&self.parent_turn, Some(Ok(text)) if text == expected.str());
            checks.that(holds, format!("the parent's turn is {:?}", self.parent_turn));
        }
        if let Some(ok) = expect.opt("parent_turn_ok") {
            let actual = matches!(&self.parent_turn, Some(Ok(_)));
            checks
                .that(actual == ok.bool(), format!("the parent's turn is {:?}", self.parent_turn));
        }
        if let Some(words) = expect.opt("next_parent_request_not_contains") {
            let sent = self.session.send("next").await;
            checks.that(sent.is_ok(), format!("{sent:?}"));
            let request = self.model.parent.last_request().unwrap();
            let body = openai::OpenAiChat::builder("http://127.0.0.1:1/v1").build().unwrap();
            let body = String::from_utf8_lossy(&body.build_body(&request)).into_owned();
            for word in words.strings() {
                checks.that(!has_word(&body, word), format!("the request has {word:?}"));
            }
        }
        if let Some(ended) = expect.opt("parent_session_ended") {
            let sent = self.session.send("still there?").await;
            checks.that(sent.is_err() == ended.bool(), format!("{sent:?}"));
        }
        self.agent.settled().await;
    }
}

/// Whether `body` has `word` as more than a part of another word.
fn has_word(body: &str, word: &str) -> bool {
    let is_word = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    body.match_indices(word).any(|(at, _)| {
        let before = body.get(..at).and_then(|it| it.chars().next_back());
        let after = body.get(at + word.len()..).and_then(|it| it.chars().next());
        !is_word(before) && !is_word(after)
    })
}

fn is_success(result: &CallResult) -> bool {
    let value: Value = serde_json::from_str(&result.content).unwrap_or_default();
    let says_so = value.get("success").and_then(Value::as_bool);
    result.status == CallStatus::Done && says_so != Some(false)
}

fn intervals(setup: &Node<'_>) -> Intervals {
    let config = setup.opt("config");
    let interval = |key: &str| {
        let interval = config.as_ref().and_then(|it| it.opt(key)).map_or(0, |it| it.usize());
        u32::try_from(interval).unwrap()
    };
    // There is no compression yet that a threshold could start; the case asks that there be none.
    config.as_ref().and_then(|it| it.opt("compress_threshold_tokens"));
    Intervals::new(interval("memory_interval"), interval("skill_interval"))
}

/// Adds the tools of the parent: memory and skills on the home, or what replaces them, and `terminal`.
fn with_tools(
    mut builder: hermes_core::agent::AgentBuilder,
    setup: &Node<'_>,
    home: &Home,
) -> hermes_core::agent::AgentBuilder {
    let overrides = setup.opt("tool_overrides");
    let texts = |tool: &str| -> Option<Vec<String>> {
        let texts = overrides.as_ref()?.opt(tool)?;
        Some(texts.strings().into_iter().map(str::to_owned).collect())
    };
    let config = setup.opt("config");
    let is_on = |key: &str| config.as_ref().and_then(|it| it.opt(key)).is_none_or(|it| it.bool());
    let memory = Memory::new(FileMemory::new(home.path()))
        .memory_enabled(is_on("memory_enabled"))
        .user_profile_enabled(is_on("user_profile_enabled"));
    builder = match texts("memory") {
        Some(texts) => builder.tool(scripted("memory", texts)),
        None => builder.memory(memory),
    };
    builder = match texts("skill_manage") {
        Some(texts) => builder.tool(scripted("skill_manage", texts)),
        None => builder.skills(Skills::new(FsSkills::new(home.path()))),
    };
    builder.tool(anything("terminal"))
}

/// Returns a tool that answers with `texts`, in order.
fn scripted(name: &'static str, texts: Vec<String>) -> impl Tool {
    let texts = Mutex::new(texts.into_iter());
    tool::from_fn(name, "Answers as told.", move |_: Value, _| {
        let text = texts.lock().unwrap().next().unwrap_or_default();
        async move { Ok(ToolOutput::done(text)) }
    })
}

fn review_model(input: &Node<'_>, default: &str, fault: Option<&str>) -> ScriptedProvider {
    let mut model = ScriptedProvider::new().otherwise(default);
    if input.opt("model_script_blocking").is_some_and(|it| it.bool()) {
        model = model.hang();
    }
    for (number, node) in input.opt("model_script").iter().flat_map(Node::items).enumerate() {
        model = model.reply(reply(&node, number));
    }
    if let Some(node) = input.opt("model_script_repeat") {
        // More than any limit of requests.
        let replies: Vec<Message> = (0..200).map(|number| reply(&node, number)).collect();
        model = replies.into_iter().fold(model, ScriptedProvider::reply);
    }
    match fault {
        Some("http_500") => {
            let error =
                ProviderError::new(ProviderErrorKind::ServerError, "the endpoint answered 500");
            model.fail(error.with_status(500))
        }
        Some("timeout") => {
            model.fail(ProviderError::new(ProviderErrorKind::Timeout, "no answer within 60 s"))
        }
        _ => model,
    }
}

/// Starts the parent's conversation on the history of the case.
async fn start(
    agent: &Agent,
    setup: &Node<'_>,
    database: Option<&Database>,
) -> Result<Session, String> {
    let history = history(setup);
    let id = SessionId::new("parent");
    let Some(database) = database else {
        let stored = StoredSession::new(history.to_vec(), SessionState::default());
        return Ok(agent.adopt(id, stored));
    };
    database.append(&id, &history).await?;
    let session = agent.resume(&id).await.map_err(|err| err.to_string())?;
    session.ok_or_else(|| "the session is not in the store".to_owned())
}

fn history(setup: &Node<'_>) -> History {
    let mut messages = Vec::new();
    if let Some(history) = setup.opt("parent_history") {
        let values: Vec<Value> = history.items().iter().map(|it| it.whole().clone()).collect();
        messages = openai::import(&values).messages;
    }
    if let Some(generate) = setup.opt("parent_history_generate") {
        let turns = generate.opt("turns").map_or(0, |it| it.usize());
        let text = "x".repeat(generate.opt("chars_each").map_or(0, |it| it.usize()));
        for _ in 0..turns {
            messages.push(Message::user(text.as_str()));
            messages.push(Message::assistant(text.as_str()));
        }
    }
    let number = |at| u64::try_from(at).unwrap_or_default() + 1;
    let with_ids = messages
        .into_iter()
        .enumerate()
        .map(|(at, message)| message.with_id(hermes_core::message::MessageId(number(at))));
    Arc::new(with_ids.collect())
}

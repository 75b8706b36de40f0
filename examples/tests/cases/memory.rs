//! The area `memory`: the `memory` tool and its files, step by step.

use std::{collections::HashMap, sync::Arc};

use hermes_core::{
    Agent,
    memory::{MemoryBackend, Target},
    message::{CallId, CallStatus},
    store::SessionId,
    testing::ScriptedProvider,
    tool::{ToolContext, TurnScope},
};
use hermes_memory::{FileMemory, Memory};
use serde_json::Value;

use crate::{
    check::{Checks, contains_any},
    home::Home,
    model,
    read::Node,
};

/// Runs one case.
pub(crate) async fn run(case: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
    let setup = case.opt("setup");
    let mut home = Home::set_up(setup.as_ref());
    let backend = model::memory(home.path(), setup.as_ref());
    let mut play = Play::open(backend).await;
    for (number, step) in case.get("input")?.get("steps")?.items().iter().enumerate() {
        play.step(number, step, &home).await?;
        home.remember(number);
    }
    let run = Run { play, home };
    let end = run.play.entries().await;
    let expect = case.get("expect")?;
    run.check(&expect, &end, checks)?;
    let mut broken = Ok(());
    checks.any_of(&expect, |alternative, checks| {
        if let Err(reason) = run.check(alternative, &end, checks) {
            broken = Err(reason);
        }
    });
    broken
}

struct Run {
    play: Play,
    home: Home,
}

/// The store as it is used, and what came of each step.
pub(crate) struct Play {
    backend: FileMemory,
    agent: Agent,
    turn: u64,
    snapshot: String,
    snapshots: HashMap<String, String>,
    warnings: Vec<String>,
    entries_at_load: Option<Result<Vec<String>, String>>,
    steps: Vec<Option<Outcome>>,
}

/// The result of a step that is a tool call.
pub(crate) struct Outcome {
    pub(crate) is_success: bool,
    pub(crate) is_terminal: bool,
    pub(crate) text: String,
}

impl Play {
    pub(crate) async fn open(backend: FileMemory) -> Self {
        let mut play = Self {
            agent: agent(&backend),
            backend,
            turn: 1,
            snapshot: String::new(),
            snapshots: HashMap::new(),
            warnings: Vec::new(),
            entries_at_load: None,
            steps: Vec::new(),
        };
        play.load().await;
        play.entries_at_load = None;
        play
    }

    /// Opens the store again and freezes its block, as a new conversation does.
    async fn load(&mut self) {
        self.agent = agent(&self.backend);
        let prompt = self.agent.system_prompt().await;
        self.snapshot = prompt.text;
        self.warnings = prompt.warnings;
        let entries = self.entries().await;
        self.entries_at_load.get_or_insert(entries);
    }

    async fn entries(&self) -> Result<Vec<String>, String> {
        let read = self.backend.read(Target::Memory).await;
        read.map(|it| it.value.entries).map_err(|err| err.to_string())
    }

    async fn step(&mut self, number: usize, step: &Node<'_>, home: &Home) -> Result<(), String> {
        let mut outcome = None;
        match step.get("do")?.str() {
            "load" | "reload" | "new_session" => self.load().await,
            "turn_start" => self.turn += 1,
            "snapshot" => {
                if let Some(name) = step.opt("save") {
                    self.snapshots.insert(name.str().to_owned(), self.snapshot.clone());
                }
            }
            "external_write" => external_write(step, home)?,
            "external_delete" => home.external_delete(step.get("path")?.str()),
            "memory" => outcome = Some(call(&self.agent, &arguments(step), self.turn).await),
            "parallel_stores" => self.parallel(step, home).await?,
            other => return Err(format!("unknown step {number}: {other}")),
        }
        self.steps.push(outcome);
        Ok(())
    }

    async fn parallel(&self, step: &Node<'_>, home: &Home) -> Result<(), String> {
        let count = step.get("count")?.usize();
        let each: Vec<Value> =
            step.get("each")?.items().iter().map(|it| it.whole().clone()).collect();
        let mut running = Vec::new();
        for number in 0..count {
            let backend = FileMemory::new(home.path());
            let each = each.clone();
            running.push(tokio::task::spawn_blocking(move || one_store(&backend, &each, number)));
        }
        for task in running {
            task.await.map_err(|err| err.to_string())?;
        }
        Ok(())
    }
}

/// Runs the steps of one of several stores, on a runtime of its own.
fn one_store(backend: &FileMemory, steps: &[Value], number: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let agent = agent(backend);
    for step in steps {
        let text = step.get("args").unwrap_or(&Value::Null).to_string();
        let text = text.replace("{i}", &number.to_string());
        let arguments: Value = serde_json::from_str(&text).unwrap();
        runtime.block_on(call(&agent, &arguments, 1));
    }
}

fn agent(backend: &FileMemory) -> Agent {
    Agent::builder(ScriptedProvider::new())
        .model("scripted")
        .memory(Memory::new(backend.clone()))
        .build()
        .unwrap()
}

/// Writes what a step describes behind the store's back: `content`, or `content_repeat`.
pub(crate) fn external_write(step: &Node<'_>, home: &Home) -> Result<(), String> {
    let content =
        crate::read::text(step, "content").unwrap_or_else(|| repeated(step).unwrap_or_default());
    home.external_write(step.get("path")?.str(), content.as_bytes());
    Ok(())
}

/// Returns the arguments of a step, with what `content_repeat` and `content_generate` stand for.
fn arguments(step: &Node<'_>) -> Value {
    let mut arguments = step.opt("args").map(|it| it.whole().clone()).unwrap_or_default();
    let content = repeated(step)
        .or_else(|| step.opt("content_generate").map(|it| crate::read::generated(&it)));
    let inner = arguments.get("content_repeat").cloned();
    let inner = inner.and_then(|it| {
        let count = usize::try_from(it.get(1)?.as_u64()?).ok()?;
        Some(it.get(0)?.as_str()?.repeat(count))
    });
    if let (Some(object), Some(content)) = (arguments.as_object_mut(), content.or(inner)) {
        object.remove("content_repeat");
        object.insert("content".to_owned(), Value::from(content));
    }
    arguments
}

fn repeated(step: &Node<'_>) -> Option<String> {
    let repeat = step.opt("content_repeat")?.items();
    Some(repeat.first()?.str().repeat(repeat.get(1)?.usize()))
}

/// Calls the `memory` tool as a conversation does in its turn `turn`.
pub(crate) async fn call(agent: &Agent, arguments: &Value, turn: u64) -> Outcome {
    let mut scope = TurnScope::new(SessionId::new("case"));
    scope.turn = turn;
    let context = ToolContext::new(Arc::new(scope), CallId::new("call"));
    let output = agent.tools().call("memory", arguments.clone(), &context).await;
    let (status, text) = match output {
        Ok(output) => (output.status, output.content),
        Err(err) => (CallStatus::Failed, err.to_string()),
    };
    let result: Value = serde_json::from_str(&text).unwrap_or_default();
    let says_so = result.get("success").and_then(Value::as_bool);
    let is_success = status == CallStatus::Done && says_so != Some(false);
    let is_done = result.get("done") == Some(&Value::Bool(true));
    Outcome { is_success, is_terminal: is_done && !is_success, text }
}

impl Run {
    fn check(
        &self,
        expect: &Node<'_>,
        end: &Result<Vec<String>, String>,
        checks: &mut Checks,
    ) -> Result<(), String> {
        self.home.check(expect, checks);
        check_steps(&self.play.steps, expect, checks)?;
        for (key, actual) in
            [("entries", Some(end)), ("entries_at_load", self.play.entries_at_load.as_ref())]
        {
            if let Some(expected) = expect.opt(key) {
                let holds = matches!(actual, Some(Ok(actual)) if *actual == expected.strings());
                checks.that(holds, format!("{key}: {actual:?}"));
            }
        }
        if let Some(expected) = expect.opt("entries_unordered") {
            let sorted = |mut all: Vec<String>| {
                all.sort();
                all
            };
            let expected = sorted(expected.strings().into_iter().map(str::to_owned).collect());
            let holds = end.as_ref().is_ok_and(|it| sorted(it.clone()) == expected);
            checks.that(holds, format!("entries are {end:?}"));
        }
        self.check_snapshots(expect, checks);
        if let Some(reported) = expect.opt("load_error_reported") {
            let names_file = |text: &String| text.contains("MEMORY.md") || text.contains("USER.md");
            let is_reported =
                self.play.warnings.iter().any(names_file) || end.as_ref().is_err_and(names_file);
            checks.that(
                is_reported == reported.bool(),
                format!("warnings are {:?}", self.play.warnings),
            );
        }
        Ok(())
    }

    fn check_snapshots(&self, expect: &Node<'_>, checks: &mut Checks) {
        let snapshot = &self.play.snapshot;
        for part in expect.opt("snapshot_contains").iter().flat_map(Node::strings) {
            checks.that(snapshot.contains(part), format!("the snapshot lacks {part:?}"));
        }
        for part in expect.opt("snapshot_not_contains").iter().flat_map(Node::strings) {
            checks.that(!snapshot.contains(part), format!("the snapshot has {part:?}"));
        }
        for (name, parts) in expect.opt("snapshots").iter().flat_map(Node::entries) {
            let snapshot = self.play.snapshots.get(name);
            check_text(name, snapshot, &parts, checks);
        }
    }
}

/// Checks `contains` and `not_contains` on a named text.
pub(crate) fn check_text(name: &str, text: Option<&String>, parts: &Node<'_>, checks: &mut Checks) {
    checks.that(text.is_some(), format!("there is no {name}"));
    let Some(text) = text else { return };
    for part in parts.opt("contains").iter().flat_map(Node::strings) {
        checks.that(text.contains(part), format!("{name} lacks {part:?}"));
    }
    for part in parts.opt("not_contains").iter().flat_map(Node::strings) {
        checks.that(!text.contains(part), format!("{name} has {part:?}"));
    }
}

/// Checks what is expected of single steps and of all. A step without an outcome is no tool call.
pub(crate) fn check_steps(
    steps: &[Option<Outcome>],
    expect: &Node<'_>,
    checks: &mut Checks,
) -> Result<(), String> {
    let counting: Vec<&Outcome> = steps.iter().flatten().collect();
    let failing = || counting.iter().filter(|it| !it.is_success);
    if let Some(expected) = expect.opt("all_steps_success") {
        let holds = counting.iter().all(|it| it.is_success == expected.bool());
        let texts: Vec<&str> = counting.iter().map(|it| it.text.as_str()).collect();
        checks.that(holds && !counting.is_empty(), format!("results are {texts:?}"));
    }
    if let Some(from) = expect.opt("all_steps_success_from") {
        let (start, expected) = (from.get("from")?.usize(), from.get("success")?.bool());
        let mut later = steps.iter().skip(start).flatten();
        checks.that(later.all(|it| it.is_success == expected), format!("from step {start}"));
    }
    for part in expect.opt("result_not_contains").iter().flat_map(Node::strings) {
        let holds = counting.iter().all(|it| !it.text.contains(part));
        checks.that(holds, format!("a result has {part:?}"));
    }
    if let Some(words) = expect.opt("error_contains_any_each") {
        let holds = failing().all(|it| contains_any(&it.text, &words.strings()));
        let texts: Vec<&str> = failing().map(|it| it.text.as_str()).collect();
        checks.that(holds && !texts.is_empty(), format!("errors are {texts:?}"));
    }
    if let Some(step) = expect.opt("step") {
        return check_step(steps, step.usize(), expect, checks);
    }
    for step in expect.opt("steps").map(|it| it.items()).unwrap_or_default() {
        check_step(steps, step.get("step")?.usize(), &step, checks)?;
    }
    check_speaking(&counting, expect, checks);
    Ok(())
}

/// Checks keys that, without a step, speak of the failing step if there is one call, else of every
/// failing one.
fn check_speaking(counting: &[&Outcome], expect: &Node<'_>, checks: &mut Checks) {
    if let Some(success) = expect.opt("success") {
        let holds = counting.last().is_some_and(|it| it.is_success == success.bool());
        checks.that(holds, "success of the last step");
    }
    let spoken: Vec<&&Outcome> = if counting.len() == 1 {
        counting.iter().collect()
    } else {
        counting.iter().filter(|it| !it.is_success).collect()
    };
    let texts: Vec<&str> = spoken.iter().map(|it| it.text.as_str()).collect();
    if let Some(words) = expect.opt("error_contains_any") {
        let words = words.strings();
        let holds = spoken.iter().all(|it| !it.is_success && contains_any(&it.text, &words));
        checks.that(holds && !spoken.is_empty(), format!("errors are {texts:?}"));
    }
    if let Some(parts) = expect.opt("result_contains") {
        let has_all = |text: &str| all_of(text, &parts);
        checks.that(
            !texts.is_empty() && texts.iter().all(|it| has_all(it)),
            format!("results are {texts:?}"),
        );
    }
}

fn all_of(text: &str, parts: &Node<'_>) -> bool {
    let parts = parts.opt_str().map_or_else(|| parts.strings(), |one| vec![one]);
    parts.iter().all(|part| text.to_lowercase().contains(&part.to_lowercase()))
}

fn check_step(
    steps: &[Option<Outcome>],
    number: usize,
    expect: &Node<'_>,
    checks: &mut Checks,
) -> Result<(), String> {
    let outcome = steps.get(number).and_then(Option::as_ref);
    let outcome = outcome.ok_or_else(|| format!("step {number} is no tool call"))?;
    let text = &outcome.text;
    if let Some(success) = expect.opt("success") {
        checks.that(outcome.is_success == success.bool(), format!("step {number}: {text}"));
    }
    if let Some(terminal) = expect.opt("terminal") {
        checks.that(outcome.is_terminal == terminal.bool(), format!("step {number}: {text}"));
    }
    if let Some(words) = expect.opt("error_contains_any") {
        let holds = !outcome.is_success && contains_any(text, &words.strings());
        checks.that(holds, format!("step {number}: {text}"));
    }
    if let Some(parts) = expect.opt("result_contains") {
        checks.that(all_of(text, &parts), format!("step {number}: {text}"));
    }
    for part in expect.opt("description_contains").iter().flat_map(Node::strings) {
        checks.that(text.contains(part), format!("step {number} lacks {part:?}"));
    }
    Ok(())
}

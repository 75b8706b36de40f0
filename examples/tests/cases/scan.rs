//! The area `scan`: hostile and harmless texts, through the tools that write them.

use futures::StreamExt;
use hermes_core::{
    Agent,
    agent::AgentEvent,
    context::ContextFiles,
    durable,
    testing::ScriptedProvider,
    threat::{Finding, ScanError, Scanner, Scope},
};
use hermes_memory::{FileMemory, Memory};
use serde_json::json;

use crate::{
    check::{Checks, contains_any},
    home::Home,
    memory,
    read::{Node, text},
    skills_manage::Play,
};

/// Runs one case.
pub(crate) async fn run(case: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
    let home = Home::set_up(case.opt("setup").as_ref());
    let input = case.get("input")?;
    let expect = case.get("expect")?;
    if let Some(steps) = input.opt("steps") {
        return load(&steps, &home, &expect, checks).await;
    }
    if input.get("op")?.str() != "scan" {
        return Err(format!("unknown op {}", input.get("op")?.str()));
    }
    let text = text(&input, "text").ok_or("no text")?;
    let is_faulty = input.opt("scanner_fault").is_some_and(|it| it.str() == "raise");
    let (blocked, said) = match input.get("scope")?.str() {
        "memory" => blocked_as_memory(&home, &text, is_faulty).await,
        "context" => blocked_as_context(&text, is_faulty).await,
        "skill" => blocked_as_skill(&home, &text).await,
        other => return Err(format!("unknown scope {other}")),
    };
    if let Some(expected) = expect.opt("blocked") {
        checks.that(blocked == expected.bool(), format!("blocked is {blocked}: {said}"));
    }
    Ok(())
}

/// A scanner that fails whatever it is given.
#[derive(Debug)]
struct Faulty;

impl Scanner for Faulty {
    fn scan(&self, _: &str, _: Scope) -> Result<Vec<Finding>, ScanError> {
        Err(ScanError::new("the scanner is out of order"))
    }
}

async fn blocked_as_memory(home: &Home, text: &str, is_faulty: bool) -> (bool, String) {
    let mut backend = FileMemory::new(home.path());
    if is_faulty {
        backend = backend.scanner(Faulty);
    }
    let agent = agent(backend);
    let outcome = memory::call(&agent, &json!({"action": "add", "content": text}), 1).await;
    (!outcome.is_success, outcome.text)
}

/// Returns whether the prompt of an agent lacks some of `text`, which a file of its project has.
async fn blocked_as_context(text: &str, is_faulty: bool) -> (bool, String) {
    const MAX_CHARS: usize = 150_000;
    let is_edge = |it: char| it.is_whitespace() || it == '\u{feff}';
    let project = tempfile::tempdir().unwrap();
    durable::replace(&project.path().join("AGENTS.md"), text.as_bytes()).unwrap();
    let mut files = ContextFiles::new(project.path()).max_chars(MAX_CHARS);
    if is_faulty {
        files = files.scanner(Faulty);
    }
    let agent = Agent::builder(ScriptedProvider::new()).model("scripted").with(files);
    let section = agent.build().unwrap().system_prompt().await;
    let is_whole = section.text.contains(text.replace("\r\n", "\n").trim_matches(is_edge));
    (!is_whole, format!("{:?}", section.warnings))
}

async fn blocked_as_skill(home: &Home, text: &str) -> (bool, String) {
    let content = format!("---\nname: scanned\ndescription: does things\n---\n{text}\n");
    let arguments = json!({"action": "create", "name": "scanned", "content": content});
    let outcome = Play::open(home).call("skill_manage", &arguments).await;
    (!outcome.is_success, outcome.text)
}

fn agent(backend: FileMemory) -> Agent {
    Agent::builder(ScriptedProvider::new())
        .model("scripted")
        .memory(Memory::new(backend))
        .build()
        .unwrap()
}

/// Opens the memory and freezes its block, in a conversation whose warnings the host hears.
async fn load(
    steps: &Node<'_>,
    home: &Home,
    expect: &Node<'_>,
    checks: &mut Checks,
) -> Result<(), String> {
    let mut agent = agent(FileMemory::new(home.path()));
    let mut skills = Play::open(home);
    let mut snapshot = String::new();
    let mut warnings: Vec<String> = Vec::new();
    let mut outcomes = Vec::new();
    for step in steps.items() {
        let mut outcome = None;
        let args = || step.opt("args").map(|it| it.whole().clone()).unwrap_or_default();
        match step.get("do")?.str() {
            "load_snapshot" => (snapshot, warnings) = converse(&agent).await?,
            "memory" => outcome = Some(memory::call(&agent, &args(), 1).await),
            tool @ ("skill_manage" | "skill_view") => {
                outcome = Some(skills.call(tool, &args()).await);
            }
            "set_config" => {
                skills.set_config(&step, home)?;
                if step.opt("scanner_fault").is_some() {
                    agent = self::agent(FileMemory::new(home.path()).scanner(Faulty));
                }
            }
            other => return Err(format!("unknown step: {other}")),
        }
        outcomes.push(outcome);
    }
    home.check(expect, checks);
    memory::check_steps(&outcomes, expect, checks)?;
    for part in expect.opt("snapshot_contains").iter().flat_map(Node::strings) {
        checks.that(snapshot.contains(part), format!("the snapshot lacks {part:?}"));
    }
    for part in expect.opt("snapshot_not_contains").iter().flat_map(Node::strings) {
        checks.that(!snapshot.contains(part), format!("the snapshot has {part:?}"));
    }
    if let Some(emitted) = expect.opt("user_warning_emitted") {
        let holds = warnings.is_empty() != emitted.bool();
        checks.that(holds, format!("warnings are {warnings:?}"));
    }
    if let Some(words) = expect.opt("warning_contains_any") {
        let holds = warnings.iter().any(|it| contains_any(it, &words.strings()));
        checks.that(holds, format!("warnings are {warnings:?}"));
    }
    if let Some(count) = expect.opt("warnings_count_on_reload") {
        let (_, warnings) = converse(&agent).await?;
        checks.that(warnings.len() == count.usize(), format!("on reload: {warnings:?}"));
    }
    Ok(())
}

/// Starts a conversation and returns its prompt and the warnings that reach the host.
async fn converse(agent: &Agent) -> Result<(String, Vec<String>), String> {
    let session = agent.session();
    let mut reply = session.send("hello");
    let mut warnings = Vec::new();
    while let Some(event) = reply.next().await {
        if let AgentEvent::Warning(warning) = event {
            warnings.push(warning);
        }
    }
    reply.await.map_err(|err| err.describe())?;
    Ok((session.system_prompt().unwrap_or_default().to_string(), warnings))
}

//! Turns that are cancelled while they write: what is in the files is what was reported.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::{fs, time::Duration};

use futures::StreamExt;
use hermes_core::{
    Agent,
    agent::AgentEvent,
    audit::AuditEvent,
    durable::{self, FileLock},
    memory::Target,
    testing::{RecordingAudit, ScriptedProvider},
};
use hermes_memory::{FileMemory, Memory};
use hermes_skills::{FsSkills, Skills};
use serde_json::{Value, json};
use tempfile::TempDir;

const SKILL: &str = "---\nname: deploy\ndescription: Deploys the shop.\n---\nPush, then apply.\n";

/// Sends a message whose call of `tool` is cancelled as it starts, and returns how many changes were
/// reported and how many writes recorded.
async fn cancelled(home: &TempDir, tool: &str, arguments: Value) -> (usize, usize) {
    let log = RecordingAudit::default();
    let agent = Agent::builder(ScriptedProvider::new().call(tool, arguments))
        .model("scripted")
        .memory(Memory::new(FileMemory::new(home.path())))
        .skills(Skills::new(FsSkills::new(home.path())))
        .audit(log.clone())
        .build()
        .unwrap();
    let session = agent.session();
    let mut reply = session.send("Remember.");
    while let Some(event) = reply.next().await {
        if let AgentEvent::CallStarted(_) = event {
            session.cancel();
        }
    }
    let turn = reply.await.unwrap();
    agent.shutdown().await;
    let writes = log.events().into_iter().filter(|it| matches!(it, AuditEvent::Write { .. }));
    (turn.changes.len(), writes.count())
}

#[tokio::test]
async fn a_fact_that_was_written_is_reported_and_one_that_was_not_is_not() {
    for round in 0..20 {
        let home = tempfile::tempdir().unwrap();

        let fact = json!({"action": "add", "content": format!("Fact {round}.")});
        let (changes, writes) = cancelled(&home, "memory", fact).await;

        let is_there = FileMemory::new(home.path()).path(Target::Memory).exists();
        assert_eq!((changes, writes), (usize::from(is_there), usize::from(is_there)));
    }
}

#[tokio::test]
async fn a_skill_that_was_changed_is_reported_and_one_that_was_not_is_not() {
    for _ in 0..20 {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("skills/deploy/SKILL.md");
        durable::replace(&file, SKILL.as_bytes()).unwrap();

        let patch = json!({"action": "patch", "name": "deploy", "old_string": "apply",
            "new_string": "wait"});
        let (changes, writes) = cancelled(&home, "skill_manage", patch).await;

        let is_changed = fs::read_to_string(&file).unwrap() != SKILL;
        assert_eq!((changes, writes), (usize::from(is_changed), usize::from(is_changed)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_after_the_agent_was_shut_down() {
    let home = tempfile::tempdir().unwrap();
    let path = FileMemory::new(home.path()).path(Target::Memory);
    let lock = path.with_extension("md.lock");
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    let held = FileLock::acquire(&lock, Duration::ZERO).unwrap();
    let release = tokio::task::spawn_blocking(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(held);
    });

    let fact = json!({"action": "add", "content": "Late."});
    let (changes, _) = cancelled(&home, "memory", fact).await;

    let at_the_end = path.exists();
    assert_eq!(changes, usize::from(at_the_end));
    release.await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(path.exists(), at_the_end);
}

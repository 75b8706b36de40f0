//! A review proposes, a person decides: across all crates, on real files.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;

use futures::StreamExt;
use hermes_core::{
    Agent, Session,
    agent::AgentEvent,
    approval::{self, Approval, ApprovalRequest},
    audit::AuditEvent,
    change::Fate,
    memory::Target,
    origin::OriginKind,
    pending::{FilePending, HeldWrites},
    review::{ReviewOutcome, ReviewReport},
    skill::{SkillFile, SkillStore},
    testing::{RecordingAudit, ScriptedProvider},
};
use hermes_memory::{FileMemory, Memory};
use hermes_review::{Intervals, NudgePolicy, Writes};
use hermes_skills::{FsSkills, Skills};
use serde_json::json;
use tempfile::TempDir;

const SKILL: &str = "---\nname: deploy\ndescription: Deploys the shop.\n---\nPush, then apply.\n";
const FACT: &str = "The registry is at registry.local:5000.";

struct Home(TempDir);

impl Home {
    fn memory(&self) -> Memory {
        Memory::new(FileMemory::new(self.0.path())).pending(FilePending::new(self.0.path()))
    }

    fn skills(&self) -> Skills {
        Skills::new(FsSkills::new(self.0.path())).pending(FilePending::new(self.0.path()))
    }

    fn held(&self) -> [HeldWrites; 2] {
        [self.memory().held().unwrap(), self.skills().held().unwrap()]
    }

    /// Holds one conversation, whose review saves a fact and a skill, and returns its report.
    async fn reviewed(&self, policy: NudgePolicy) -> (Agent, std::sync::Arc<ReviewReport>) {
        let model = ScriptedProvider::new()
            .call("skills_list", json!({}))
            .say("Deployed.")
            .call("memory", json!({"action": "add", "content": FACT}))
            .call("skill_manage", json!({"action": "create", "name": "deploy", "content": SKILL}))
            .say("Saved a fact and a skill.");
        let agent = Agent::builder(model)
            .model("scripted")
            .memory(self.memory())
            .skills(self.skills())
            .review(policy)
            .build()
            .unwrap();
        let turn = agent.session().send("Deploy the shop.").await.unwrap();
        let report = turn.review.unwrap().await.unwrap();
        (agent, report)
    }

    fn fact(&self) -> Option<String> {
        let path = FileMemory::new(self.0.path()).path(Target::Memory);
        fs::read_to_string(path).ok()
    }
}

fn policy() -> NudgePolicy {
    NudgePolicy::new(Intervals::new(1, 1))
}

#[tokio::test]
async fn what_a_review_proposes_waits_until_a_person_approves() {
    let home = Home(tempfile::tempdir().unwrap());

    let (_, report) = home.reviewed(policy().hold(Writes::Automatic)).await;

    assert_eq!(report.outcome, ReviewOutcome::Saved, "{report:?}");
    let are_held = report.changes.iter().all(|it| matches!(it.fate, Fate::Held(_)));
    assert!(are_held && report.changes.len() == 2 && !report.has_applied(), "{report:?}");
    assert!(report.lines()[0].starts_with("Memory: created (held for approval as "));
    let skills = FsSkills::new(home.0.path());
    assert_eq!((home.fact(), skills.list().await.unwrap().skills.len()), (None, 0));

    for held in home.held() {
        for write in held.list().await.unwrap().writes {
            held.approve(&write.id).await.unwrap();
        }
    }

    assert_eq!(home.fact().as_deref(), Some(FACT));
    let text = skills.read("deploy", &SkillFile::main()).await.unwrap().text;
    assert_eq!(text.value, SKILL);
    let history = skills.history(&"deploy".parse().unwrap(), 1).await.unwrap();
    assert_eq!(history[0].origin.kind, OriginKind::Review);
    assert_eq!(history[0].origin.review.as_deref(), Some(&*report.id));
}

#[tokio::test]
async fn each_subsystem_is_held_for_itself() {
    let home = Home(tempfile::tempdir().unwrap());

    let (_, report) = home.reviewed(policy().hold(Writes::Skills)).await;

    let fates: Vec<bool> = report.changes.iter().map(|it| it.fate == Fate::Applied).collect();
    assert_eq!(fates, [true, false]);
    assert_eq!(home.fact().as_deref(), Some(FACT));
}

/// Sends `text` and returns the warnings.
async fn warnings(session: &Session, text: &str) -> Vec<String> {
    let mut reply = session.send(text);
    let mut warnings = Vec::new();
    while let Some(event) = reply.next().await {
        if let AgentEvent::Warning(warning) = event {
            warnings.push(warning);
        }
    }
    reply.await.unwrap();
    warnings
}

#[tokio::test]
async fn a_host_that_has_no_place_for_held_writes_is_told() {
    let home = Home(tempfile::tempdir().unwrap());
    let model = ScriptedProvider::new()
        .call("memory", json!({"action": "add", "content": FACT}))
        .call("skill_manage", json!({"action": "create", "name": "deploy", "content": SKILL}))
        .say("Neither was kept.")
        .call("memory", json!({"action": "add", "content": FACT}))
        .say("Nothing was kept.")
        .otherwise("Hello.");
    let agent = Agent::builder(model)
        .model("scripted")
        .memory(Memory::new(FileMemory::new(home.0.path())))
        .skills(Skills::new(FsSkills::new(home.0.path())))
        .review(NudgePolicy::new(Intervals::new(1, 0)).hold(Writes::All))
        .build()
        .unwrap();
    let session = agent.session();

    let live = warnings(&session, "Remember both.").await;
    agent.settled().await;
    let later = warnings(&session, "Hello.").await;
    agent.settled().await;

    assert!(live[0].contains("`hermes_memory::Memory::pending`"), "{live:?}");
    assert!(live[1].contains("`hermes_skills::Skills::pending`"), "{live:?}");
    assert_eq!(later, live[..1], "what happens in a review is told with the next turn");
    assert_eq!((live.len(), home.fact()), (2, None));
}

#[tokio::test]
async fn the_user_is_asked_about_what_their_own_conversation_would_keep() {
    let home = Home(tempfile::tempdir().unwrap());
    let model = ScriptedProvider::new()
        .call("memory", json!({"action": "add", "content": FACT}))
        .call("skill_manage", json!({"action": "create", "name": "deploy", "content": SKILL}))
        .say("One of two.");
    let person = approval::from_fn(|request: ApprovalRequest| async move {
        let diff = request.change.unwrap().diff;
        if diff.contains(FACT) { Approval::AllowOnce } else { Approval::Deny("no".to_owned()) }
    });
    let log = RecordingAudit::default();
    let agent = Agent::builder(model)
        .model("scripted")
        .memory(home.memory())
        .skills(home.skills())
        .review(NudgePolicy::new(Intervals::new(0, 0)).hold(Writes::All))
        .approver(person)
        .audit(log.clone())
        .build()
        .unwrap();

    let mut reply = agent.session().send("Remember both.");
    let mut asked = Vec::new();
    while let Some(event) = reply.next().await {
        if let AgentEvent::ApprovalAsked(request) = event {
            asked.push(request.reasons[0].clone());
        }
    }
    let turn = reply.await.unwrap();

    let of_memory = "Changes of memory need approval.".to_owned();
    assert_eq!(asked, [of_memory, "Changes of the skill \"deploy\" need approval.".to_owned()]);
    assert_eq!((turn.changes.len(), home.fact().as_deref()), (1, Some(FACT)));
    assert!(!home.0.path().join("skills/deploy").exists());
    let decisions = log.events().into_iter().filter_map(|event| match event {
        AuditEvent::Approval { tool, decision, .. } => Some(format!("{tool} {decision}")),
        _ => None,
    });
    assert_eq!(decisions.collect::<Vec<_>>(), ["memory allowed", "skill_manage denied"]);
}

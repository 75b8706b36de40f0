//! A process that is killed while it changes skills leaves the old state or the new one, whole.

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../../hermes-core/tests/child/mod.rs"]
mod child;

use std::{fs, path::Path, thread, time::Duration};

use hermes_core::{
    origin::Origin,
    skill::{SkillAction, SkillChange, SkillFile, SkillName, SkillStore},
    version::{Expected, Version},
};
use hermes_skills::FsSkills;

/// Names the folder to the process that is to be killed.
const HOME: &str = "HERMES_KILLED_HOME";
const ROUNDS: u64 = 12;

/// So few changes are kept that old ones are forgotten again and again.
const KEPT: usize = 6;

fn content(turn: usize) -> String {
    let line = format!("Step of turn {turn}.\n");
    format!("---\nname: worn\ndescription: Changes all the time.\n---\n{}", line.repeat(2_000))
}

fn turn_of(text: &str) -> usize {
    let line = text.lines().last().unwrap();
    line.trim_start_matches("Step of turn ").trim_end_matches('.').parse().unwrap()
}

fn name(text: &str) -> SkillName {
    text.parse().unwrap()
}

async fn commit(store: &FsSkills, skill: &str, action: SkillAction) {
    let change = SkillChange::new(name(skill), action, Origin::user());
    store.commit(change).await.unwrap();
}

/// Changes skills until it is killed. It is a test only so that this program can start it.
#[tokio::test]
#[ignore = "started by the other test"]
async fn change_skills_until_killed() {
    let Some(home) = std::env::var_os(HOME) else { return };
    let store = FsSkills::new(&home).revisions(KEPT);
    // No turn is like one before, so that every one is a change.
    let start = turn_of(&store.read("worn", &SkillFile::main()).await.unwrap().text.value) + 1;
    for turn in start.. {
        let expected = Expected::Any;
        let file = SkillFile::main();
        commit(&store, "worn", SkillAction::Write { file, content: content(turn), expected }).await;
        let category = Some("ops".parse().unwrap());
        let content = content(turn).replace("worn", "brief");
        commit(&store, "brief", SkillAction::Create { category, content }).await;
        commit(&store, "brief", SkillAction::Delete { expected, absorbed_into: None }).await;
        if turn == start {
            child::say_ready(Path::new(&home));
        }
    }
}

#[tokio::test]
async fn whatever_moment_it_is_killed_at_everything_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let store = FsSkills::new(folder.path()).revisions(KEPT);
    let create = SkillAction::Create { category: None, content: content(0) };
    commit(&store, "worn", create).await;

    for round in 0..ROUNDS {
        let home = [(HOME, folder.path().as_os_str())];
        let mut child = child::start("change_skills_until_killed", home);
        child::wait_until_under_way(&mut child, folder.path());
        thread::sleep(Duration::from_millis(7 * round));
        child::kill(&mut child);

        check(&store, folder.path()).await;
    }
    let made = store.history(&name("worn"), usize::MAX).await.unwrap().len();
    assert!((2..=2 * KEPT).contains(&made), "nothing was changed, or nothing forgotten");
}

/// Checks that what is there is what the history says, and that the store goes on.
async fn check(store: &FsSkills, home: &Path) {
    let text = store.read("worn", &SkillFile::main()).await.unwrap().text;
    let turn = turn_of(&text.value);
    assert_eq!(text.value, content(turn), "half a file");
    let history = store.history(&name("worn"), 2).await.unwrap();
    assert_eq!(history.first().and_then(|it| it.after), Some(text.version), "the history lies");
    for version in history.iter().flat_map(|it| [it.before, it.after]).flatten() {
        let blob = home.join("skills/.journal/blobs").join(version.to_string());
        assert_eq!(fs::read(blob).ok().map(Version::of), Some(version), "a text is lost");
    }

    let brief = home.join("skills/ops/brief");
    let history = store.history(&name("brief"), 1).await.unwrap();
    let after = history.first().and_then(|it| it.after);
    let there = fs::read(brief.join("SKILL.md")).ok().map(Version::of);
    assert_eq!(there, after, "the history lies");
    assert_eq!(brief.exists(), there.is_some(), "half a skill");
    let list = store.list().await.unwrap();
    assert_eq!(list.warnings, []);
    if there.is_some() {
        let action = SkillAction::Delete { expected: Expected::Any, absorbed_into: None };
        commit(store, "brief", action).await;
    }
    for folder in ["skills/worn", "skills/.journal/stage", "skills/.journal/blobs"] {
        let entries = fs::read_dir(home.join(folder)).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let left: Vec<String> =
            names.filter(|it| it.contains(".tmp") || folder.ends_with("stage")).collect();
        assert_eq!(left, [""; 0], "left behind in {folder}");
    }
}

//! Old changes of skills are forgotten; recent ones can be taken back, whatever happens meanwhile.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
};

use hermes_core::{
    durable,
    memory::Revision,
    origin::Origin,
    skill::{SkillAction, SkillChange, SkillCommit, SkillFile, SkillName, SkillStore},
    version::Expected,
};
use hermes_skills::FsSkills;

const KEPT: usize = 4;

fn name(text: &str) -> SkillName {
    text.parse().unwrap()
}

fn content(skill: &str, turn: usize) -> String {
    format!("---\nname: {skill}\ndescription: Changes.\n---\nStep of turn {turn}.\n")
}

fn store(home: &Path) -> FsSkills {
    FsSkills::new(home).revisions(KEPT)
}

async fn commit(store: &FsSkills, skill: &str, action: SkillAction) -> SkillCommit {
    store.commit(SkillChange::new(name(skill), action, Origin::user())).await.unwrap()
}

async fn create(store: &FsSkills, skill: &str) -> SkillCommit {
    let content = content(skill, 0);
    commit(store, skill, SkillAction::Create { category: None, content }).await
}

async fn write(store: &FsSkills, skill: &str, turn: usize) -> SkillCommit {
    let content = content(skill, turn);
    let (file, expected) = (SkillFile::main(), Expected::Any);
    commit(store, skill, SkillAction::Write { file, content, expected }).await
}

async fn delete(store: &FsSkills, skill: &str) -> SkillCommit {
    let action = SkillAction::Delete { expected: Expected::Any, absorbed_into: None };
    commit(store, skill, action).await
}

async fn text(store: &FsSkills, skill: &str) -> String {
    store.read(skill, &SkillFile::main()).await.unwrap().text.value
}

async fn history(store: &FsSkills, skill: &str) -> Vec<Revision> {
    store.history(&name(skill), usize::MAX).await.unwrap()
}

fn journal(home: &Path, path: &str) -> PathBuf {
    home.join("skills/.journal").join(path)
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[tokio::test]
async fn what_is_kept_does_not_grow_with_the_number_of_changes() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    create(&store, "a").await;
    let mut sizes = Vec::new();
    for turn in 1..=10 * KEPT {
        write(&store, "a", turn).await;
        sizes.push(fs::metadata(journal(home.path(), "journal.jsonl")).unwrap().len());
    }

    let kept = history(&store, "a").await.len();
    assert!((KEPT..=2 * KEPT).contains(&kept), "{kept}");
    assert!(count(&journal(home.path(), "blobs")) <= kept + 1);
    let (before, after) = sizes.split_at(2 * KEPT);
    assert!(after.iter().max() <= before.iter().max().map(|it| it + 200).as_ref());
}

#[tokio::test]
async fn the_latest_changes_can_all_be_taken_back() {
    for turns in KEPT..=3 * KEPT {
        let home = tempfile::tempdir().unwrap();
        let store = store(home.path());
        create(&store, "a").await;
        for turn in 1..=turns {
            write(&store, "a", turn).await;
        }

        let latest = history(&store, "a").await;
        for (revision, before) in latest.iter().take(KEPT).zip((0..turns).rev()) {
            store.undo(&name("a"), &revision.id, Origin::user()).await.unwrap();
            assert_eq!(text(&store, "a").await, content("a", before));
        }
    }
}

#[tokio::test]
async fn a_deleted_folder_goes_with_the_change_that_deleted_it() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    create(&store, "a").await;
    create(&store, "old").await;
    delete(&store, "old").await;
    for turn in 1..=2 * KEPT {
        write(&store, "a", turn).await;
    }
    create(&store, "new").await;
    let deletion = delete(&store, "new").await.revision.unwrap();
    write(&store, "a", 0).await;

    assert_eq!(history(&store, "old").await, []);
    assert_eq!(count(&journal(home.path(), "deleted")), 1);
    store.undo(&name("new"), &deletion, Origin::user()).await.unwrap();
    assert_eq!(text(&store, "new").await, content("new", 0));
}

#[tokio::test]
async fn what_a_killed_process_did_not_remove_goes_the_next_time() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    create(&store, "a").await;
    write(&store, "a", 1).await;
    // As it is when a process dies after the journal was replaced.
    let blob = journal(home.path(), "blobs").join("0".repeat(64));
    durable::replace(&blob, b"a text of nobody").unwrap();
    let folder = journal(home.path(), "deleted/20200101000000-0-x");
    durable::replace(&folder.join("SKILL.md"), b"x").unwrap();

    for turn in 2..=2 * KEPT {
        write(&store, "a", turn).await;
    }

    assert!(!blob.exists());
    assert!(!folder.exists());
}

#[tokio::test]
async fn nothing_is_forgotten_where_a_line_cannot_be_understood() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    create(&store, "a").await;
    let journal = journal(home.path(), "journal.jsonl");
    let mut lines = fs::read(&journal).unwrap();
    lines.extend(b"{\"op\":\"merge\",\"id\":\"f\"}\n");
    durable::replace(&journal, &lines).unwrap();

    for turn in 1..=3 * KEPT {
        write(&store, "a", turn).await;
    }

    assert_eq!(history(&store, "a").await.len(), 3 * KEPT + 1);
}

/// Makes a skill and changes it, as one of several writers.
async fn work(home: &Path, skill: &str) {
    let store = store(home);
    create(&store, skill).await;
    for turn in 1..=2 * KEPT {
        write(&store, skill, turn).await;
    }
}

#[tokio::test]
async fn several_writers_keep_the_latest_changes_of_each_other() {
    let home = tempfile::tempdir().unwrap();
    let skills = ["s1", "s2", "s3", "s4"];
    thread::scope(|scope| {
        for skill in skills {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let path = home.path();
            scope.spawn(move || runtime.block_on(work(path, skill)));
        }
    });

    let store = store(home.path());
    let mut all = Vec::new();
    for skill in skills {
        assert_eq!(text(&store, skill).await, content(skill, 2 * KEPT));
        all.extend(history(&store, skill).await);
    }
    assert!((KEPT..=2 * KEPT).contains(&all.len()), "{}", all.len());
    for version in all.iter().flat_map(|it| [it.before, it.after]).flatten() {
        assert!(journal(home.path(), "blobs").join(version.to_string()).exists());
    }
}

//! Held writes across processes: killed at any moment, and decided on by several at once.

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../../hermes-core/tests/child/mod.rs"]
mod child;

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Child,
    thread,
    time::{Duration, Instant},
};

use hermes_core::{
    durable,
    memory::{MemoryBackend, Target},
    origin::Origin,
    pending::{Draft, FilePending, HeldWrites, PendingError, PendingStore, Subsystem},
    serde_json::{Map, Value},
};
use hermes_memory::{FileMemory, Memory};

/// Names the folder to the processes that these tests start.
const HOME: &str = "HERMES_PENDING_HOME";
/// Names the file in which such a process writes what it did.
const REPORT: &str = "HERMES_PENDING_REPORT";

fn memory(home: &Path) -> Memory {
    let files = FileMemory::new(home).limit(Target::Memory, 100_000_000);
    Memory::new(files).pending(pending(home))
}

fn pending(home: &Path) -> FilePending {
    FilePending::new(home).capacity(1_000)
}

fn held(home: &Path) -> HeldWrites {
    memory(home).held().unwrap()
}

fn draft(content: &str) -> Draft {
    let mut payload = Map::new();
    for (key, value) in [("action", "add"), ("target", "memory"), ("content", content)] {
        payload.insert(key.to_owned(), Value::from(value));
    }
    Draft::new(Subsystem::Memory, Origin::review("review-1"), payload)
}

fn content(turn: usize) -> String {
    format!("Fact {turn}: {}", "word ".repeat(100_000)).trim_end().to_owned()
}

fn start(test: &str, home: &Path, report: &OsStr) -> Child {
    child::start(test, [(HOME, home.as_os_str()), (REPORT, report)])
}

fn home_of_child() -> Option<PathBuf> {
    std::env::var_os(HOME).map(PathBuf::from)
}

/// Holds and decides until it is killed. It is a test only so that this program can start it.
#[tokio::test]
#[ignore = "started by another test"]
async fn hold_and_decide_until_killed() {
    let Some(home) = home_of_child() else { return };
    let (store, held) = (pending(&home), held(&home));
    for turn in 0.. {
        let kept = store.hold(draft(&content(turn))).await.unwrap();
        let made = store.hold(draft(&format!("Short fact {turn}."))).await.unwrap();
        held.approve(&made.id).await.unwrap();
        held.reject(&kept.id).await.unwrap();
        if turn == 0 {
            child::say_ready(&home);
        }
    }
}

#[tokio::test]
async fn whatever_moment_it_is_killed_at_every_record_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let (mut unfinished, mut finished) = (0, 0);
    for round in 0..60 {
        if 0 < unfinished && 0 < finished && 12 <= round {
            break;
        }
        let mut child = start("hold_and_decide_until_killed", home, OsStr::new(""));
        child::wait_until_under_way(&mut child, home);
        match round % 3 {
            0 => thread::sleep(Duration::from_millis(round)),
            // In the middle of a write, or while something waits, as nearly as can be told from here.
            1 => wait_for(home, ".tmp"),
            _ => wait_for(home, ".json"),
        }
        child::kill(&mut child);
        unfinished += usize::from(0 < leftovers(home));

        finished += check(home).await;
    }
    assert!(0 < unfinished, "it was never killed between staging and rename");
    assert!(0 < finished, "nothing ever waited when it was killed");
}

/// Checks that what waits is whole and can be decided on, and returns how much waited.
async fn check(home: &Path) -> usize {
    let held = held(home);
    let list = held.list().await.unwrap();
    assert_eq!(list.warnings, [], "half a record");
    for write in &list.writes {
        let text = write.draft.payload.get("content").and_then(Value::as_str).unwrap();
        let is_whole = match text.strip_prefix("Fact ").and_then(|it| it.split(':').next()) {
            Some(turn) => text == content(turn.parse().unwrap()),
            None => text.starts_with("Short fact ") && text.ends_with('.'),
        };
        assert!(is_whole, "half a write: {} bytes", text.len());
    }
    for write in &list.writes {
        held.approve(&write.id).await.unwrap();
    }
    let entries = FileMemory::new(home).read(Target::Memory).await.unwrap().value.entries;
    let mut distinct = entries.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), entries.len(), "a write was made twice");
    pending(home).hold(draft("x")).await.unwrap();
    assert_eq!(leftovers(home), 0, "the next write tidies up");
    for write in held.list().await.unwrap().writes {
        held.reject(&write.id).await.unwrap();
    }
    durable::replace(&home.join("memories/MEMORY.md"), b"").unwrap();
    list.writes.len()
}

/// Waits, but not for ever, until a file is there whose name ends so.
fn wait_for(home: &Path, ending: &str) {
    let start = Instant::now();
    while count(home, ending) == 0 && start.elapsed() < Duration::from_secs(2) {}
}

fn leftovers(home: &Path) -> usize {
    count(home, ".tmp")
}

fn count(home: &Path, ending: &str) -> usize {
    let entries = fs::read_dir(home.join("pending/memory")).into_iter().flatten().flatten();
    entries.filter(|it| it.file_name().to_string_lossy().ends_with(ending)).count()
}

/// Approves everything it can, and reports what it made. It is a test only so that this program can
/// start it.
#[tokio::test]
#[ignore = "started by another test"]
async fn approve_everything() {
    let Some(home) = home_of_child() else { return };
    let held = held(&home);
    while !home.join("go").exists() {
        thread::sleep(Duration::from_millis(1));
    }
    let mut report = Vec::new();
    for write in held.list().await.unwrap().writes {
        match held.approve(&write.id).await {
            Ok(change) if change.before != change.after => {
                report.push(write.id.to_string());
            }
            Ok(_) => report.push(format!("nothing to do for {}", write.id)),
            Err(PendingError::NotFound { .. }) => {}
            Err(err) => report.push(format!("{err:?}")),
        }
    }
    let file = std::env::var_os(REPORT).unwrap();
    durable::replace(Path::new(&file), report.join("\n").as_bytes()).unwrap();
}

#[tokio::test]
async fn of_two_processes_that_approve_a_write_one_makes_it() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let mut writes = BTreeMap::new();
    for number in 0..40 {
        let held = pending(home).hold(draft(&format!("Fact {number}."))).await.unwrap();
        writes.insert(held.id.to_string(), 0);
    }
    let reports = ["one", "two"].map(|name| home.join(name));
    let children = reports.clone().map(|it| start("approve_everything", home, it.as_os_str()));
    thread::sleep(Duration::from_millis(100));
    durable::replace(&home.join("go"), b"").unwrap();

    for mut child in children {
        assert!(child.wait().unwrap().success());
    }

    let report = reports.map(|it| fs::read_to_string(it).unwrap()).join("\n");
    for line in report.lines().filter(|it| !it.is_empty()) {
        *writes.get_mut(line).unwrap_or_else(|| panic!("{line}")) += 1;
    }
    assert!(writes.values().all(|made| *made == 1), "{writes:?}");
    let entries = FileMemory::new(home).read(Target::Memory).await.unwrap().value.entries;
    assert_eq!(entries.len(), writes.len());
    assert_eq!(held(home).list().await.unwrap().writes, []);
}

use std::fs;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::*;
use crate::{
    origin::Origin,
    testing::{ManualClock, conformance},
    version::Expected,
};

struct Home {
    folder: TempDir,
    pending: FilePending,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pending = FilePending::new(folder.path()).clock(ManualClock::at_unix(1_700_000_000));
        Self { folder, pending }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("pending/memory").join(name)
    }

    fn put(&self, name: &str, text: &str) {
        durable::replace(&self.path(name), text.as_bytes()).unwrap();
    }

    async fn hold(&self, content: &str) -> Result<HeldWrite, PendingError> {
        self.pending.hold(draft(content)).await
    }

    async fn list(&self) -> PendingList {
        self.pending.list(Subsystem::Memory).await.unwrap()
    }

    async fn remove(&self, id: &PendingId) -> Result<(), PendingError> {
        let claim = self.pending.claim(Subsystem::Memory, id).await?;
        self.pending.remove(claim).await
    }
}

fn draft(content: &str) -> Draft {
    let payload: Map<String, Value> = [
        ("action".to_owned(), "add".into()),
        ("target".to_owned(), "memory".into()),
        ("content".to_owned(), content.into()),
        ("old_text".to_owned(), Value::Null),
    ]
    .into_iter()
    .collect();
    Draft::new(Subsystem::Memory, Origin::review("review-1"), payload)
        .on(Expected::Is(Version::of("")))
        .summarised("Memory: added")
}

#[tokio::test]
async fn the_contract_is_kept() {
    let folder = tempfile::tempdir().unwrap();

    conformance::pending_store(&FilePending::new(folder.path())).await;
}

#[tokio::test]
async fn the_file_has_the_keys_of_hermes_agent() {
    let home = Home::new();

    let held = home.hold("日本語").await.unwrap();

    let text = fs::read_to_string(home.path(&format!("{}.json", held.id))).unwrap();
    assert!(text.starts_with("{\n  \"id\": \""), "{text}");
    let record: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        record,
        json!({
            "id": held.id.as_str(), "subsystem": "memory", "action": "add",
            "summary": "Memory: added", "origin": "background_review", "created_at": 1_700_000_000.0,
            "payload": {"action": "add", "target": "memory", "content": "日本語", "old_text": null},
            "base_hash": Version::of("").to_string(),
            "origin_detail": {"kind": "review", "review": "review-1"},
        })
    );
}

#[tokio::test]
async fn what_is_damaged_is_passed_over_with_a_warning() {
    let home = Home::new();
    let held = home.hold("a").await.unwrap();
    home.put("00000001.json", "{\"id\": \"00000001\", \"payl");
    home.put("00000002.json", "");
    home.put("00000003.json", "{\"id\": \"00000001\", \"payload\": {}}");
    home.put("..%2Fx.json", "{}");
    home.put("note.txt", "not a record");
    fs::create_dir(home.path("00000004.json")).unwrap();

    let list = home.list().await;

    assert_eq!(list.writes, [held]);
    let places: Vec<&str> = list.warnings.iter().map(|it| &*it.place).collect();
    let damaged =
        ["..%2Fx.json", "00000001.json", "00000002.json", "00000003.json", "00000004.json"];
    assert_eq!(places, damaged);
    let err = home.remove(&"00000001".parse().unwrap()).await.unwrap_err();
    assert!(matches!(err, PendingError::Unreadable { .. }), "{err:?}");
    assert!(home.path("00000001.json").exists(), "what cannot be read is left alone");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_is_no_record() {
    let home = Home::new();
    let secret = home.folder.path().join("secret");
    durable::replace(&secret, b"{\"id\": \"00000001\", \"payload\": {}}").unwrap();
    home.hold("a").await.unwrap();
    std::os::unix::fs::symlink(&secret, home.path("00000001.json")).unwrap();

    let list = home.list().await;

    assert_eq!((list.writes.len(), list.warnings.len()), (1, 1));
}

#[tokio::test]
async fn a_full_store_refuses_and_keeps_what_waits() {
    let mut home = Home::new();
    home.pending = home.pending.clone().capacity(3);
    home.put("00000001.json", "damaged, and counted");
    home.hold("a").await.unwrap();
    home.hold("b").await.unwrap();

    let err = home.hold("c").await.unwrap_err();
    home.hold("b").await.unwrap();

    assert!(matches!(err, PendingError::Full { waiting: 3 }), "{err:?}");
    assert_eq!(home.list().await.writes.len(), 2);
}

#[tokio::test]
async fn a_write_that_is_too_long_is_refused() {
    let home = Home::new();

    let err = home.hold(&"\u{1}".repeat(1 << 20)).await.unwrap_err();
    home.hold(&"é".repeat(1 << 20)).await.unwrap();

    let is_right = matches!(err, PendingError::TooLarge { bytes, limit } if limit < bytes);
    assert!(is_right, "{err:?}");
    assert_eq!(home.list().await.writes.len(), 1);
    let long = fs::File::create(home.path("00000001.json")).unwrap();
    long.set_len(5 << 20).unwrap();
    assert_eq!(home.list().await.warnings.len(), 1);
}

#[tokio::test]
async fn what_a_killed_process_left_is_removed_with_the_next_write() {
    let home = Home::new();
    home.put(".hermes-abc.tmp", "{\"id\": \"0000");

    assert_eq!(home.list().await, PendingList::default());
    home.hold("a").await.unwrap();

    assert!(!home.path(".hermes-abc.tmp").exists());
}

#[tokio::test]
async fn what_hermes_agent_removed_is_gone() {
    let home = Home::new();
    let held = home.hold("a").await.unwrap();
    let claim = home.pending.claim(Subsystem::Memory, &held.id).await.unwrap();
    fs::remove_file(home.path(&format!("{}.json", held.id))).unwrap();

    home.pending.remove(claim).await.unwrap();

    let err = home.remove(&held.id).await.unwrap_err();
    assert!(matches!(err, PendingError::NotFound { .. }), "{err:?}");
}

#[tokio::test]
async fn a_decision_is_waited_for_only_so_long() {
    let home = Home::new();
    let held = home.hold("a").await.unwrap();
    let claim = home.pending.claim(Subsystem::Memory, &held.id).await.unwrap();
    let hasty = home.pending.clone().patience(Duration::from_millis(20));

    let err = hasty.claim(Subsystem::Memory, &held.id).await.unwrap_err();
    drop(claim);

    assert!(matches!(err, PendingError::Backend(_)), "{err:?}");
    home.remove(&held.id).await.unwrap();
}

#[tokio::test]
async fn reading_creates_nothing() {
    let home = Home::new();

    assert_eq!(home.list().await, PendingList::default());
    let err = home.remove(&"00000001".parse().unwrap()).await.unwrap_err();

    assert!(matches!(err, PendingError::NotFound { .. }), "{err:?}");
    assert!(!home.folder.path().join("pending").exists());
}

#[tokio::test]
async fn only_a_record_that_cannot_be_read_is_discarded() {
    let home = Home::new();
    let held = home.hold("b").await.unwrap();
    home.put("0badcafe.json", "{");
    home.put("notes.json", "{}");
    let discard = async |place: &str| home.pending.discard(Subsystem::Memory, place).await;

    for place in ["0badcafe.json", "notes.json"] {
        discard(place).await.unwrap();
        assert!(!home.path(place).exists());
    }

    for place in
        [&format!("{}.json", held.id), "0badcafe.json", "../../memories/MEMORY.md", ".lock"]
    {
        assert!(discard(place).await.is_err(), "{place}");
    }
    let list = home.list().await;
    assert_eq!((list.writes.len(), list.warnings.len()), (1, 0));
}

//! Sessions in SQLite that several processes use at once, here by several handles on one file.
#![cfg(feature = "sqlite")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use hermes_core::{
    message::{Message, MessageId},
    store::{ListOptions, SessionId, SessionState, SessionStore, StoreError},
};
use hermes_memory::SqliteSessions;
use rusqlite::Connection;
use tempfile::TempDir;

async fn two() -> (TempDir, SqliteSessions, SqliteSessions) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("sessions.db");
    let one = SqliteSessions::open(&path).await.unwrap();
    let other = SqliteSessions::open(&path).await.unwrap();
    (home, one, other)
}

/// Adds the message `text` as the one of this number, counted from 1, and notes the number in the state.
async fn say(store: &SqliteSessions, id: &SessionId, number: u64, text: &str) {
    let message = Message::user(text).with_id(MessageId(number));
    let mut state = SessionState::default();
    state.last_message = MessageId(number);
    let before = usize::try_from(number).unwrap() - 1;
    store.append(id, before, &[message], &state).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_read_while_another_writes_and_deletes_is_of_one_moment() {
    let (_home, writer, reader) = two().await;
    let id = SessionId::new("busy");
    let is_over = AtomicBool::new(false);

    let writing = async {
        for number in 1..=120 {
            say(&writer, &id, number, "the 西湖_ walk").await;
            if number % 40 == 0 {
                let gone = SessionId::new(format!("gone{number}"));
                say(&writer, &gone, 1, "the 西湖_ that goes").await;
                assert!(writer.delete(&gone).await.unwrap());
            }
        }
        is_over.store(true, Ordering::SeqCst);
    };
    let reading = async {
        let mut torn = 0;
        while !is_over.load(Ordering::SeqCst) {
            if let Some(stored) = reader.load(&id).await.unwrap() {
                let last = stored.messages.last().map(|it| it.id).unwrap_or_default();
                torn += usize::from(stored.state.last_message != last);
            }
            let list = reader.list(&ListOptions::default()).await.unwrap();
            assert!(list.iter().all(|it| 0 < it.messages), "{list:?}");
            reader.search("西湖_", 5).await.unwrap();
        }
        torn
    };
    let (torn, ()) = tokio::join!(reading, writing);

    assert_eq!(torn, 0);
}

#[tokio::test]
async fn a_deletion_that_nobody_waits_for_keeps_others_out_until_it_is_done() {
    let (home, one, other) = two().await;
    let id = SessionId::new("s1");
    say(&one, &id, 1, "hello").await;
    let busy = Connection::open(home.path().join("sessions.db")).unwrap();
    busy.execute_batch("BEGIN IMMEDIATE").unwrap();

    let deleting = tokio::time::timeout(Duration::from_millis(300), one.delete(&id)).await;
    let taken = other.lock(&id).await.err();
    busy.execute_batch("ROLLBACK").unwrap();
    let lock = loop {
        match other.lock(&id).await {
            Ok(lock) => break lock,
            Err(_) => tokio::task::yield_now().await,
        }
    };

    assert!(deleting.is_err(), "it waits for the other process");
    assert!(matches!(taken, Some(StoreError::Locked(_))), "{taken:?}");
    assert_eq!(other.load(&id).await.unwrap(), None);
    drop(lock);
}

#[tokio::test]
async fn what_is_deleted_is_not_found_whatever_the_index_was_like() {
    for damage in [
        "DELETE FROM words_data; DELETE FROM words_idx; DELETE FROM words_docsize;
         DELETE FROM pairs_data; DELETE FROM pairs_idx; DELETE FROM pairs_docsize;",
        "DELETE FROM words_data; DELETE FROM pairs_idx;",
        "DELETE FROM words_docsize;",
        "DELETE FROM words_docsize WHERE id = 3; DELETE FROM pairs_docsize WHERE id = 3;",
        "DROP TABLE words; DROP TABLE pairs;",
        "",
    ] {
        let (home, store, _) = two().await;
        let (kept, gone) = (SessionId::new("kept"), SessionId::new("gone"));
        say(&store, &kept, 1, "a bilby in the 二番目").await;
        say(&store, &gone, 1, "a secret bilby in the 秘密の行").await;
        say(&store, &gone, 2, "another secret").await;
        let connection = Connection::open(home.path().join("sessions.db")).unwrap();
        connection.execute_batch(damage).unwrap();

        assert!(store.delete(&gone).await.unwrap(), "{damage}");
        say(&store, &kept, 2, "a dugong").await;

        for (query, expected) in
            [("secret", 0), ("秘密", 0), ("bilby", 1), ("番目", 1), ("dugong", 1)]
        {
            let hits = store.search(query, 9).await.unwrap();
            assert_eq!(hits.len(), expected, "{query} after {damage:?}: {hits:?}");
        }
    }
}

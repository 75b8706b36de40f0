use std::fs;

use hermes_core::{
    memory::MemoryEdit,
    version::{Expected, Version},
};
use tempfile::TempDir;

use super::*;

fn home(text: impl AsRef<[u8]>) -> (TempDir, FileMemory, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let memory = FileMemory::new(home.path());
    let path = memory.path(Target::Memory);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    hermes_core::durable::replace(&path, text.as_ref()).unwrap();
    (home, memory, path)
}

fn change(edits: Vec<MemoryEdit>) -> MemoryChange {
    MemoryChange::new(Target::Memory, edits, Origin::user())
}

fn add(content: &str) -> MemoryEdit {
    MemoryEdit::Add { content: content.to_owned() }
}

fn remove(old_text: &str) -> MemoryEdit {
    MemoryEdit::Remove { old_text: old_text.to_owned() }
}

fn backups(path: &Path) -> usize {
    let names = fs::read_dir(path.parent().unwrap()).unwrap();
    names.filter(|it| it.as_ref().unwrap().file_name().to_string_lossy().contains(".bak.")).count()
}

#[tokio::test]
async fn nothing_is_an_empty_list_and_creates_no_file() {
    let home = tempfile::tempdir().unwrap();
    let memory = FileMemory::new(home.path());

    let read = memory.read(Target::User).await.unwrap();

    assert_eq!(read.value, Entries::new(Vec::new(), hermes_core::memory::Fill::new(0, 1_375)));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn an_added_entry_is_on_disk_as_hermes_agent_writes_it() {
    let (_home, memory, path) = home("a\r\n§\r\nb\r\n");

    let commit = memory.commit(change(vec![add(" c ")])).await.unwrap();

    assert_eq!(fs::read_to_string(&path).unwrap(), "a\n§\nb\n§\nc");
    assert_eq!(commit.after.version, Version::of("a\n§\nb\n§\nc"));
    assert_eq!(commit.after, {
        let read = memory.read(Target::Memory).await.unwrap();
        Versioned::new(read.value.entries, read.version)
    });
}

#[tokio::test]
async fn the_last_entry_leaves_an_empty_file() {
    let (_home, memory, path) = home("a");

    memory.commit(change(vec![remove("a")])).await.unwrap();

    assert_eq!(fs::read(&path).unwrap(), b"");
}

#[tokio::test]
async fn a_known_entry_writes_nothing() {
    let (_home, memory, path) = home("a\n§\na\n");

    let commit = memory.commit(change(vec![add("a")])).await.unwrap();

    assert_eq!(commit.revision, None);
    assert_eq!(commit.before, commit.after);
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\n§\na\n");
    assert_eq!(memory.history(Target::Memory, 9).await.unwrap(), []);
}

#[tokio::test]
async fn a_file_that_is_not_utf8_is_shown_and_never_written() {
    let bytes = b"na\xefve plan\n\xc2\xa7\nok";
    let (_home, memory, path) = home(bytes);

    let read = memory.read(Target::Memory).await.unwrap().value;
    let err = memory.commit(change(vec![add("new")])).await.unwrap_err();

    assert_eq!(read.entries, ["na\u{fffd}ve plan", "ok"]);
    assert!(read.warnings[0].contains("MEMORY.md"), "{:?}", read.warnings);
    assert!(matches!(err, MemoryError::Unreadable { .. }), "{err:?}");
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[tokio::test]
async fn what_cannot_be_read_is_not_overwritten() {
    let (_home, memory, path) = home("");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();

    let read = memory.read(Target::Memory).await.unwrap_err();
    let write = memory.commit(change(vec![add("new")])).await.unwrap_err();

    assert!(matches!(read, MemoryError::Unreadable { place, .. } if place.contains("MEMORY.md")));
    assert!(matches!(write, MemoryError::Unreadable { .. }));
}

#[tokio::test]
async fn text_that_would_be_lost_is_backed_up_once_and_the_write_refused() {
    let text = "a\n§\n\n§\nb  \n§\nc";
    let (_home, memory, path) = home(text);

    for edit in [add("d"), remove("a"), remove("b")] {
        let err = memory.commit(change(vec![edit])).await.unwrap_err();
        let MemoryError::Drift { backup, .. } = err else { panic!("{err:?}") };
        assert_eq!(fs::read_to_string(backup).unwrap(), text);
    }

    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert_eq!(backups(&path), 1);
}

#[tokio::test]
async fn two_backups_of_one_second_are_two_files() {
    let (_home, memory, path) = home("a \n§\nb");
    memory.commit(change(vec![add("c")])).await.unwrap_err();
    fs::copy(&path, path.with_extension("md.bak.0")).unwrap();
    let memory = memory.clock(Epoch);

    hermes_core::durable::replace(&path, b"other \n\xc2\xa7\nb").unwrap();
    memory.commit(change(vec![add("c")])).await.unwrap_err();

    assert!(fs::read_to_string(path.with_extension("md.bak.0-1")).unwrap().starts_with("other"));
}

#[derive(Debug)]
struct Epoch;

impl Clock for Epoch {
    fn now(&self) -> std::time::SystemTime {
        std::time::SystemTime::UNIX_EPOCH
    }
}

#[tokio::test]
async fn pasted_bulk_is_not_clobbered() {
    let bulk = "# notes pasted by hand\n".repeat(200);
    let (_home, memory, path) = home(&bulk);

    let removed = memory.commit(change(vec![remove("notes")])).await.unwrap_err();
    let added = memory.commit(change(vec![add("x")])).await.unwrap_err();

    assert!(matches!(removed, MemoryError::Drift { .. }), "{removed:?}");
    assert!(matches!(added, MemoryError::Full { .. }), "{added:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), bulk);
}

#[tokio::test]
async fn a_list_over_its_limit_loads_with_a_warning_and_can_shrink() {
    let (_home, memory, _) = home("aaaa\n§\nbbbb\n§\ncccc");
    let memory = memory.limit(Target::Memory, 6);

    let read = memory.read(Target::Memory).await.unwrap().value;
    let grown = memory.commit(change(vec![add("d")])).await;
    let shrunk = memory.commit(change(vec![remove("aaaa")])).await.unwrap();

    assert_eq!(read.warnings.len(), 1);
    assert!(matches!(grown, Err(MemoryError::Full { needed: 22, .. })), "{grown:?}");
    assert_eq!(shrunk.after.value, ["bbbb", "cccc"]);
}

#[tokio::test]
async fn a_writer_that_saw_another_version_is_refused() {
    let (_home, memory, path) = home("a");
    let stale = Expected::Is(Version::of("older"));

    let err = memory.commit(change(vec![add("b")]).expecting(stale)).await.unwrap_err();
    let absent = memory.commit(change(vec![add("b")]).expecting(Expected::Absent)).await;

    assert!(
        matches!(&err, MemoryError::Conflict { current, entries }
            if *current == Version::of("a") && *entries == ["a"]),
        "{err:?}"
    );
    assert!(matches!(absent, Err(MemoryError::Conflict { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "a");
}

#[tokio::test]
async fn an_empty_list_has_one_version_whether_there_is_a_file_or_not() {
    let home = tempfile::tempdir().unwrap();
    let memory = FileMemory::new(home.path());
    let seen = memory.read(Target::Memory).await.unwrap().version;

    let is = change(vec![add("a")]).expecting(Expected::Is(seen));
    memory.commit(is).await.unwrap();
    memory.commit(change(vec![remove("a")])).await.unwrap();
    memory.commit(change(vec![add("b")]).expecting(Expected::Absent)).await.unwrap();

    assert_eq!(memory.read(Target::Memory).await.unwrap().value.entries, ["b"]);
}

#[tokio::test]
async fn the_latest_commit_can_be_undone_and_that_too() {
    let (_home, memory, path) = home("a\r\n");
    let first = memory.commit(change(vec![add("b")])).await.unwrap().revision.unwrap();

    let undone = memory.undo(Target::Memory, &first, Origin::user()).await.unwrap();

    assert_eq!(fs::read_to_string(&path).unwrap(), "a\r\n");
    let again = undone.revision.unwrap();
    memory.undo(Target::Memory, &again, Origin::user()).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\n§\nb");
    let history = memory.history(Target::Memory, 2).await.unwrap();
    let summaries: Vec<&str> = history.iter().map(|it| it.summary.as_str()).collect();
    assert_eq!(summaries, [format!("undid {again}"), format!("undid {first}")]);
}

#[tokio::test]
async fn a_commit_under_a_later_one_cannot_be_undone() {
    let (_home, memory, _) = home("a");
    let first = memory.commit(change(vec![add("b")])).await.unwrap().revision.unwrap();
    let second = memory.commit(change(vec![add("c")])).await.unwrap().revision.unwrap();

    let undone = memory.undo(Target::Memory, &first, Origin::user()).await;
    let unknown = memory.undo(Target::User, &second, Origin::user()).await;

    assert!(matches!(undone, Err(MemoryError::Conflict { .. })), "{undone:?}");
    assert!(matches!(unknown, Err(MemoryError::NoRevision(id)) if id == second));
}

#[tokio::test]
async fn a_change_by_hand_keeps_a_commit_from_being_undone() {
    let (_home, memory, path) = home("a");
    let id = memory.commit(change(vec![add("b")])).await.unwrap().revision.unwrap();
    hermes_core::durable::replace(&path, b"by hand").unwrap();

    let undone = memory.undo(Target::Memory, &id, Origin::user()).await;

    assert!(matches!(undone, Err(MemoryError::Conflict { entries, .. }) if entries == ["by hand"]));
}

#[cfg(unix)]
#[tokio::test]
async fn a_linked_file_is_written_through_the_link() {
    let (home, memory, path) = home("");
    let target = home.path().join("dotfiles.md");
    hermes_core::durable::replace(&target, b"a").unwrap();
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("../dotfiles.md", &path).unwrap();

    memory.commit(change(vec![add("b")])).await.unwrap();

    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "a\n§\nb");
}

#[tokio::test]
async fn a_writer_that_never_ends_is_not_waited_for_without_end() {
    let (_home, memory, path) = home("a");
    let lock = path.with_extension("md.lock");
    let _held = hermes_core::durable::FileLock::acquire(&lock, Duration::ZERO).unwrap();
    let memory = memory.patience(Duration::from_millis(20));

    let err = memory.commit(change(vec![add("b")])).await.unwrap_err();

    assert!(matches!(err, MemoryError::Backend(_)), "{err:?}");
    assert_eq!(memory.read(Target::Memory).await.unwrap().value.entries, ["a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_at_the_same_time_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let writers = (0..4).map(|writer| {
        let memory = FileMemory::new(home.path()).patience(Duration::from_secs(60));
        async move {
            for number in 0..25 {
                memory.commit(change(vec![add(&format!("{writer}/{number}"))])).await.unwrap();
            }
        }
    });

    futures::future::join_all(writers).await;

    let memory = FileMemory::new(home.path());
    assert_eq!(memory.read(Target::Memory).await.unwrap().value.entries.len(), 100);
    assert_eq!(memory.history(Target::Memory, 1_000).await.unwrap().len(), 100);
}

#[tokio::test]
async fn an_entry_that_would_break_the_next_one_is_not_added_to() {
    let text = "fact a\n§\nfact b\n§";
    let (_home, memory, path) = home(text);

    let err = memory.commit(change(vec![add("New fact.")])).await.unwrap_err();

    assert!(matches!(err, MemoryError::Drift { .. }), "{err:?}");
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), backups(&path)), (text, 1));
    memory.commit(change(vec![remove("fact b")])).await.unwrap();
    memory.commit(change(vec![add("New fact.")])).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "fact a\n§\nNew fact.");
}

#[cfg(unix)]
#[tokio::test]
async fn a_device_in_the_place_of_the_file_is_an_error() {
    let (_home, memory, path) = home("");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();

    let err = memory.read(Target::Memory).await.unwrap_err();

    assert!(matches!(err, MemoryError::Unreadable { .. }), "{err:?}");
}

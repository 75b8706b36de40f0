use std::{fs, path::PathBuf};

use futures::FutureExt;
use tempfile::TempDir;

use super::*;
use crate::{
    durable,
    message::{Call, CallStatus},
    origin::Origin,
    store::SessionId,
};

struct Bench {
    _folder: TempDir,
    path: PathBuf,
    audit: JsonlAudit,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs/audit.jsonl");
        let audit = JsonlAudit::new(&path).durability(Durability::Process);
        Self { _folder: folder, path, audit }
    }

    async fn with(lines: usize) -> Self {
        let bench = Self::new();
        for at in 0..lines {
            bench.append(at).await.unwrap();
        }
        bench
    }

    async fn append(&self, at: usize) -> Result<(), AuditError> {
        self.audit.append(&[record(at)]).await
    }

    fn lines(&self) -> Vec<String> {
        fs::read_to_string(&self.path).unwrap().lines().map(str::to_owned).collect()
    }

    fn put(&self, lines: &[String]) {
        let text: String = lines.iter().flat_map(|line| [line.as_ref(), "\n"]).collect();
        self.put_bytes(text.as_bytes());
    }

    fn put_bytes(&self, bytes: &[u8]) {
        durable::replace(&self.path, bytes).unwrap();
    }

    fn verify(&self) -> Result<Verified, VerifyError> {
        verify(&self.path, None)
    }

    fn forget_head(&self) {
        fs::remove_file(verify::head_path(&self.path)).unwrap();
    }
}

fn record(at: usize) -> AuditRecord {
    let call = Call::new(format!("c{at}").as_str(), "ping", format!("{{\"at\":{at}}}"));
    let event = AuditEvent::call(&call, CallStatus::Done);
    AuditRecord::new(
        "2026-01-01T00:00:00.000000+00:00",
        SessionId::new("s"),
        1,
        Origin::user(),
        event,
    )
}

#[track_caller]
fn is_bad(found: Result<Verified, VerifyError>, expected: u64, because: Fault) {
    match found {
        Err(VerifyError::BadLine { line, fault }) => assert_eq!((line, fault), (expected, because)),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn is_short(found: Result<Verified, VerifyError>, expected: (u64, u64)) {
    match found {
        Err(VerifyError::Shortened { lines, expected: of }) => assert_eq!((lines, of), expected),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_untouched_log_is_accepted() {
    let bench = Bench::with(5).await;

    let verified = bench.verify().unwrap();

    assert_eq!((verified.head.lines, verified.anchored, verified.torn), (5, 5, 0));
    assert_eq!(verify(&bench.path, Some(verified.head)).unwrap(), verified);
    let first: AuditRecord = serde_json::from_str(&bench.lines()[0]).unwrap();
    assert_eq!(first, record(0));
}

#[tokio::test]
async fn records_of_one_append_are_lines_of_their_own() {
    let bench = Bench::new();

    bench.audit.append(&[record(0), record(1)]).await.unwrap();
    bench.audit.append(&[]).await.unwrap();

    assert_eq!(bench.verify().unwrap().head.lines, 2);
}

#[tokio::test]
async fn every_byte_that_is_changed_is_found_in_its_line() {
    let bench = Bench::with(3).await;
    let bytes = fs::read(&bench.path).unwrap();
    let second = bench.lines()[0].len() + 1;
    let end = second + bench.lines()[1].len();

    for at in second..end {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        bench.put_bytes(&changed);

        match bench.verify() {
            Err(VerifyError::BadLine { line: 2, .. }) => {}
            other => panic!("byte {at}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_line_that_is_removed_is_found_wherever_it_was() {
    let bench = Bench::with(4).await;
    let lines = bench.lines();

    for at in 0..4_u64 {
        let mut left = lines.clone();
        left.remove(usize::try_from(at).unwrap());
        bench.put(&left);

        if at == 3 {
            is_short(bench.verify(), (3, 4));
        } else {
            is_bad(bench.verify(), at + 1, Fault::OutOfPlace);
        }
    }
}

#[tokio::test]
async fn lines_that_are_moved_doubled_or_added_are_found() {
    let bench = Bench::with(4).await;
    let lines = bench.lines();

    let mut moved = lines.clone();
    moved.swap(1, 2);
    bench.put(&moved);
    is_bad(bench.verify(), 2, Fault::OutOfPlace);

    let mut doubled = lines.clone();
    doubled.insert(2, lines[1].clone());
    bench.put(&doubled);
    is_bad(bench.verify(), 3, Fault::OutOfPlace);

    let mut added = lines.clone();
    added.push("{}".to_owned());
    bench.put(&added);
    is_bad(bench.verify(), 5, Fault::NoRecord);

    let mut blank = lines;
    blank.insert(1, String::new());
    bench.put(&blank);
    is_bad(bench.verify(), 2, Fault::NoRecord);
}

/// Returns a chain of `count` lines that begins after `head`.
fn forged(mut head: Head, count: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for at in 0..count {
        let (line, next) = head.seal(&record(at + 90)).unwrap();
        lines.push(line);
        head = next;
    }
    lines
}

#[tokio::test]
async fn a_line_that_was_changed_with_its_hash_is_found_by_the_next() {
    let bench = Bench::with(4).await;
    let mut lines = bench.lines();
    let before = Head::at(lines[0].as_bytes()).unwrap();
    lines[1] = forged(before, 1).remove(0);
    bench.put(&lines);

    is_bad(bench.verify(), 3, Fault::OutOfPlace);
}

#[tokio::test]
async fn a_chain_that_was_written_anew_is_found_by_an_anchor() {
    let bench = Bench::with(4).await;
    let anchor = bench.verify().unwrap().head;
    let mut lines = bench.lines();
    let before = Head::at(lines[1].as_bytes()).unwrap();
    lines.truncate(2);
    lines.extend(forged(before, 3));
    bench.put(&lines);

    is_bad(bench.verify(), 4, Fault::NotAnchored);
    bench.forget_head();
    assert_eq!(bench.verify().unwrap().anchored, 0);
    is_bad(verify(&bench.path, Some(anchor)), 4, Fault::NotAnchored);
}

#[tokio::test]
async fn a_log_that_was_shortened_or_removed_is_found_and_not_gone_on_with() {
    let bench = Bench::with(4).await;
    let anchor = bench.verify().unwrap().head;

    bench.put(&bench.lines()[..2]);
    is_short(bench.verify(), (2, 4));
    let err = bench.append(9).await.unwrap_err();
    assert!(matches!(err, AuditError::Broken { .. }), "{err:?}");
    is_short(bench.verify(), (2, 4));

    fs::remove_file(&bench.path).unwrap();
    is_short(bench.verify(), (0, 4));
    bench.forget_head();
    assert_eq!(bench.verify().unwrap().head, Head::default());
    is_short(verify(&bench.path, Some(anchor)), (0, 4));
}

#[tokio::test]
async fn a_log_whose_last_line_was_changed_is_not_gone_on_with() {
    let bench = Bench::with(2).await;
    let mut lines = bench.lines();
    lines[1] = lines[1].replace("ping", "pong");
    bench.put(&lines);

    let err = bench.append(9).await.unwrap_err();

    assert!(crate::agent::describe(&err).contains("its last line was changed"), "{err}");
    assert_eq!(bench.lines(), lines);
}

#[tokio::test]
async fn half_a_line_is_recovered_from_wherever_it_was_cut() {
    let bench = Bench::with(3).await;
    let whole = fs::read(&bench.path).unwrap();
    let before = whole.len() - bench.lines()[2].len() - 1;
    let head = Head::at(bench.lines()[1].as_bytes()).unwrap();

    for cut in before + 1..whole.len() {
        // As a process leaves it that is killed while it writes: the head is behind.
        bench.put_bytes(&whole[..cut]);
        durable::replace(&verify::head_path(&bench.path), format!("{head}\n").as_bytes()).unwrap();
        let torn = bench.verify().unwrap();
        assert_eq!((torn.head.lines, torn.torn), (2, u64::try_from(cut - before).unwrap()));

        bench.append(7).await.unwrap();

        let events = bench.lines().iter().map(|it| serde_json::from_str(it).unwrap()).collect();
        let events: Vec<AuditRecord> = events;
        if cut + 1 == whole.len() {
            assert_eq!(events[2], record(2));
        } else {
            let AuditEvent::Recovered { bytes, .. } = events[2].event else { panic!("{events:?}") };
            assert_eq!(bytes, torn.torn);
        }
        assert_eq!(events[3], record(7));
        assert_eq!(bench.verify().unwrap().head.lines, 4);
    }
}

#[tokio::test]
async fn a_log_that_was_cut_within_a_line_its_head_knows_is_found() {
    let bench = Bench::with(3).await;
    let bytes = fs::read(&bench.path).unwrap();
    bench.put_bytes(&bytes[..bytes.len() - 10]);

    is_short(bench.verify(), (2, 3));
    assert!(bench.append(9).await.is_err());
}

#[tokio::test]
async fn a_head_that_is_behind_lost_or_half_is_passed_over() {
    let bench = Bench::with(3).await;
    let head = verify::head_path(&bench.path);

    for text in ["", "0000000000000000", "rubbish"] {
        durable::replace(&head, text.as_bytes()).unwrap();
        assert_eq!(bench.verify().unwrap().anchored, 0);
    }
    let old = Head::at(bench.lines()[0].as_bytes()).unwrap();
    durable::replace(&head, old.to_string().as_bytes()).unwrap();
    assert_eq!(bench.verify().unwrap().anchored, 1);

    bench.append(3).await.unwrap();

    assert_eq!(bench.verify().unwrap().anchored, 4);
}

#[tokio::test]
async fn long_lines_are_found_again() {
    let bench = Bench::new();
    let mut long = record(0);
    long.at = "x".repeat(200_000);

    for _ in 0..3 {
        bench.audit.append(std::slice::from_ref(&long)).await.unwrap();
    }

    assert_eq!(bench.verify().unwrap().head.lines, 3);
}

#[tokio::test]
async fn a_log_that_cannot_be_written_is_an_error_that_names_it() {
    let bench = Bench::new();
    fs::create_dir_all(&bench.path).unwrap();

    let err = bench.append(0).await.unwrap_err();

    assert!(err.to_string().contains("audit.jsonl"), "{err}");
    assert!(bench.verify().is_err());
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt;

    let bench = Bench::with(1).await;

    for path in [bench.path.clone(), verify::head_path(&bench.path)] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn it_works_without_a_runtime() {
    let bench = Bench::new();

    bench.append(0).now_or_never().unwrap().unwrap();

    assert_eq!(bench.verify().unwrap().head.lines, 1);
}

#[tokio::test]
async fn a_line_that_says_not_yet_who_decided_is_accepted_and_goes_on() {
    let bench = Bench::new();
    let old = r#"{"seq":1,"prev":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","at":"2026-01-01T00:00:00.000000+00:00","session":"s","turn":1,"origin":{"kind":"user"},"event":{"approval":{"id":"c0","tool":"deploy","decision":"allowed","reasons":["Every call of \"deploy\" needs approval."]}},"hash":"ad167e887debad165df2264b4c9286badb6dcd9f7b78829e28d8e437105a4dac"}"#;
    fs::create_dir_all(bench.path.parent().unwrap()).unwrap();
    bench.put(&[old.to_owned()]);

    let read: AuditRecord = serde_json::from_str(old).unwrap();
    let AuditEvent::Approval { by, grants, .. } = &read.event else { panic!("{read:?}") };
    assert_eq!((by, grants.len()), (&None, 0));
    let by = read.event.clone().by("sam; token=abc");
    bench.audit.append(&[AuditRecord { event: by, ..read }]).await.unwrap();

    assert_eq!(bench.verify().unwrap().head.lines, 2);
    assert!(bench.lines()[1].contains(r#""by":"sam; token=[redacted:secret]""#));
}

#[tokio::test]
async fn a_record_that_is_too_long_for_a_line_is_refused_and_the_log_stays_whole() {
    let bench = Bench::with(1).await;
    let mut huge = record(1);
    if let AuditEvent::Call { arguments, .. } = &mut huge.event {
        *arguments = "x".repeat(1 << 20);
    }

    let err = bench.audit.append(&[huge]).await.unwrap_err();

    assert!(matches!(err, AuditError::Io { .. }), "{err:?}");
    bench.append(2).await.unwrap();
    assert_eq!(bench.verify().unwrap().head.lines, 2);
}

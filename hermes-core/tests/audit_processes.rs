//! Several processes append to one audit log, and some are killed while they do.

#![expect(clippy::unwrap_used, reason = "tests")]

mod child;

use std::{fs, path::Path, process::Child, thread, time::Duration};

use hermes_core::{
    audit::{AuditEvent, AuditRecord, AuditSink, Durability, JsonlAudit, verify},
    message::{Call, CallStatus},
    origin::Origin,
    store::SessionId,
};

/// Names the log to a process that appends to it.
const LOG: &str = "HERMES_AUDIT_LOG";
/// How many records one that ends by itself appends.
const RECORDS: usize = 60;

fn record(process: &str, at: usize) -> AuditRecord {
    let call = Call::new(format!("c{at}").as_str(), "echo", format!("\"{}\"", "x".repeat(1_900)));
    let event = AuditEvent::call(&call, CallStatus::Done);
    let at = "2026-01-01T00:00:00.000000+00:00";
    AuditRecord::new(at, SessionId::new(process), 1, Origin::user(), event)
}

fn audit(path: impl AsRef<Path>) -> JsonlAudit {
    JsonlAudit::new(path.as_ref()).durability(Durability::Process).patience(Duration::from_secs(60))
}

/// Appends `RECORDS` records. It is a test only so that this program can start it.
#[tokio::test]
#[ignore = "started by the other tests"]
async fn append_some() {
    let Some(path) = std::env::var_os(LOG) else { return };
    let (audit, name) = (audit(Path::new(&path)), std::process::id().to_string());
    for at in 0..RECORDS {
        audit.append(&[record(&name, at)]).await.unwrap();
    }
}

/// Appends until it is killed, several records at once.
#[tokio::test]
#[ignore = "started by the other tests"]
async fn append_for_ever() {
    let Some(path) = std::env::var_os(LOG) else { return };
    let audit = audit(Path::new(&path));
    let records: Vec<AuditRecord> = (0..20).map(|at| record("killed", at)).collect();
    audit.append(&records).await.unwrap();
    child::say_ready(Path::new(&path).parent().unwrap());
    loop {
        audit.append(&records).await.unwrap();
    }
}

fn start(test: &str, log: &Path) -> Child {
    child::start(test, [(LOG, log.as_os_str())])
}

#[test]
fn no_record_is_lost_and_none_is_torn_where_several_append() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");

    let mut children: Vec<Child> = (0..3).map(|_| start("append_some", &log)).collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }

    let verified = verify(&log, None).unwrap();
    let lines = u64::try_from(3 * RECORDS).unwrap();
    assert_eq!((verified.head.lines, verified.anchored, verified.torn), (lines, lines, 0));
    let text = fs::read_to_string(&log).unwrap();
    for child in &children {
        let own = format!("\"session\":\"{}\"", child.id());
        assert_eq!(text.lines().filter(|line| line.contains(&own)).count(), RECORDS);
    }
}

#[tokio::test]
async fn whatever_moment_a_writer_is_killed_at_the_log_is_accepted_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    let mut before = 0;

    for round in 0..10 {
        let mut child = start("append_for_ever", &log);
        child::wait_until_under_way(&mut child, folder.path());
        thread::sleep(Duration::from_millis(9 * round));
        child::kill(&mut child);

        let verified = verify(&log, None).unwrap();
        assert!(before <= verified.head.lines, "lines were lost");
        audit(&log).append(&[record("mine", 0)]).await.unwrap();
        let after = verify(&log, None).unwrap();
        assert!(verified.head.lines < after.head.lines);
        assert_eq!((after.torn, after.anchored), (0, after.head.lines));
        before = after.head.lines;
    }
    assert!(20 < before, "nothing was ever written");
}

//! The schema, step by step.

use rusqlite::{Connection, TransactionBehavior};

use super::fault::Fault;

/// Marks a database as ours (`hrms`).
const APPLICATION: i32 = 0x6872_6d73;

/// What leads from one version of the schema to the next.
const STEPS: [&str; 1] = ["
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        source TEXT NOT NULL,
        state TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        updated_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- fate: 0 in the conversation, 1 compacted away, 2 taken back by the user.
    CREATE TABLE messages (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        session TEXT NOT NULL REFERENCES sessions (id),
        place INTEGER NOT NULL,
        id INTEGER NOT NULL,
        role TEXT NOT NULL,
        data TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        fate INTEGER NOT NULL DEFAULT 0
    ) STRICT;

    CREATE INDEX messages_in_order ON messages (session, fate, place);
"];

/// Readies a connection and brings the schema up to date. The database of another program is left as
/// it is.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), Fault> {
    check_ours(connection)?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    // Some network file systems have no WAL; SQLite then keeps the mode it has.
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = usize::try_from(version).ok().and_then(|version| STEPS.get(version..));
    let Some(steps) = known else {
        return Err(Fault::Other(
            format!("the database has schema {version}, newer than this version knows").into(),
        ));
    };
    if !steps.is_empty() {
        for step in steps {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "user_version", i64::try_from(STEPS.len()).unwrap_or(0))?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
    }
    transaction.commit()?;
    super::index::create(connection)
}

/// Checks that the database is ours, or nobody's yet.
fn check_ours(connection: &Connection) -> Result<(), Fault> {
    let application: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match application {
        APPLICATION => Ok(()),
        0 if tables == 0 => Ok(()),
        _ => Err(Fault::Other(
            "it is the database of another program: give the conversations a file of their own"
                .into(),
        )),
    }
}

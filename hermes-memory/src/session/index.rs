//! The two full-text indexes: of words, and of pairs of characters for scripts without spaces.
//!
//! Neither keeps a copy of the text. Both can be made from the messages at any time, and are when
//! they turn out to be damaged or incomplete: a broken index never keeps a message from being stored.

use std::collections::BTreeMap;

use hermes_core::{
    message::{MessageBody, Part, Role},
    store::SessionId,
};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{
    fault::Fault,
    query::{Hits, Term},
    segment,
};

/// Characters of a tool's result that can be found.
const RESULT_CHARS: usize = 8_000;

const TABLES: &str = "
    CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(body, content = '');
    CREATE VIRTUAL TABLE IF NOT EXISTS pairs USING fts5(body, content = '');
";

/// Creates the indexes if they are not there.
pub(super) fn create(connection: &Connection) -> Result<(), Fault> {
    Ok(connection.execute_batch(TABLES)?)
}

/// Returns what can be found of a message: what was said, and the beginning of results.
pub(super) fn text(message: &MessageBody) -> String {
    let said = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Result(result) => match result.content.char_indices().nth(RESULT_CHARS) {
            Some((end, _)) => result.content.get(..end),
            None => Some(result.content.as_str()),
        },
        _ => None,
    });
    said.collect::<Vec<_>>().join(" ")
}

/// Returns the name of a role in the database.
pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        _ => "other",
    }
}

/// Adds a message to the indexes.
pub(super) fn add(connection: &Connection, number: i64, text: &str) -> Result<(), Fault> {
    let mut words = connection.prepare_cached("INSERT INTO words (rowid, body) VALUES (?1, ?2)")?;
    words.execute(params![number, text])?;
    if let Some(pairs) = segment::pairs(text) {
        let mut insert =
            connection.prepare_cached("INSERT INTO pairs (rowid, body) VALUES (?1, ?2)")?;
        insert.execute(params![number, pairs])?;
    }
    Ok(())
}

/// Takes the messages of a session out of the indexes. A damaged index is left to be made anew.
pub(super) fn forget(transaction: &mut Transaction<'_>, session: &SessionId) -> Result<(), Fault> {
    let savepoint = transaction.savepoint()?;
    if forget_each(&savepoint, session).is_ok() {
        return Ok(savepoint.commit()?);
    }
    let mut savepoint = savepoint;
    Ok(savepoint.rollback()?)
}

fn forget_each(connection: &Connection, session: &SessionId) -> Result<(), Fault> {
    let mut select =
        connection.prepare_cached("SELECT number, data FROM messages WHERE session = ?1")?;
    let mut words = connection
        .prepare_cached("INSERT INTO words (words, rowid, body) VALUES ('delete', ?1, ?2)")?;
    let mut pairs = connection
        .prepare_cached("INSERT INTO pairs (pairs, rowid, body) VALUES ('delete', ?1, ?2)")?;
    let mut rows = select.query([session.as_str()])?;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        let message: MessageBody = serde_json::from_str(row.get_ref(1)?.as_str().unwrap_or(""))?;
        let text = text(&message);
        words.execute(params![number, text])?;
        if let Some(dense) = segment::pairs(&text) {
            pairs.execute(params![number, dense])?;
        }
    }
    Ok(())
}

/// Makes the indexes anew from the messages.
pub(super) fn rebuild(connection: &mut Connection) -> Result<(), Fault> {
    let transaction = connection.transaction()?;
    transaction.execute_batch("DROP TABLE IF EXISTS words; DROP TABLE IF EXISTS pairs;")?;
    transaction.execute_batch(TABLES)?;
    {
        let mut select = transaction.prepare("SELECT number, data FROM messages")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let message: MessageBody =
                serde_json::from_str(row.get_ref(1)?.as_str().unwrap_or(""))?;
            add(&transaction, row.get(0)?, &text(&message))?;
        }
    }
    Ok(transaction.commit()?)
}

/// Returns where each of `terms` stands, mending the indexes if that turns out to be necessary.
pub(super) fn lookup(connection: &mut Connection, terms: &[Term]) -> Result<Vec<Hits>, Fault> {
    let all = |connection: &Connection| -> Result<Vec<Hits>, Fault> {
        terms.iter().map(|term| hits(connection, term)).collect()
    };
    if is_complete(connection).unwrap_or(false)
        && let Ok(found) = all(connection)
    {
        return Ok(found);
    }
    rebuild(connection)?;
    all(connection)
}

/// Returns whether the index of words has as many messages as there are.
fn is_complete(connection: &Connection) -> Result<bool, Fault> {
    let mut counts = connection.prepare_cached(
        "SELECT (SELECT count(*) FROM messages) = (SELECT count(*) FROM words_docsize)
            AND EXISTS (SELECT 1 FROM words_data WHERE id = 10)
            AND EXISTS (SELECT 1 FROM pairs_data WHERE id = 10)",
    )?;
    Ok(counts.query_row([], |row| row.get(0))?)
}

fn hits(connection: &Connection, term: &Term) -> Result<Hits, Fault> {
    let (phrase, is_single) = segment::phrase(&term.text);
    let mut found = matches(connection, Index::Pairs, &phrase, term.is_prefix || is_single)?;
    if !term.is_dense() {
        found.extend(matches(connection, Index::Words, &term.text, term.is_prefix)?);
        return Ok(found);
    }
    if term.has_signs() {
        retain_literal(connection, &mut found, &term.text)?;
    }
    Ok(found)
}

#[derive(Clone, Copy)]
enum Index {
    Words,
    Pairs,
}

fn matches(
    connection: &Connection,
    index: Index,
    phrase: &str,
    is_prefix: bool,
) -> Result<Hits, Fault> {
    let sql = match index {
        Index::Words => "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?1",
        Index::Pairs => "SELECT rowid, bm25(pairs) FROM pairs WHERE pairs MATCH ?1",
    };
    let phrase = phrase.replace('"', "\"\"");
    let expression = format!("\"{phrase}\"{}", if is_prefix { " *" } else { "" });
    let mut select = connection.prepare_cached(sql)?;
    let rows = select.query_map([expression], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<BTreeMap<i64, f64>, _>>()?)
}

/// Keeps the messages that have `term` sign for sign, which the index cannot tell.
fn retain_literal(connection: &Connection, found: &mut Hits, term: &str) -> Result<(), Fault> {
    let term = term.to_lowercase();
    let mut select = connection.prepare_cached("SELECT data FROM messages WHERE number = ?1")?;
    let mut literal = Hits::new();
    for (number, score) in found.iter() {
        let data: Option<String> = select.query_row([number], |row| row.get(0)).optional()?;
        // Another process may have deleted it since it was found.
        let Some(data) = data else { continue };
        if text(&serde_json::from_str(&data)?).to_lowercase().contains(&term) {
            literal.insert(*number, *score);
        }
    }
    *found = literal;
    Ok(())
}

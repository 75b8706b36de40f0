//! The store.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use hermes_core::{
    clock::{Clock, SystemClock},
    durable::FileLock,
    message::{Message, MessageId, Role},
    store::{
        SearchHit, SessionId, SessionLock, SessionState, SessionStore, StoreError, StoredSession,
    },
    version::Version,
};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use tokio::runtime::Handle;

use super::{fault::Fault, index, migrate, query::Query, snippet};

/// Conversations in a SQLite database of our own, searchable in full text.
///
/// Every message is stored once, value for value. What a compaction replaces stays searchable; what
/// the user took back with [`rewind`](Self::rewind) does not. The full-text indexes hold no text and
/// are made anew when they are damaged; a damaged index never keeps a message from being stored.
///
/// # Queries
///
/// Words must all occur; if no message has all of them, those with most come first. `"a phrase"`,
/// `prefix*`, `AND`, `OR` and `NOT` are understood, and no query is an error. Chinese, Japanese and
/// Korean are found from one character on, also next to Latin letters. Conversations of scheduled
/// runs (source `cron`) come after those with people.
///
/// Blocking work runs on tokio's blocking threads, one statement after the other; several processes
/// may open the same file. Cloning it is cheap.
///
/// # Examples
///
/// ```
/// use hermes_core::{message::Message, store::{SessionId, SessionState, SessionStore}};
/// use hermes_memory::SqliteSessions;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let home = tempfile::tempdir()?;
/// let sessions = SqliteSessions::open(home.path().join("sessions.db")).await?;
/// let id = SessionId::new("monday");
///
/// let said = [Message::user("deploy the shop"), Message::assistant("done")];
/// sessions.append(&id, 0, &said, &SessionState::default()).await?;
///
/// let hits = sessions.search("shop", 5).await?;
/// assert_eq!(hits[0].snippet, "deploy the shop");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SqliteSessions {
    connection: Arc<Mutex<Connection>>,
    path: PathBuf,
    source: Arc<str>,
    clock: Arc<dyn Clock>,
}

/// What a search looks at, and in which order it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchOptions {
    /// The roles whose messages count; all if there are none.
    pub roles: Vec<Role>,
    /// The sources whose sessions count; all if `None`.
    pub sources: Option<Vec<String>>,
    /// Sources whose sessions do not count.
    pub excluded_sources: Vec<String>,
    /// Sources whose hits come after all others.
    pub background_sources: Vec<String>,
    /// In which order.
    pub order: Order,
    /// Hits to leave out at the start.
    pub offset: usize,
    /// Hits at most.
    pub limit: usize,
    /// Whether messages count that the user took back.
    pub with_rewound: bool,
}

/// The order of hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// The best first.
    #[default]
    Best,
    /// The latest first.
    Newest,
    /// The earliest first.
    Oldest,
}

impl Default for SearchOptions {
    /// User and assistant messages of all sources, the best 20 first, scheduled runs last.
    fn default() -> Self {
        Self {
            roles: vec![Role::User, Role::Assistant],
            sources: None,
            excluded_sources: Vec::new(),
            background_sources: vec!["cron".to_owned()],
            order: Order::Best,
            offset: 0,
            limit: 20,
            with_rewound: false,
        }
    }
}

impl SqliteSessions {
    /// Opens the database at `path`, creating it and its folder.
    ///
    /// # Errors
    ///
    /// [`StoreError::Backend`] if it cannot be opened, is not ours, or is of a later version.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        let connection = {
            let path = path.clone();
            blocking(move || connect(&path)).await?
        };
        Ok(Self {
            connection: Arc::new(Mutex::new(connection)),
            path,
            source: Arc::from("cli"),
            clock: Arc::new(SystemClock),
        })
    }

    /// Returns a handle on the same database whose new sessions are of `source`, such as `cron`;
    /// `cli` otherwise.
    #[must_use]
    pub fn for_source(&self, source: impl Into<Arc<str>>) -> Self {
        Self { source: source.into(), ..self.clone() }
    }

    /// Sets what dates sessions and messages; the machine's clock by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Returns where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes back the messages of a session from the one at `keep` on, counted from 0. They stay in
    /// the database and are not found any more.
    ///
    /// # Errors
    ///
    /// [`StoreError::Backend`] if the database cannot be written.
    pub async fn rewind(&self, id: &SessionId, keep: usize) -> Result<(), StoreError> {
        let id = id.clone();
        self.run(move |connection| {
            connection.execute(
                "UPDATE messages SET fate = 2 WHERE session = ?1 AND fate = 0 AND ?2 <= place",
                params![id.as_str(), count(keep)],
            )?;
            Ok(())
        })
        .await
    }

    /// Returns what `query` finds, within the bounds of `options`.
    ///
    /// # Errors
    ///
    /// [`StoreError::Backend`] if the database cannot be read. No query is an error.
    pub async fn find(
        &self,
        query: &str,
        options: SearchOptions,
    ) -> Result<Vec<SearchHit>, StoreError> {
        let query = Query::parse(query);
        self.run(move |connection| find(connection, &query, &options)).await
    }

    /// Runs `work` on the connection where blocking is allowed. It runs to its end also if the caller
    /// stops waiting.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let connection = Arc::clone(&self.connection);
        blocking(move || work(&mut connection.lock().unwrap_or_else(PoisonError::into_inner))).await
    }

    fn write(&self, id: &SessionId, state: &SessionState) -> Result<Write, StoreError> {
        let state = serde_json::to_string(state).map_err(|err| StoreError::Backend(err.into()))?;
        let now = self.clock.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let at_ms = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        Ok(Write { id: id.clone(), source: Arc::clone(&self.source), state, at_ms })
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, StoreError> {
    let runtime = Handle::try_current().map_err(|err| StoreError::Backend(err.into()))?;
    let done = runtime.spawn_blocking(work).await;
    Ok(done.map_err(|err| StoreError::Backend(err.into()))??)
}

fn connect(path: &Path) -> Result<Connection, Fault> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut connection = Connection::open(path)?;
    migrate::prepare(&mut connection)?;
    Ok(connection)
}

#[async_trait]
impl SessionStore for SqliteSessions {
    async fn load(&self, id: &SessionId) -> Result<Option<StoredSession>, StoreError> {
        let id = id.clone();
        self.run(move |connection| load(connection, &id)).await
    }

    async fn append(
        &self,
        id: &SessionId,
        expected: usize,
        messages: &[Message],
        state: &SessionState,
    ) -> Result<(), StoreError> {
        let (write, messages) = (self.write(id, state)?, messages.to_vec());
        self.run(move |connection| {
            write.transact(connection, expected, |transaction| {
                write.insert(transaction, expected, &messages)
            })
        })
        .await
    }

    async fn compact(
        &self,
        id: &SessionId,
        expected: usize,
        messages: &[Message],
        state: &SessionState,
    ) -> Result<(), StoreError> {
        let (write, messages) = (self.write(id, state)?, messages.to_vec());
        self.run(move |connection| {
            write
                .transact(connection, expected, |transaction| write.replace(transaction, &messages))
        })
        .await
    }

    async fn search(&self, query: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        self.find(query, SearchOptions { limit, ..SearchOptions::default() }).await
    }

    async fn lock(&self, id: &SessionId) -> Result<SessionLock, StoreError> {
        let name: String = Version::of(id.as_str()).to_string().chars().take(32).collect();
        let path = self.path.with_extension("locks").join(name);
        let held = blocking(move || Ok(FileLock::try_acquire(&path)?)).await?;
        held.map(SessionLock::new).ok_or_else(|| StoreError::Locked(id.clone()))
    }
}

/// A change of a session.
struct Write {
    id: SessionId,
    source: Arc<str>,
    state: String,
    at_ms: i64,
}

impl Write {
    /// Checks the number of messages, makes the change and stores the state, as one step.
    fn transact(
        &self,
        connection: &mut Connection,
        expected: usize,
        change: impl FnOnce(&mut Transaction<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let actual: i64 = transaction.query_row(
            "SELECT count(*) FROM messages WHERE session = ?1 AND fate = 0",
            [self.id.as_str()],
            |row| row.get(0),
        )?;
        if actual != count(expected) {
            let actual = usize::try_from(actual).unwrap_or(usize::MAX);
            return Err(StoreError::Conflict { id: self.id.clone(), expected, actual }.into());
        }
        transaction.execute(
            "INSERT INTO sessions VALUES (?1, ?2, ?3, ?4, ?4)
             ON CONFLICT (id) DO UPDATE SET state = ?3, updated_ms = ?4",
            params![self.id.as_str(), &*self.source, self.state, self.at_ms],
        )?;
        change(&mut transaction)?;
        Ok(transaction.commit()?)
    }

    fn insert(
        &self,
        transaction: &mut Transaction<'_>,
        start: usize,
        messages: &[Message],
    ) -> Result<(), Fault> {
        for (place, message) in (start..).zip(messages) {
            self.insert_one(transaction, place, message)?;
        }
        Ok(())
    }

    fn insert_one(
        &self,
        transaction: &mut Transaction<'_>,
        place: usize,
        message: &Message,
    ) -> Result<(), Fault> {
        let data = serde_json::to_string(message)?;
        let (id, role) = (stored_id(message.id), index::role_name(message.role));
        transaction
            .prepare_cached(
                "INSERT INTO messages (session, place, id, role, data, at_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![self.id.as_str(), count(place), id, role, data, self.at_ms])?;
        let number = transaction.last_insert_rowid();
        let savepoint = transaction.savepoint()?;
        if index::add(&savepoint, number, &index::text(message)).is_ok() {
            savepoint.commit()?;
        } else {
            // The next search sees that the message is missing and makes the index anew.
            let mut savepoint = savepoint;
            savepoint.rollback()?;
        }
        Ok(())
    }

    /// Lets `messages` take the place of what is there; a message that is among both stays as it is.
    fn replace(
        &self,
        transaction: &mut Transaction<'_>,
        messages: &[Message],
    ) -> Result<(), Fault> {
        transaction.execute(
            "UPDATE messages SET fate = 1, place = -1 - place WHERE session = ?1 AND fate = 0",
            [self.id.as_str()],
        )?;
        for (place, message) in messages.iter().enumerate() {
            let kept = transaction
                .prepare_cached(
                    "UPDATE messages SET fate = 0, place = ?1 WHERE number = (
                         SELECT max(number) FROM messages
                         WHERE session = ?2 AND fate = 1 AND id = ?3 AND data = ?4)",
                )?
                .execute(params![
                    count(place),
                    self.id.as_str(),
                    stored_id(message.id),
                    serde_json::to_string(message)?,
                ])?;
            if kept == 0 {
                self.insert_one(transaction, place, message)?;
            }
        }
        Ok(())
    }
}

fn load(connection: &Connection, id: &SessionId) -> Result<Option<StoredSession>, Fault> {
    let state: Option<String> = connection
        .query_row("SELECT state FROM sessions WHERE id = ?1", [id.as_str()], |row| row.get(0))
        .optional()?;
    let Some(state) = state else { return Ok(None) };
    let mut select = connection.prepare_cached(
        "SELECT data FROM messages WHERE session = ?1 AND fate = 0 ORDER BY place",
    )?;
    let mut rows = select.query([id.as_str()])?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        let data: String = row.get(0)?;
        messages.push(serde_json::from_str(&data)?);
    }
    Ok(Some(StoredSession::new(messages, serde_json::from_str(&state)?)))
}

fn find(
    connection: &mut Connection,
    query: &Query,
    options: &SearchOptions,
) -> Result<Vec<SearchHit>, Fault> {
    let wanted = options.offset.saturating_add(options.limit);
    if query.terms.is_empty() || options.limit == 0 {
        return Ok(Vec::new());
    }
    let mut ranked = query.rank(&index::lookup(connection, &query.terms)?);
    match options.order {
        Order::Best => {}
        Order::Oldest => ranked.sort_unstable(),
        Order::Newest => ranked.sort_unstable_by_key(|number| std::cmp::Reverse(*number)),
    }
    let (mut hits, mut background, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for number in ranked {
        let Some((hit, is_background)) = hit(connection, number, query, options)? else { continue };
        // A message that a compaction has changed is there twice.
        if !seen.insert((hit.session.clone(), hit.message)) {
            continue;
        }
        if is_background {
            background.push(hit)
        } else {
            hits.push(hit)
        }
        if wanted <= hits.len() {
            break;
        }
    }
    hits.extend(background);
    Ok(hits.into_iter().skip(options.offset).take(options.limit).collect())
}

/// Returns the hit at message `number` if it counts, and whether it comes after the others.
fn hit(
    connection: &Connection,
    number: i64,
    query: &Query,
    options: &SearchOptions,
) -> Result<Option<(SearchHit, bool)>, Fault> {
    let mut select = connection.prepare_cached(
        "SELECT m.session, m.data, m.at_ms, m.fate, s.source
         FROM messages m JOIN sessions s ON s.id = m.session WHERE m.number = ?1",
    )?;
    type Row = (String, String, i64, i64, String);
    let row: Option<Row> = select
        .query_row([number], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
        })
        .optional()?;
    let Some((session, data, at_ms, fate, source)) = row else { return Ok(None) };
    let message: Message = serde_json::from_str(&data)?;
    let counts = (options.roles.is_empty() || options.roles.contains(&message.role))
        && (options.with_rewound || fate != REWOUND)
        && options.sources.as_ref().is_none_or(|sources| sources.contains(&source))
        && !options.excluded_sources.contains(&source);
    Ok(counts.then(|| {
        let passage = snippet::around(&index::text(&message), &query.terms);
        let mut hit = SearchHit::new(SessionId::new(session), message.id, message.role, passage);
        let at = u64::try_from(at_ms).ok().map(Duration::from_millis);
        hit.at = at.and_then(|at| SystemTime::UNIX_EPOCH.checked_add(at));
        (hit, options.background_sources.contains(&source))
    }))
}

/// The fate of a message that the user took back.
const REWOUND: i64 = 2;

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn stored_id(id: MessageId) -> i64 {
    i64::try_from(id.0).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use hermes_core::testing::conformance;
    use tempfile::TempDir;

    use super::*;

    async fn store() -> (TempDir, SqliteSessions) {
        let home = tempfile::tempdir().unwrap();
        let store = SqliteSessions::open(home.path().join("db/sessions.db")).await.unwrap();
        (home, store)
    }

    async fn say(store: &SqliteSessions, session: &str, texts: &[&str]) {
        let id = SessionId::new(session);
        let before = store.load(&id).await.unwrap().map_or(0, |it| it.messages.len());
        let messages: Vec<Message> = (before + 1..)
            .zip(texts)
            .map(|(number, text)| Message::user(*text).with_id(MessageId(number as u64)))
            .collect();
        store.append(&id, before, &messages, &SessionState::default()).await.unwrap();
    }

    async fn sessions(store: &SqliteSessions, query: &str) -> Vec<String> {
        let hits = store.search(query, 50).await.unwrap();
        hits.into_iter().map(|hit| hit.session.as_str().to_owned()).collect()
    }

    #[tokio::test]
    async fn it_keeps_the_contract_of_a_session_store() {
        let (_home, store) = store().await;

        conformance::session_store(&store).await;
    }

    #[tokio::test]
    async fn what_was_stored_is_there_after_opening_again() {
        let (_home, store) = store().await;
        say(&store, "a", &["hello"]).await;

        let again = SqliteSessions::open(store.path()).await.unwrap();

        let id = SessionId::new("a");
        assert_eq!(again.load(&id).await.unwrap(), store.load(&id).await.unwrap());
        assert_eq!(sessions(&again, "hello").await, ["a"]);
    }

    #[tokio::test]
    async fn dense_scripts_are_found_from_one_character_on() {
        let (_home, store) = store().await;
        say(&store, "zh", &["上周我们整理了发票归档流程和西湖散步路线", "更新zephyr主机的配置"])
            .await;
        say(&store, "ko", &["진행률 완료 100% 확인"]).await;

        assert_eq!(sessions(&store, "苏州 OR 西湖").await, ["zh"]);
        assert_eq!(sessions(&store, "线").await, ["zh"]);
        assert_eq!(sessions(&store, "湖").await, ["zh"]);
        assert_eq!(sessions(&store, "发票归档").await, ["zh"]);
        assert_eq!(sessions(&store, "zephyr").await, ["zh"]);
        assert_eq!(sessions(&store, "西湖*").await, ["zh"]);
        assert_eq!(sessions(&store, "완료_").await, Vec::<String>::new());
        assert_eq!(sessions(&store, "확% ").await, Vec::<String>::new());
        assert_eq!(sessions(&store, "西湖 NOT 发票").await, Vec::<String>::new());
    }

    #[tokio::test]
    async fn what_was_taken_back_is_not_found() {
        let (_home, store) = store().await;
        say(&store, "a", &["kept", "秘密 secretword"]).await;

        store.rewind(&SessionId::new("a"), 1).await.unwrap();

        assert_eq!(sessions(&store, "秘密").await, Vec::<String>::new());
        assert_eq!(sessions(&store, "secretword").await, Vec::<String>::new());
        assert_eq!(sessions(&store, "kept").await, ["a"]);
        say(&store, "a", &["another way"]).await;
        assert_eq!(store.load(&SessionId::new("a")).await.unwrap().unwrap().messages.len(), 2);
    }

    #[tokio::test]
    async fn people_come_before_schedules() {
        let (_home, store) = store().await;
        let scheduled = store.for_source("cron");
        for number in 0..12 {
            say(&scheduled, &format!("k{number}"), &["backup report backup report"]).await;
        }
        say(&store, "u1", &["why did the nightly backup fail, show me the report"]).await;

        let found = sessions(&store, "backup report").await;

        assert_eq!(found.len(), 13);
        assert_eq!(found.first().map(String::as_str), Some("u1"));
    }

    #[tokio::test]
    async fn a_damaged_index_is_made_anew_and_no_message_is_lost() {
        let (_home, store) = store().await;
        say(&store, "a", &["the first line", "二番目の行"]).await;
        for tables in [
            "DELETE FROM words_data; DELETE FROM words_idx; DELETE FROM words_docsize;
             DELETE FROM pairs_data; DELETE FROM pairs_idx; DELETE FROM pairs_docsize;",
            "DELETE FROM words_data; DELETE FROM pairs_idx;",
            "DELETE FROM words_docsize;",
            "DROP TABLE words; DROP TABLE pairs;",
        ] {
            store.run(move |it| Ok(it.execute_batch(tables)?)).await.unwrap();

            say(&store, "b", &["a fresh line"]).await;

            assert_eq!(sessions(&store, "fresh").await.first().unwrap(), "b", "{tables}");
            assert_eq!(sessions(&store, "first").await, ["a"], "{tables}");
            assert_eq!(sessions(&store, "番目").await, ["a"], "{tables}");
        }
        assert_eq!(store.load(&SessionId::new("b")).await.unwrap().unwrap().messages.len(), 4);
    }

    #[tokio::test]
    async fn a_database_of_a_later_version_is_left_alone() {
        let (_home, store) = store().await;
        store.run(|it| Ok(it.pragma_update(None, "user_version", 99)?)).await.unwrap();

        let err = SqliteSessions::open(store.path()).await.unwrap_err();

        assert!(matches!(err, StoreError::Backend(source) if source.to_string().contains("newer")));
    }
}

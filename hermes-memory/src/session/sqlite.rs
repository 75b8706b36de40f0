//! The store.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use hermes_core::{
    clock::{Clock, SystemClock},
    durable::FileLock,
    message::{Message, MessageId},
    store::{
        ListOptions, SearchHit, SessionId, SessionInfo, SessionLock, SessionState, SessionStore,
        StoreError, StoredSession,
    },
    version::Version,
};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use tokio::runtime::Handle;

use super::{
    fault::Fault,
    index, migrate,
    query::Query,
    search::{self, SearchOptions},
};

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

impl SqliteSessions {
    /// Opens the database at `path`, creating it and its folder. It must be a file of its own: that of
    /// another program, such as hermes-agent's `state.db`, is refused and left as it is.
    ///
    /// # Errors
    ///
    /// [`StoreError::Backend`] if it cannot be opened, is not ours, or is of a later version; its source
    /// names the path, and the source of that the reason.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        let connection = {
            let path = path.clone();
            blocking(move || connect(&path).map_err(|err| err.opening(&path))).await?
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
    /// A [`Session`](hermes_core::Session) that is open does not hear of it, and its next turn fails
    /// with [`StoreError::Conflict`]: close it first, and open it again.
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
        self.run(move |connection| search::find(connection, &query, &options)).await
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

    async fn list(&self, options: &ListOptions) -> Result<Vec<SessionInfo>, StoreError> {
        let options = options.clone();
        self.run(move |connection| list(connection, &options)).await
    }

    async fn delete(&self, id: &SessionId) -> Result<bool, StoreError> {
        let lock = self.lock(id).await?;
        let id = id.clone();
        self.run(move |connection| {
            // It is deleted under the lock also if nobody waits for it any more.
            let gone = delete(connection, &id);
            drop(lock);
            gone
        })
        .await
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

/// Reads state and messages as they were at one moment, whatever another process writes meanwhile.
fn load(connection: &Connection, id: &SessionId) -> Result<Option<StoredSession>, Fault> {
    let connection = connection.unchecked_transaction()?;
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

fn list(connection: &Connection, options: &ListOptions) -> Result<Vec<SessionInfo>, Fault> {
    let mut select = connection.prepare_cached(
        "SELECT id, created_ms, updated_ms,
                (SELECT count(*) FROM messages WHERE session = page.id AND fate = 0)
         FROM (SELECT * FROM sessions WHERE substr(id, 1, length(?1)) = ?1
               ORDER BY updated_ms DESC, id LIMIT ?2 OFFSET ?3) AS page
         ORDER BY updated_ms DESC, id",
    )?;
    let bounds = params![options.prefix, count(options.limit), count(options.skip)];
    let mut rows = select.query(bounds)?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        let messages: i64 = row.get(3)?;
        let messages = usize::try_from(messages).unwrap_or_default();
        let mut info = SessionInfo::new(SessionId::new(id), messages);
        info.created = Some(time(row.get(1)?));
        info.updated = Some(time(row.get(2)?));
        sessions.push(info);
    }
    Ok(sessions)
}

/// Removes a session, its messages and what the indexes have of them, as one step.
fn delete(connection: &mut Connection, id: &SessionId) -> Result<bool, Fault> {
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    index::forget(&mut transaction, id)?;
    transaction.execute("DELETE FROM messages WHERE session = ?1", [id.as_str()])?;
    let gone = transaction.execute("DELETE FROM sessions WHERE id = ?1", [id.as_str()])?;
    transaction.commit()?;
    Ok(0 < gone)
}

fn time(ms: i64) -> SystemTime {
    let since = Duration::from_millis(u64::try_from(ms).unwrap_or_default());
    SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn stored_id(id: MessageId) -> i64 {
    i64::try_from(id.0).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use hermes_core::{message::Role, testing::conformance};
    use tempfile::TempDir;

    use super::{super::search::Order, *};

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
    async fn a_search_keeps_to_its_options() {
        let (_home, store) = store().await;
        say(&store, "a", &["first light"]).await;
        say(&store.for_source("mail"), "b", &["second light"]).await;
        let find = async |options| {
            let hits = store.find("light", options).await.unwrap();
            hits.into_iter().map(|hit| hit.session.to_string()).collect::<Vec<_>>()
        };
        let options = || SearchOptions::default().order(Order::Oldest);

        assert_eq!(find(options()).await, ["a", "b"]);
        assert_eq!(find(options().sources(["mail"])).await, ["b"]);
        assert_eq!(find(options().offset(1)).await, ["b"]);
        assert_eq!(find(options().limit(1)).await, ["a"]);
        assert!(find(options().roles([Role::Assistant])).await.is_empty());
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

        assert!(reason(err).ends_with("sessions.db cannot be opened: the database has schema 99, newer than this version knows"));
    }

    /// Returns the causes of an error in one line.
    fn reason(err: StoreError) -> String {
        let StoreError::Backend(source) = err else { panic!("{err:?}") };
        let why = source.source().map(ToString::to_string).unwrap_or_default();
        format!("{source}: {why}")
    }

    #[tokio::test]
    async fn the_database_of_another_program_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        for (name, sql) in
            [("tables.db", "CREATE TABLE mine (a);"), ("marked.db", "PRAGMA application_id = 7;")]
        {
            let path = home.path().join(name);
            Connection::open(&path).unwrap().execute_batch(sql).unwrap();
            let before = std::fs::read(&path).unwrap();

            let err = SqliteSessions::open(&path).await.unwrap_err();

            assert!(reason(err).contains("another program"), "{name}");
            assert_eq!(std::fs::read(&path).unwrap(), before, "{name}");
        }
    }
}

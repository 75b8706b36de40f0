//! The area `session-search`: full-text search over past conversations.

use std::{path::Path, sync::Arc};

use hermes_core::{
    Agent,
    message::{CallId, CallResult, CallStatus, Message, MessageId},
    store::{SessionId, SessionState, SessionStore},
    testing::ScriptedProvider,
    tool::{ToolContext, TurnScope},
};
use hermes_memory::{SessionSearch, SqliteSessions};
use rusqlite::Connection;
use serde_json::{Map, Value};

use crate::{check::Checks, home::Home, read::Node};

/// Runs one case.
pub(crate) async fn run(case: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
    let setup = case.get("setup")?;
    let home = Home::set_up(Some(&setup));
    let mut desk = Desk::open(home.path()).await?;
    for session in setup.opt("sessions").iter().flat_map(Node::items) {
        desk.fill(&session).await?;
    }
    let input = case.get("input")?;
    for query in input.opt("queries").iter().flat_map(Node::items) {
        desk.search(&query).await?;
    }
    for step in input.opt("steps").iter().flat_map(Node::items) {
        desk.step(&step).await?;
    }
    desk.check(&case.get("expect")?, checks)
}

/// A database, the tool on it, and what came of each search.
struct Desk {
    database: Database,
    agent: Agent,
    said: u64,
    append_ok: bool,
    found: Vec<Found>,
}

struct Found {
    query: String,
    is_error: bool,
    sessions: Vec<String>,
}

impl Desk {
    async fn open(home: &Path) -> Result<Self, String> {
        let database = Database::open(home).await?;
        let agent = Agent::builder(ScriptedProvider::new())
            .model("scripted")
            .tool(SessionSearch::new(database.0.clone()))
            .build()
            .map_err(|err| err.to_string())?;
        Ok(Self { database, agent, said: 0, append_ok: true, found: Vec::new() })
    }

    /// Stores a conversation, message by message, with what became of each.
    async fn fill(&mut self, session: &Node<'_>) -> Result<(), String> {
        let source = session.opt("source").map_or("cli", |it| it.str());
        let store = self.database.0.for_source(source);
        let id = SessionId::new(session.get("id")?.str());
        for said in session.get("messages")?.items() {
            let parts = said.items();
            let part = |at: usize| parts.get(at).map(Node::str);
            let message = self.message(part(0), part(1).unwrap_or_default());
            let state = SessionState::default();
            let before = stored(&store, &id).await?;
            let append = store.append(&id, before.len(), std::slice::from_ref(&message), &state);
            append.await.map_err(|err| err.to_string())?;
            let done = match part(2) {
                None | Some("") => Ok(()),
                Some("rewound") => store.rewind(&id, before.len()).await,
                Some("compacted") => store.compact(&id, before.len() + 1, &before, &state).await,
                Some(other) => return Err(format!("unknown state of a message: {other}")),
            };
            done.map_err(|err| err.to_string())?;
        }
        Ok(())
    }

    fn message(&mut self, role: Option<&str>, text: &str) -> Message {
        self.said += 1;
        let message = match role {
            Some("user") => Message::user(text),
            Some("assistant") => Message::assistant(text),
            _ => Message::results([CallResult::new(CallId::new("c"), CallStatus::Done, text)]),
        };
        message.with_id(MessageId(self.said))
    }

    /// Calls the tool with a query, and with its `limit` where it has one.
    async fn search(&mut self, query: &Node<'_>) -> Result<(), String> {
        let text = crate::read::text(query, "query").unwrap_or_default();
        let mut arguments = Map::new();
        arguments.insert("query".to_owned(), text.as_str().into());
        let limit = query.opt("limit").map_or(Value::from(10), |it| it.whole().clone());
        arguments.insert("limit".to_owned(), limit);
        for (key, value) in query.opt("args").iter().flat_map(Node::entries) {
            arguments.insert(key.to_owned(), value.whole().clone());
        }
        let context =
            ToolContext::new(Arc::new(TurnScope::new(SessionId::new("case"))), CallId::new("call"));
        let output = self.agent.tools().call("session_search", arguments.into(), &context).await;
        let output = output.map_err(|err| err.to_string())?;
        let reply: Value = serde_json::from_str(&output.content).unwrap_or_default();
        let results = reply.get("results").and_then(Value::as_array);
        let id = |it: &Value| it.get("session_id").and_then(Value::as_str).map(str::to_owned);
        let sessions = results.into_iter().flatten().filter_map(id).collect();
        let is_error = output.status != CallStatus::Done;
        self.found.push(Found { query: text, is_error, sessions });
        Ok(())
    }

    async fn step(&mut self, step: &Node<'_>) -> Result<(), String> {
        match step.get("do")?.str() {
            "search" => self.search(step).await,
            "drop_fts_shadow_rows" => self.database.drop_shadow_rows(),
            "append_message" => {
                let id = SessionId::new(step.get("session")?.str());
                let role = step.get("role")?.str();
                let text = crate::read::text(step, "content").unwrap_or_default();
                let message = self.message(Some(role), &text);
                let (store, state) = (&self.database.0, SessionState::default());
                let before = stored(store, &id).await?.len();
                self.append_ok &= store.append(&id, before, &[message], &state).await.is_ok();
                Ok(())
            }
            other => Err(format!("unknown step: {other}")),
        }
    }

    fn check(&self, expect: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
        if let Some(expected) = expect.opt("no_error") {
            let holds = !self.found.iter().any(|it| it.is_error);
            checks.that(holds == expected.bool(), "a search is an error");
        }
        for result in expect.opt("results").iter().flat_map(Node::items) {
            let query = crate::read::text(&result, "query").unwrap_or_default();
            let found = self.found.iter().find(|it| it.query == query);
            found.ok_or_else(|| format!("nobody asked {query}"))?.check(&result, checks);
        }
        if let (Some(expected), Some(last)) = (expect.opt("search_sessions"), self.found.last()) {
            last.check_sessions(&expected, checks);
        }
        if let Some(expected) = expect.opt("append_ok") {
            checks.that(self.append_ok == expected.bool(), "a message could not be stored");
        }
        if let Some(expected) = expect.opt("canonical_rows_kept") {
            let rows = self.database.count("messages")?;
            let holds = u64::try_from(rows).is_ok_and(|rows| rows == self.said);
            checks.that(holds == expected.bool(), format!("{rows} rows of {}", self.said));
        }
        Ok(())
    }
}

impl Found {
    fn check(&self, result: &Node<'_>, checks: &mut Checks) {
        let Self { query, is_error, sessions } = self;
        if let Some(expected) = result.opt("no_error") {
            checks.that(*is_error != expected.bool(), format!("{query} is an error"));
        }
        if let Some(expected) = result.opt("sessions") {
            self.check_sessions(&expected, checks);
        }
        if let Some(expected) = result.opt("sessions_order_first") {
            let first = sessions.first().map(String::as_str);
            checks.that(first == Some(expected.str()), format!("{query} finds {sessions:?}"));
        }
        if let Some(expected) = result.opt("max_results") {
            let holds = sessions.len() <= expected.usize();
            checks.that(holds, format!("{query} finds {sessions:?}"));
        }
    }

    /// Checks which sessions were found, in any order.
    fn check_sessions(&self, expected: &Node<'_>, checks: &mut Checks) {
        let mut found: Vec<&str> = self.sessions.iter().map(String::as_str).collect();
        let mut expected = expected.strings();
        found.sort_unstable();
        expected.sort_unstable();
        checks.that(found == expected, format!("{} finds {found:?}", self.query));
    }
}

async fn stored(store: &SqliteSessions, id: &SessionId) -> Result<Vec<Message>, String> {
    let loaded = store.load(id).await.map_err(|err| err.to_string())?;
    Ok(loaded.map(|it| it.messages).unwrap_or_default())
}

/// The store of a home, and what stands in it.
#[derive(Clone)]
pub(crate) struct Database(SqliteSessions);

impl Database {
    pub(crate) async fn open(home: &Path) -> Result<Self, String> {
        let store = SqliteSessions::open(home.join("sessions.db")).await;
        store.map(Self).map_err(|err| err.to_string())
    }

    pub(crate) fn store(&self) -> Arc<dyn SessionStore> {
        Arc::new(self.0.clone())
    }

    pub(crate) async fn append(&self, id: &SessionId, messages: &[Message]) -> Result<(), String> {
        let state = SessionState::default();
        self.0.append(id, 0, messages, &state).await.map_err(|err| err.to_string())
    }

    /// Returns how many sessions and how many messages there are.
    pub(crate) fn rows(&self) -> [usize; 2] {
        ["sessions", "messages"].map(|table| self.count(table).unwrap_or_default())
    }

    pub(crate) async fn messages_of(&self, id: &SessionId) -> Option<usize> {
        Some(self.0.load(id).await.ok()??.messages.len())
    }

    fn count(&self, table: &str) -> Result<usize, String> {
        let count =
            self.connect()?.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
                row.get::<_, i64>(0)
            });
        let count = count.map_err(|err| err.to_string())?;
        usize::try_from(count).map_err(|err| err.to_string())
    }

    /// Empties every table behind a full-text index, from outside.
    fn drop_shadow_rows(&self) -> Result<(), String> {
        let connection = self.connect()?;
        let tables: Vec<String> = (|| {
            let mut select = connection.prepare(
                "SELECT t.name FROM sqlite_schema t JOIN sqlite_schema i
                 ON t.name IN (i.name || '_data', i.name || '_idx', i.name || '_docsize',
                               i.name || '_content')
                 WHERE i.sql LIKE '%USING fts5%'",
            )?;
            select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()
        })()
        .map_err(|err: rusqlite::Error| err.to_string())?;
        if tables.is_empty() {
            return Err("there is no full-text index to damage".to_owned());
        }
        for table in tables {
            let delete = format!("DELETE FROM {table}");
            connection.execute(&delete, []).map_err(|err| err.to_string())?;
        }
        Ok(())
    }

    fn connect(&self) -> Result<Connection, String> {
        Connection::open(self.0.path()).map_err(|err| err.to_string())
    }
}

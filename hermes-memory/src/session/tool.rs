//! The `session_search` tool.

use std::sync::Arc;

use hermes_core::{
    message::{Message, MessageId, Role},
    schemars::{self, JsonSchema},
    serde_json::{Value, json},
    store::{SessionId, SessionStore, StoreError},
    tool::{ToolContext, ToolError, ToolOutput, ToolSpec, TypedTool},
};
use serde::Deserialize;

/// The tool with which a model looks into earlier conversations: `session_search`.
///
/// With `query` it searches, each conversation once and the current one left out; with `session_id`
/// it reads a conversation, around a message if one is named. It answers with a JSON object.
///
/// **It reaches every conversation of its store.** Where a store holds those of several users, give
/// each user's agent a tool that stays [within](Self::within) the ids of that user.
///
/// # Examples
///
/// ```
/// use hermes_core::{Agent, serde_json::json, store::SessionId, testing::ScriptedProvider};
/// use hermes_memory::{SessionSearch, SqliteSessions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let home = tempfile::tempdir()?;
/// let sessions = SqliteSessions::open(home.path().join("sessions.db")).await?;
/// let model = ScriptedProvider::new()
///     .say("Use port 8443.")
///     .call("session_search", json!({"query": "port"}))
///     .say("8443, as last time.");
/// let agent = Agent::builder(model)
///     .model("scripted")
///     .sessions(sessions.clone())
///     .tool(SessionSearch::new(sessions).within("user-7/"))
///     .build()?;
///
/// agent.session_as(SessionId::new("user-7/monday")).send("Which port?").await?;
/// let tuesday = agent.session_as(SessionId::new("user-7/tuesday"));
/// tuesday.send("Which port was it?").await?;
///
/// let history = tuesday.history();
/// let found = history.iter().flat_map(|it| it.call_results()).next().ok_or("it was called")?;
/// assert!(found.content.contains("Use port 8443."));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SessionSearch {
    store: Arc<dyn SessionStore>,
    prefix: String,
}

/// What a model passes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SessionSearchArgs {
    /// Words to find. All must occur; "a phrase", prefix*, AND, OR and NOT work.
    query: Option<String>,
    /// A conversation to read, as found by a search.
    session_id: Option<String>,
    /// The message of that conversation to read around.
    around_message_id: Option<u64>,
    /// How many conversations to find, 1 to 10. Three if left out.
    limit: Option<i64>,
    /// How many messages to read on each side, 1 to 20. Five if left out.
    window: Option<i64>,
}

impl SessionSearch {
    /// Hits that are looked at to find the conversations asked for.
    const SCANNED: usize = 300;
    /// As many, where others' hits are among them.
    const SCANNED_WITHIN: usize = 3_000;

    /// Creates the tool on `store`.
    pub fn new(store: impl SessionStore + 'static) -> Self {
        Self { store: Arc::new(store), prefix: String::new() }
    }

    /// Returns the same tool, to which only conversations exist whose id begins with `prefix`, such as
    /// `user-7/`. End it with what no user's name holds, so that `user-7` is not the beginning of
    /// `user-71`. The 3,000 best hits of the whole store are looked at.
    #[must_use]
    pub fn within(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    fn may_show(&self, id: &SessionId) -> bool {
        id.as_str().starts_with(&self.prefix)
    }

    async fn discover(
        &self,
        query: &str,
        limit: usize,
        context: &ToolContext,
    ) -> Result<ToolOutput, StoreError> {
        let mut found: Vec<SessionId> = Vec::new();
        let mut results = Vec::new();
        let scanned = if self.prefix.is_empty() { Self::SCANNED } else { Self::SCANNED_WITHIN };
        for hit in self.store.search(query, scanned).await? {
            if limit <= results.len() {
                break;
            }
            let is_new = hit.session != *context.session() && !found.contains(&hit.session);
            if !is_new || !self.may_show(&hit.session) {
                continue;
            }
            found.push(hit.session.clone());
            let when =
                hit.at.and_then(|it| it.duration_since(std::time::SystemTime::UNIX_EPOCH).ok());
            results.push(json!({
                "session_id": hit.session.as_str(),
                "when": when.map(|it| it.as_secs()),
                "matched_role": role(hit.role),
                "match_message_id": hit.message.0,
                "snippet": hit.snippet,
                "messages": self.around(&hit.session, hit.message, 2).await?,
            }));
        }
        let message = if results.is_empty() {
            "Nothing was found. Try fewer or other words, or OR between them."
        } else {
            "Read on with session_id and around_message_id."
        };
        let reply = json!({"success": true, "mode": "discover", "query": query, "count": results.len(),
            "results": results, "message": message});
        Ok(reply.into())
    }

    async fn around(
        &self,
        id: &SessionId,
        message: MessageId,
        window: usize,
    ) -> Result<Vec<Value>, StoreError> {
        let messages = self.store.load(id).await?.map(|it| it.messages).unwrap_or_default();
        let Some(at) = messages.iter().position(|it| it.id == message) else {
            return Ok(Vec::new());
        };
        let start = at.saturating_sub(window);
        let end = at.saturating_add(window).saturating_add(1).min(messages.len());
        Ok(messages.get(start..end).unwrap_or_default().iter().map(shown).collect())
    }

    async fn read(
        &self,
        id: &str,
        around: Option<u64>,
        window: usize,
    ) -> Result<ToolOutput, StoreError> {
        let id = SessionId::new(id);
        let session = if self.may_show(&id) { self.store.load(&id).await? } else { None };
        let Some(session) = session else {
            return Ok(refused(&format!("There is no conversation {id}. Search for one first.")));
        };
        let total = session.messages.len();
        let messages: Vec<Value> = match around {
            Some(message) => self.around(&id, MessageId(message), window).await?,
            None => ends(&session.messages),
        };
        let reply = json!({"success": true, "mode": "read", "session_id": id.as_str(),
            "message_count": total, "messages": messages});
        Ok(reply.into())
    }
}

impl TypedTool for SessionSearch {
    type Args = SessionSearchArgs;
    type Output = ToolOutput;

    const NAME: &'static str = "session_search";
    const DESCRIPTION: &'static str = "Looks into earlier conversations. Use it when the user refers \
        to something from before (\"as we did last time\", \"that server\") or when a task may have \
        been solved already, instead of asking them to say it again. Pass query to search, or \
        session_id to read a conversation.";

    fn configure(&self, spec: ToolSpec) -> ToolSpec {
        spec.read_only()
    }

    async fn run(
        &self,
        args: SessionSearchArgs,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let window = clamp(args.window, 5, 20);
        let done = match (&args.session_id, &args.query) {
            (Some(id), _) if !id.trim().is_empty() => {
                self.read(id.trim(), args.around_message_id, window).await
            }
            (_, Some(query)) => self.discover(query, clamp(args.limit, 3, 10), context).await,
            _ => {
                Ok(refused("Pass query, the words to find, or session_id, a conversation to read."))
            }
        };
        done.map_err(ToolError::failed)
    }
}

fn refused(error: &str) -> ToolOutput {
    ToolOutput::rejected(json!({"success": false, "error": error}).to_string())
}

fn clamp(given: Option<i64>, default: usize, max: usize) -> usize {
    given.map_or(default, |it| usize::try_from(it).unwrap_or(1).clamp(1, max))
}

/// Returns the first 20 and the last 10 messages of a long conversation, a short one whole.
fn ends(messages: &[Message]) -> Vec<Value> {
    const HEAD: usize = 20;
    const TAIL: usize = 10;
    let tail = messages.len().saturating_sub(TAIL).max(HEAD.min(messages.len()));
    let head = messages.iter().take(HEAD);
    head.chain(messages.iter().skip(tail)).map(shown).collect()
}

/// Returns a message as a model reads it, cut where it is long.
fn shown(message: &Message) -> Value {
    const CHARS: usize = 2_000;
    let text = super::index::text(message);
    let text = match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    };
    json!({"message_id": message.id.0, "role": role(message.role), "content": text})
}

fn role(role: Role) -> &'static str {
    super::index::role_name(role)
}

#[cfg(test)]
mod tests {
    use hermes_core::{
        message::CallStatus,
        store::SessionState,
        testing::{InMemorySessions, conformance},
        tool::Tool,
    };

    use super::*;

    async fn tool() -> SessionSearch {
        let store = InMemorySessions::default();
        for (id, text) in [("monday", "deploy the shop"), ("detached", "deploy it again")] {
            let messages = [
                Message::user(text).with_id(MessageId(1)),
                Message::assistant("done").with_id(MessageId(2)),
            ];
            let state = SessionState::default();
            store.append(&SessionId::new(id), 0, &messages, &state).await.unwrap();
        }
        SessionSearch::new(store)
    }

    async fn call(arguments: Value) -> (CallStatus, Value) {
        let output = tool().await.call(arguments, &ToolContext::detached()).await.unwrap();
        (output.status, serde_json::from_str(&output.content).unwrap_or(Value::Null))
    }

    #[tokio::test]
    async fn a_search_finds_other_conversations() {
        let (_, reply) = call(json!({"query": "deploy", "limit": 99})).await;

        assert_eq!(reply["count"], 1);
        let found = &reply["results"][0];
        assert_eq!(
            (&found["session_id"], &found["match_message_id"]),
            (&json!("monday"), &json!(1))
        );
        assert_eq!(found["messages"][1]["content"], "done");
    }

    #[tokio::test]
    async fn others_conversations_do_not_exist_for_a_tool_within_ones_own() {
        let tool = tool().await.within("mon/");
        let call = async |arguments: Value| {
            let output = tool.call(arguments, &ToolContext::detached()).await.unwrap();
            (output.status, serde_json::from_str::<Value>(&output.content).unwrap())
        };

        assert_eq!(call(json!({"query": "deploy"})).await.1["count"], 0);
        let (status, reply) = call(json!({"session_id": "monday"})).await;
        assert_eq!(status, CallStatus::Rejected);
        let unknown = call(json!({"session_id": "tuesday"})).await.1["error"].to_string();
        assert_eq!(reply["error"].to_string(), unknown.replace("tuesday", "monday"));
        assert!(tool.clone().within("mon").may_show(&SessionId::new("monday")));
    }

    #[tokio::test]
    async fn a_conversation_can_be_read() {
        let (_, reply) = call(json!({"session_id": "monday"})).await;
        assert_eq!(reply["messages"].as_array().unwrap().len(), 2);

        let around = json!({"session_id": "monday", "around_message_id": 2, "window": 0});
        assert_eq!(call(around).await.1["messages"].as_array().unwrap().len(), 2);
        assert_eq!(call(json!({"session_id": "tuesday"})).await.0, CallStatus::Rejected);
    }

    #[tokio::test]
    async fn a_blank_query_finds_nothing() {
        let (status, reply) = call(json!({"query": " "})).await;

        assert_eq!((status, &reply["count"]), (CallStatus::Done, &json!(0)));
    }

    #[tokio::test]
    async fn nothing_asked_is_told_what_to_ask() {
        assert_eq!(call(json!({"query": null})).await.0, CallStatus::Rejected);
        assert_eq!(call(json!({"query": 5})).await.0, CallStatus::Rejected);
    }

    #[tokio::test]
    async fn it_keeps_the_contract_of_a_tool() {
        conformance::tool(&tool().await, &json!({"query": "deploy"})).await;
    }
}

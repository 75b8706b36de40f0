//! The one way to run one more agent.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{
    agent::{AgentError, Finish},
    change::Change,
    cost::Cost,
    message::{History, Message, Usage},
    origin::Origin,
    provider::{ModelId, Provider},
};

/// Runs one more agent on behalf of a conversation: a review, a sub-agent.
///
/// Depth, rounds, tools and tokens are limited here and nowhere else. A fork never writes to the
/// conversation it comes from, keeps nothing in the session store, compresses nothing, and never
/// starts a review.
#[async_trait]
pub trait Fork: fmt::Debug + Send + Sync {
    /// Runs `task` to its end.
    ///
    /// # Errors
    ///
    /// An [`AgentError`] if the model could not be asked. What the fork had changed stays and is lost
    /// from sight with the error; prefer [`ForkTask::record`] where that matters.
    async fn run(&self, task: ForkTask) -> Result<ForkOutcome, AgentError>;

    /// Returns the conversation the fork comes from, as it stands.
    fn history(&self) -> History;
}

/// What a fork is to do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ForkTask {
    /// What it is told, as a user message at the end.
    pub prompt: String,
    /// On whose account its calls are made.
    pub origin: Origin,
    /// The tools it may call. The request offers the same list as its parent's, so that the prefix
    /// caches; a call of any other tool is refused with a result.
    pub tools: Vec<Arc<str>>,
    /// The most model requests it may make. 16 by default, as hermes-agent's review has.
    pub max_requests: u32,
    /// The most tokens it may use, input and output together. No limit by default.
    pub max_tokens: Option<u64>,
    /// The most money it may cost. No limit by default.
    pub max_cost: Option<Cost>,
    /// What it knows of the conversation.
    pub context: ForkContext,
    /// Another model, if not the parent's.
    pub model: Option<ModelId>,
    /// Another provider, if not the parent's.
    pub provider: Option<Arc<dyn Provider>>,
    /// Cancels it. It is cancelled with its agent in any case.
    pub token: CancellationToken,
    /// Collects what its calls change as they change it, so that nothing is lost from sight.
    pub record: Option<Arc<std::sync::Mutex<Vec<Change>>>>,
}

/// What a fork knows of the conversation it comes from.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum ForkContext {
    /// All of it: the parent's last request as it was, so that the prefix is warm in the provider's
    /// cache. The default.
    #[default]
    Inherit,
    /// These messages instead, under the parent's system prompt.
    Messages(Vec<Message>),
}

impl ForkTask {
    /// Creates a task that is told `prompt` on the account of `origin` and may call no tools.
    pub fn new(prompt: impl Into<String>, origin: Origin) -> Self {
        Self {
            prompt: prompt.into(),
            origin,
            tools: Vec::new(),
            max_requests: 16,
            max_tokens: None,
            max_cost: None,
            context: ForkContext::default(),
            model: None,
            provider: None,
            token: CancellationToken::new(),
            record: None,
        }
    }

    /// Returns the same task with tools it may call.
    #[must_use]
    pub fn with_tools<T: Into<Arc<str>>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tools = tools.into_iter().map(Into::into).collect();
        self
    }
}

/// What came of a fork.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ForkOutcome {
    /// What it said at the end.
    pub text: String,
    /// How it ended.
    pub finish: Finish,
    /// The messages it added, its prompt included.
    pub messages: Vec<Message>,
    /// What its calls changed, in order.
    pub changes: Vec<Change>,
    /// The model requests it made.
    pub requests: u32,
    /// The tokens it used.
    pub usage: Usage,
    /// What it cost; `None` if there are no prices, or not for all of it.
    pub cost: Option<Cost>,
}

impl ForkOutcome {
    /// Creates the outcome of a fork that said `text`, ended as `finish`, and did nothing else; for a
    /// [`Fork`] of your own, as in the tests of a [`Review`](crate::review::Review).
    pub fn new(text: impl Into<String>, finish: Finish) -> Self {
        Self {
            text: text.into(),
            finish,
            messages: Vec::new(),
            changes: Vec::new(),
            requests: 0,
            usage: Usage::default(),
            cost: None,
        }
    }
}

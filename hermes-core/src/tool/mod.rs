//! What a model can call.

mod check;
mod context;
mod registry;
mod spill;
#[cfg(feature = "schema")]
mod typed;

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(feature = "schema")]
pub use self::typed::{FnTool, TypedTool, from_fn, schema_of};
pub(crate) use self::{check::closest, context::Warnings, spill::cut_middle};
pub use self::{
    context::{Extensions, Progress, Seen, ToolContext, TurnScope},
    registry::{DuplicateTool, ToolRegistry},
    spill::{ResultSpill, SpillFolder},
};
use crate::{
    approval::NeedsApproval,
    change::Change,
    message::{CallResult, CallStatus},
};

/// Something a model can call, in the form the loop keeps.
///
/// Most tools are written in the typed form, `TypedTool` (a struct) or `from_fn` (a closure), whose
/// schema comes from the argument type. Implement this one where the schema is only known at run
/// time.
///
/// A call can go wrong in two ways, and they go to different people. What the model can put right
/// (a name it made up, a missing argument) is [`ToolOutput::rejected`]. What it cannot is an
/// `Err`: the model is told that the tool failed, and the loop goes on, unless the error is
/// [`ToolError::EndTurn`].
///
/// # Contract
///
/// [`conformance::tool`](crate::testing::conformance::tool) checks these.
///
/// - **Stable.** [`spec`](Self::spec) returns the same value every time; it is read once, when the
///   agent is built.
/// - **Total.** Whatever JSON comes in, `call` returns. (The loop catches a panic; do not rely on it.)
/// - **Cancellable.** Long work watches the token of its context, or is dropped with the call.
///
/// # Examples
///
/// A tool whose schema comes from elsewhere:
///
/// ```
/// use hermes_core::{
///     async_trait,
///     serde_json::{Value, json},
///     tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec},
/// };
///
/// #[derive(Debug)]
/// struct Remote {
///     name: String,
///     schema: Value,
/// }
///
/// #[async_trait]
/// impl Tool for Remote {
///     fn spec(&self) -> ToolSpec {
///         ToolSpec::new(self.name.as_str(), "Looks something up.")
///             .with_parameters(self.schema.clone())
///             .read_only()
///     }
///
///     async fn call(&self, arguments: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
///         match arguments.get("key").and_then(Value::as_str) {
///             Some(key) => Ok(ToolOutput::done(format!("{key} is 7"))),
///             None => Ok(ToolOutput::rejected("pass a key, as text")),
///         }
///     }
/// }
///
/// let schema = json!({"type": "object", "properties": {"key": {"type": "string"}}});
/// assert_eq!(&*Remote { name: "look_up".to_owned(), schema }.spec().name, "look_up");
/// ```
#[async_trait]
pub trait Tool: fmt::Debug + Send + Sync {
    /// Returns name, description, schema and flags.
    fn spec(&self) -> ToolSpec;

    /// Runs the tool. `arguments` is an object that has been checked against the schema for
    /// required and unknown properties, types and listed values, at every level down to the 16th.
    /// What else a schema says (lengths, ranges, patterns) is left to the tool, and so is what some models
    /// write otherwise: within arguments an optional property may be null and an integer `5.0`, whatever
    /// the schema says, and so may a number be that is greater than every integer. Beyond 50,000 values,
    /// those of alternatives counted each time, nothing is checked.
    ///
    /// # Errors
    ///
    /// - [`ToolError::Failed`] if the tool could not do its work; the model sees the message.
    /// - [`ToolError::EndTurn`] if the turn must end now.
    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn spec(&self) -> ToolSpec {
        (**self).spec()
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        (**self).call(arguments, context).await
    }
}

/// What a model is told of a tool, and what the loop must know of it.
///
/// # Examples
///
/// ```
/// use hermes_core::tool::ToolSpec;
/// use serde_json::json;
///
/// let spec = ToolSpec::new("ping", "Answers with pong.")
///     .with_parameters(json!({"type": "object", "properties": {}}))
///     .read_only();
///
/// assert_eq!(&*spec.name, "ping");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// What the model calls it.
    pub name: Arc<str>,
    /// What it does and when to use it, for the model.
    pub description: Arc<str>,
    /// The JSON schema of its arguments, an object.
    pub parameters: Arc<Value>,
    /// Whether it changes nothing.
    pub effect: Effect,
    /// Whether calls may run beside others although the tool changes something; tools that only read
    /// may in any case, see [`runs_in_parallel`](Self::runs_in_parallel). `false` by default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_parallel_safe: bool,
    /// Whether a second call with the same arguments changes nothing more than the first; tools that
    /// only read are so in any case, see [`may_run_again`](Self::may_run_again). `false` by default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_idempotent: bool,
    /// How long one call may take. No limit by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// How long a cancelled turn waits for a call that is under way, for tools that end it themselves.
    /// Without it, the default, such a call is dropped at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_grace: Option<Duration>,
    /// Whether calls need approval before they run.
    #[serde(default, skip_serializing_if = "NeedsApproval::is_never")]
    pub needs_approval: NeedsApproval,
}

/// Whether calls of a tool change anything, which decides what may run beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// Reads only. Neighbouring calls of such tools run at the same time.
    Read,
    /// Changes something; calls run one after the other, unless the tool is declared
    /// [`parallel_safe`](ToolSpec::parallel_safe). The default.
    #[default]
    Write,
}

impl ToolSpec {
    /// Creates the spec of a tool without arguments that may change things.
    pub fn new(name: impl Into<Arc<str>>, description: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters: Arc::new(empty_schema()),
            effect: Effect::default(),
            is_parallel_safe: false,
            is_idempotent: false,
            timeout: None,
            cancel_grace: None,
            needs_approval: NeedsApproval::default(),
        }
    }

    /// Returns the same spec of a tool that watches its
    /// [token](ToolContext::token) and ends a cancelled call itself, within `grace`: it finishes what must
    /// not be left half-way and says what was done.
    #[must_use]
    pub fn with_cancel_grace(mut self, grace: Duration) -> Self {
        self.cancel_grace = Some(grace);
        self
    }

    /// Returns the same spec with `schema` for its arguments.
    #[must_use]
    pub fn with_parameters(mut self, schema: Value) -> Self {
        self.parameters = Arc::new(schema);
        self
    }

    /// Returns the same spec, declared to change nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.effect = Effect::Read;
        self
    }

    /// Returns the same spec, declared safe to run beside calls of tools that read and of tools that
    /// are parallel-safe too, its own among them.
    #[must_use]
    pub fn parallel_safe(mut self) -> Self {
        self.is_parallel_safe = true;
        self
    }

    /// Returns the same spec, declared to change nothing more when it is called again with the same
    /// arguments, as one that sets a value does and one that adds to it does not.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.is_idempotent = true;
        self
    }

    /// Returns whether neighbouring calls may run at the same time: the tool only reads, or is
    /// declared [`parallel_safe`](Self::parallel_safe).
    pub fn runs_in_parallel(&self) -> bool {
        self.effect == Effect::Read || self.is_parallel_safe
    }

    /// Returns whether a call that may have been run may be run again: the tool only reads, or is
    /// declared [`idempotent`](Self::idempotent).
    pub fn may_run_again(&self) -> bool {
        self.effect == Effect::Read || self.is_idempotent
    }

    /// Returns the same spec with a limit on the time of one call.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Returns the same spec, whose calls need approval as told.
    #[must_use]
    pub fn with_approval(mut self, needs_approval: NeedsApproval) -> Self {
        self.needs_approval = needs_approval;
        self
    }
}

fn empty_schema() -> Value {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), Value::from("object"));
    schema.insert("properties".to_owned(), Value::Object(Map::new()));
    Value::Object(schema)
}

/// What a call brought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolOutput {
    /// What the model reads.
    pub content: String,
    /// How the call ended.
    pub status: CallStatus,
    /// What it changed in memory or skills, for reviews, counters and hosts.
    pub changes: Vec<Change>,
}

impl ToolOutput {
    /// Creates the output of a call that did what it was asked.
    pub fn done(content: impl Into<String>) -> Self {
        Self::new(CallStatus::Done, content)
    }

    /// Creates the output of a call that was refused; `content` tells the model what to put right.
    pub fn rejected(content: impl Into<String>) -> Self {
        Self::new(CallStatus::Rejected, content)
    }

    /// Creates the output of a call that broke.
    pub fn failed(content: impl Into<String>) -> Self {
        Self::new(CallStatus::Failed, content)
    }

    /// Creates the output that an earlier process gave as `result`.
    pub(crate) fn of(result: &CallResult) -> Self {
        Self::new(result.status, &result.content)
    }

    /// Returns the same output with a record of what it changed.
    #[must_use]
    pub fn with_change(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    fn new(status: CallStatus, content: impl Into<String>) -> Self {
        Self { content: content.into(), status, changes: Vec::new() }
    }
}

impl From<String> for ToolOutput {
    fn from(content: String) -> Self {
        Self::done(content)
    }
}

impl From<&str> for ToolOutput {
    fn from(content: &str) -> Self {
        Self::done(content)
    }
}

impl From<Value> for ToolOutput {
    fn from(content: Value) -> Self {
        Self::done(content.to_string())
    }
}

/// Why a tool brought no output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The tool could not do its work. The model sees the message; the turn goes on.
    #[error("{message}")]
    Failed {
        /// What happened, for the model.
        message: String,
        /// The cause.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The turn must end. The open calls get results first.
    #[error("{reason}")]
    EndTurn {
        /// Why, for the host and, in the results, for the model.
        reason: String,
    },
}

impl ToolError {
    /// Creates the error of a tool that could not do its work, from its cause.
    pub fn failed(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let source = source.into();
        Self::Failed { message: source.to_string(), source: Some(source) }
    }

    /// Creates the error that ends the turn.
    pub fn end_turn(reason: impl Into<String>) -> Self {
        Self::EndTurn { reason: reason.into() }
    }
}

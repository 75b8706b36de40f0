//! What hooks are told, and what they may answer.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    agent::{AgentError, FinishedTurn},
    cost::Spending,
    message::{Call, Message, Part, Role},
    provider::{ModelId, Request, Sampling, ToolChoice},
    store::SessionId,
    tool::{ToolOutput, ToolSpec, TurnScope},
};

/// A model request is about to be made.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BeforeRequest<'a> {
    /// The turn, and on whose account it runs.
    pub scope: &'a TurnScope,
    /// The request as it stands.
    pub request: &'a Request,
    /// Which request of its turn, or of its review or sub-agent, from 1.
    pub number: u32,
}

/// What a hook makes of a request.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum RequestAction {
    /// Nothing. The default.
    #[default]
    Proceed,
    /// Changes it.
    Change(RequestChange),
    /// Ends the turn instead, as [`Finish::Stopped`](crate::agent::Finish::Stopped) with this reason.
    Stop(String),
}

/// What is different in one request; everything else stays. The next request is as if this one had not
/// been changed, and nothing of it is kept in the history.
///
/// # Examples
///
/// ```
/// use hermes_core::agent::hook::{RequestAction, RequestChange};
///
/// let action = RequestAction::Change(
///     RequestChange::default().with_context("The build server is down.").with_model("small"),
/// );
/// # let _ = action;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestChange {
    /// Texts to put at the end of the messages, as one more user message.
    pub context: Vec<String>,
    /// Another model.
    pub model: Option<ModelId>,
    /// Another sampling.
    pub sampling: Option<Sampling>,
    /// Another tool choice. The request in which the model sums up a spent budget allows no tools in
    /// any case.
    pub tool_choice: Option<ToolChoice>,
    /// Another system prompt. It is otherwise the same, byte for byte, in all requests of a
    /// conversation: a change costs the provider's cache.
    pub system: Option<Arc<str>>,
    /// Another list of tools, at the same cost. It decides what the model is offered, not what it may
    /// call; for that, deny the calls.
    pub tools: Option<Arc<[ToolSpec]>>,
}

impl RequestChange {
    /// Returns the same change with one more text at the end of the messages.
    #[must_use]
    pub fn with_context(mut self, text: impl Into<String>) -> Self {
        self.context.push(text.into());
        self
    }

    /// Returns the same change with another model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<ModelId>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Returns the same change with another sampling.
    #[must_use]
    pub fn with_sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = Some(sampling);
        self
    }

    /// Returns the same change with another tool choice.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Returns the same change with another system prompt, at the cost of the provider's cache.
    #[must_use]
    pub fn replacing_system(mut self, system: impl Into<Arc<str>>) -> Self {
        self.system = Some(system.into());
        self
    }

    /// Returns the same change with another list of tools, at the cost of the provider's cache.
    #[must_use]
    pub fn replacing_tools(mut self, tools: impl Into<Arc<[ToolSpec]>>) -> Self {
        self.tools = Some(tools.into());
        self
    }

    /// Changes `request` accordingly.
    pub(super) fn apply(self, request: &mut Request) {
        if !self.context.is_empty() {
            let parts = self.context.into_iter().map(Part::Context).collect();
            Arc::make_mut(&mut request.messages).push(Message::new(Role::User, parts));
        }
        if let Some(model) = self.model {
            request.model = model;
        }
        if let Some(sampling) = self.sampling {
            request.sampling = sampling;
        }
        if let Some(choice) = self.tool_choice {
            request.tool_choice = choice;
        }
        if let Some(system) = self.system {
            request.system = system;
        }
        if let Some(tools) = self.tools {
            request.tools = tools;
        }
    }
}

/// The model has replied.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AfterReply<'a> {
    /// The turn, and on whose account it runs.
    pub scope: &'a TurnScope,
    /// The reply, as it is in the history; one without text and calls is not kept there.
    pub reply: &'a Message,
    /// Which request of the turn it answers, from 1.
    pub number: u32,
}

/// A call is about to run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BeforeCall<'a> {
    /// The turn, and on whose account the call is made.
    pub scope: &'a TurnScope,
    /// The call as the model made it.
    pub call: &'a Call,
    /// The tool.
    pub spec: &'a ToolSpec,
    /// The arguments with which it will run: the model's, or what an earlier hook made of them.
    pub arguments: &'a Value,
}

/// What a hook makes of a call.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum CallAction {
    /// Nothing. The default.
    #[default]
    Proceed,
    /// Runs it with these arguments. The history keeps the model's own; say in the result what the
    /// model must know. Arguments that do not fit the tool's schema make the call fail, and where calls
    /// need approval it is asked for once more.
    Replace(Value),
    /// Does not run it. The model gets a rejected result with this reason.
    Deny(String),
    /// Does not run it, and gives the model this output.
    Answer(ToolOutput),
    /// Does not run it and ends the turn as [`Finish::Stopped`](crate::agent::Finish::Stopped) with
    /// this reason. Calls that run beside it are waited for; those after it are not run.
    Stop(String),
}

/// A call has its output.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AfterCall<'a> {
    /// The turn, and on whose account the call was made.
    pub scope: &'a TurnScope,
    /// The call as the model made it.
    pub call: &'a Call,
    /// The output, not yet cut to the limit of a result.
    pub output: &'a ToolOutput,
}

/// What a hook makes of an output.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum ResultAction {
    /// Nothing. The default.
    #[default]
    Keep,
    /// Gives the model this content and status instead. What the call changed stays on record.
    Replace(ToolOutput),
    /// Keeps it and ends the turn as [`Finish::Stopped`](crate::agent::Finish::Stopped) with this
    /// reason. Calls that run beside it are waited for; those after it are not run.
    Stop(String),
}

/// A turn is over.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TurnEnded<'a> {
    /// The conversation.
    pub session: &'a SessionId,
    /// Which turn of it, from 1; `None` if it failed before it began.
    pub turn: Option<u64>,
    /// What the host gets: the finished turn, which may have been cancelled or stopped, or the error.
    pub outcome: Result<&'a FinishedTurn, &'a AgentError>,
    /// What the turn took, however it ended: the requests that were answered, their tokens and cost,
    /// those of its sub-agents and its review not counted. Of a turn that was
    /// [continued](crate::Session::continue_turn), what this process took.
    pub spending: Spending,
}

//! What a provider is asked.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{message::History, tool::ToolSpec};

/// The name of a model, as its endpoint spells it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelId(Arc<str>);

impl ModelId {
    /// Creates an id from the endpoint's spelling.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<T: Into<Arc<str>>> From<T> for ModelId {
    fn from(id: T) -> Self {
        Self::new(id)
    }
}

/// One request for an assistant message. Cloning it copies pointers, never the conversation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// The model to ask.
    pub model: ModelId,
    /// The system prompt; empty for none.
    pub system: Arc<str>,
    /// The tools on offer, sorted by name.
    pub tools: Arc<[ToolSpec]>,
    /// Whether the model may, must or must not call one.
    pub tool_choice: ToolChoice,
    /// How the model samples.
    pub sampling: Sampling,
    /// The conversation, oldest message first.
    pub messages: History,
}

impl Request {
    /// Creates a request to `model` with `messages`, and nothing else.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_core::{message::Message, provider::Request};
    ///
    /// let request = Request::new("gpt-5", vec![Message::user("hello")]);
    ///
    /// assert_eq!(request.messages.len(), 1);
    /// ```
    pub fn new(model: impl Into<ModelId>, messages: impl Into<History>) -> Self {
        Self {
            model: model.into(),
            system: Arc::from(""),
            tools: Arc::from([]),
            tool_choice: ToolChoice::default(),
            sampling: Sampling::default(),
            messages: messages.into(),
        }
    }

    /// Returns the same request with `system` as its system prompt.
    #[must_use]
    pub fn with_system(mut self, system: impl Into<Arc<str>>) -> Self {
        self.system = system.into();
        self
    }

    /// Returns the same request with `tools` on offer.
    #[must_use]
    pub fn with_tools(mut self, tools: impl Into<Arc<[ToolSpec]>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Returns the same request with `choice` as its tool choice.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Returns the same request with `sampling`.
    #[must_use]
    pub fn with_sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }
}

/// Whether a model may call tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides. The default.
    #[default]
    Auto,
    /// The model must call some tool.
    Required,
    /// The model must not call any.
    None,
    /// The model must call the tool of this name.
    Tool(Arc<str>),
}

/// How a model samples. What is `None` is left to the endpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Sampling {
    /// Randomness, usually from 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// The share of probability that candidates are drawn from, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f32>,
    /// The most tokens one answer may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// How hard a reasoning model thinks, as the endpoint spells it (`low`, `medium`, `high`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// A seed, where the endpoint takes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

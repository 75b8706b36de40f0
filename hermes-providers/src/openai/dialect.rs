//! In what the endpoints of one wire differ, as data.

/// How an endpoint wants what the others want otherwise.
///
/// The default suits most servers. Nothing of it depends on a conversation, so that bodies stay the
/// same from round to round.
///
/// # Examples
///
/// ```
/// use hermes_providers::openai::{Dialect, MaxTokensKey};
///
/// let dialect = Dialect::default().with_max_tokens_key(MaxTokensKey::MaxCompletionTokens);
///
/// assert_eq!(dialect.max_tokens_key, MaxTokensKey::MaxCompletionTokens);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dialect {
    /// What the limit of output tokens is called.
    pub max_tokens_key: MaxTokensKey,
    /// In which role the system prompt goes out.
    pub system_role: SystemRole,
    /// Where the reasoning effort goes.
    pub effort_key: EffortKey,
    /// Whether the model's reasoning goes back to it as text.
    pub reasoning_echo: ReasoningEcho,
    /// What stands for the text of an answer that has calls and no text.
    pub silence: Silence,
}

impl Dialect {
    /// What suits most servers.
    pub(super) const COMMON: Self = Self {
        max_tokens_key: MaxTokensKey::MaxTokens,
        system_role: SystemRole::System,
        effort_key: EffortKey::Plain,
        reasoning_echo: ReasoningEcho::Never,
        silence: Silence::NoText,
    };

    /// Returns the same dialect with another name for the limit of output tokens.
    #[must_use]
    pub fn with_max_tokens_key(mut self, key: MaxTokensKey) -> Self {
        self.max_tokens_key = key;
        self
    }

    /// Returns the same dialect with another role for the system prompt.
    #[must_use]
    pub fn with_system_role(mut self, role: SystemRole) -> Self {
        self.system_role = role;
        self
    }

    /// Returns the same dialect with another place for the reasoning effort.
    #[must_use]
    pub fn with_effort_key(mut self, key: EffortKey) -> Self {
        self.effort_key = key;
        self
    }

    /// Returns the same dialect with another rule for reasoning that goes back.
    #[must_use]
    pub fn with_reasoning_echo(mut self, echo: ReasoningEcho) -> Self {
        self.reasoning_echo = echo;
        self
    }

    /// Returns the same dialect with something else in place of a text that is not there.
    #[must_use]
    pub fn with_silence(mut self, silence: Silence) -> Self {
        self.silence = silence;
        self
    }
}

/// What an endpoint calls the limit of output tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaxTokensKey {
    /// `max_tokens`. The default.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, as OpenAI's reasoning models want it.
    MaxCompletionTokens,
}

impl ReasoningEcho {
    /// Returns whether reasoning has to be known again as this provider's.
    pub(super) fn needs_origin(self) -> bool {
        self == Self::Content
    }
}

impl MaxTokensKey {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// In which role a system prompt goes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SystemRole {
    /// `system`. The default.
    #[default]
    System,
    /// `developer`, the newer name at OpenAI.
    Developer,
}

impl SystemRole {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
        }
    }
}

/// Where the reasoning effort goes in a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EffortKey {
    /// `"reasoning_effort": …`. The default.
    #[default]
    Plain,
    /// `"reasoning": {"effort": …}`, as at OpenRouter.
    Nested,
}

/// Whether the model's reasoning goes back to it as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReasoningEcho {
    /// No. The default.
    #[default]
    Never,
    /// As `reasoning_content`, which DeepSeek, Kimi and MiMo want with every tool call. Only what a
    /// provider of the same name thought goes back; in place of any other reasoning there is a blank.
    Content,
}

/// What stands for the text of an answer that has calls and no text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Silence {
    /// No text at all. The default.
    #[default]
    NoText,
    /// An empty string, without which the template of llama-cpp-python fails.
    Empty,
}

//! Known endpoints, as data.

use std::time::Duration;

use super::{
    Dialect, EffortKey, MaxTokensKey, OpenAiChat, OpenAiChatBuilder, ReasoningEcho, Silence,
};
use crate::Timeouts;

/// Where an endpoint is and what it wants otherwise than most.
///
/// # Examples
///
/// ```
/// use hermes_providers::openai::Preset;
///
/// let preset = Preset::named("ollama").ok_or("no such preset")?;
/// let provider = preset.builder().build()?;
///
/// assert_eq!(provider.address(), "http://127.0.0.1:11434/v1/chat/completions");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preset {
    /// The name, in lower case.
    pub name: &'static str,
    /// The base URL.
    pub base_url: &'static str,
    /// What it wants otherwise than most.
    pub dialect: Dialect,
    /// How long it may be silent.
    pub timeouts: Timeouts,
}

impl Preset {
    /// All presets, sorted by name.
    pub const ALL: &'static [Self] = &[
        patient("deepseek", "https://api.deepseek.com/v1", ECHOING),
        local("llama-cpp-python", "http://127.0.0.1:8000/v1", LLAMA_CPP_PYTHON),
        local("llama.cpp", "http://127.0.0.1:8080/v1", PLAIN),
        local("lmstudio", "http://127.0.0.1:1234/v1", PLAIN),
        remote("nous", "https://inference-api.nousresearch.com/v1", PLAIN),
        local("ollama", "http://127.0.0.1:11434/v1", PLAIN),
        remote("openai", "https://api.openai.com/v1", OPENAI),
        patient("openrouter", "https://openrouter.ai/api/v1", OPENROUTER),
        local("vllm", "http://127.0.0.1:8000/v1", PLAIN),
    ];

    /// Returns the preset of that name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|preset| preset.name.eq_ignore_ascii_case(name)).copied()
    }

    /// Starts a provider for the endpoint; the key is still to be set where it needs one.
    pub fn builder(&self) -> OpenAiChatBuilder {
        OpenAiChat::builder(self.base_url)
            .name(self.name)
            .dialect(self.dialect)
            .timeouts(self.timeouts)
    }
}

const PLAIN: Dialect = Dialect::COMMON;
const OPENAI: Dialect =
    Dialect { max_tokens_key: MaxTokensKey::MaxCompletionTokens, ..Dialect::COMMON };
const LLAMA_CPP_PYTHON: Dialect = Dialect { silence: Silence::Empty, ..Dialect::COMMON };
const OPENROUTER: Dialect = Dialect { effort_key: EffortKey::Nested, ..Dialect::COMMON };
const ECHOING: Dialect = Dialect { reasoning_echo: ReasoningEcho::Content, ..Dialect::COMMON };

const fn remote(name: &'static str, base_url: &'static str, dialect: Dialect) -> Preset {
    Preset { name, base_url, dialect, timeouts: Timeouts::REMOTE }
}

/// An endpoint that sends comments while a request waits its turn, or while a model thinks in secret.
const fn patient(name: &'static str, base_url: &'static str, dialect: Dialect) -> Preset {
    let timeouts = Timeouts { first_byte: Duration::from_secs(900), ..Timeouts::REMOTE };
    Preset { name, base_url, dialect, timeouts }
}

/// A server on the host's own machine may read a long prompt for minutes.
const fn local(name: &'static str, base_url: &'static str, dialect: Dialect) -> Preset {
    let timeouts = Timeouts { first_byte: Duration::from_secs(1800), ..Timeouts::REMOTE };
    Preset { name, base_url, dialect, timeouts }
}

#[cfg(test)]
mod tests {
    use hermes_core::{
        message::{Call, Message, Part, Role},
        provider::Request,
    };
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_preset_builds_and_keeps_its_address() {
        for preset in Preset::ALL {
            let provider = preset.builder().build().unwrap();

            assert_eq!(provider.address(), format!("{}/chat/completions", preset.base_url));
        }
    }

    #[test]
    fn silence_is_an_empty_string_where_the_server_wants_one() {
        let call = Part::Call(Call::new("a", "x", "{}"));
        let request = Request::new("m", vec![Message::new(Role::Assistant, vec![call])]);
        let content = |preset: &str| {
            let provider = Preset::named(preset).unwrap().builder().build().unwrap();
            let body: Value = serde_json::from_slice(&provider.build_body(&request)).unwrap();
            body["messages"][0]["content"].clone()
        };

        assert_eq!(content("llama-cpp-python"), "");
        assert_eq!(content("openai"), Value::Null);
    }

    #[test]
    fn presets_are_sorted_by_name() {
        assert!(Preset::ALL.is_sorted_by_key(|preset| preset.name));
    }
}

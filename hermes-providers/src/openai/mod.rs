//! The chat completions wire, which most endpoints speak.

mod body;
mod convert;
mod dialect;
mod import;
mod preset;
mod stream;
mod wire;

use async_trait::async_trait;
use bytes::Bytes;
use hermes_core::provider::{EventStream, Provider, ProviderError, Request};
use tokio_util::sync::CancellationToken;

use self::stream::ChatReader;
pub use self::{
    dialect::{Dialect, EffortKey, MaxTokensKey, ReasoningEcho, Silence, SystemRole},
    import::{Imported, import},
    preset::Preset,
};
use crate::{
    BuildError,
    http::{Manner, Setup, common_setters, under},
    wire::link::{Link, common_methods},
};

/// Any endpoint that speaks chat completions: OpenAI, OpenRouter, Ollama, llama.cpp, vLLM and the
/// rest.
///
/// It streams, and puts right on the way out what strict servers refuse: calls without results,
/// results without calls, results in the wrong place, empty messages and names. The history itself
/// stays as it is. Equal requests give equal bytes, the messages come last in the body, and a message
/// is written once, so that a round costs what is new in it.
///
/// The base URL may end in `/v1`, another path, or nothing, in which case `/v1` is added.
///
/// # Examples
///
/// ```no_run
/// use hermes_core::{message::Message, provider::{ProviderExt, Request}};
/// use hermes_providers::{ApiKey, OpenAiChat};
/// use tokio_util::sync::CancellationToken;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let provider = OpenAiChat::builder("https://api.openai.com/v1")
///     .key(ApiKey::new("sk-…from the host")?)
///     .build()?;
///
/// let request = Request::new("gpt-5-mini", vec![Message::user("hello")]);
/// let answer = provider.complete(&request, &CancellationToken::new()).await?;
///
/// assert!(!answer.text().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct OpenAiChat {
    link: Link,
    dialect: Dialect,
}

impl OpenAiChat {
    /// Starts a provider for the endpoint at `base_url`.
    pub fn builder(base_url: impl Into<String>) -> OpenAiChatBuilder {
        OpenAiChatBuilder { setup: Setup::new(base_url.into()), dialect: Dialect::default() }
    }

    /// Returns the body that `request` is sent with.
    pub fn build_body(&self, request: &Request) -> Bytes {
        body::bytes(request, &self.link, self.dialect)
    }

    common_methods!(|it: &Self| ChatReader::new(it.dialect.reasoning_echo));
}

#[async_trait]
impl Provider for OpenAiChat {
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let reader = ChatReader::new(self.dialect.reasoning_echo);
        self.link.ask(self.build_body(request), reader, request, token).await
    }
}

/// Puts an [`OpenAiChat`] together.
#[derive(Debug)]
pub struct OpenAiChatBuilder {
    setup: Setup,
    dialect: Dialect,
}

impl OpenAiChatBuilder {
    common_setters!("Authorization: Bearer …");

    /// Sets what the endpoint wants otherwise than most. See [`Dialect`] for the defaults.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Builds the provider. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// - [`BuildError::BaseUrl`] if the base URL is no http or https address.
    /// - [`BuildError::Header`] if an extra header is not valid.
    /// - [`BuildError::Field`] if an extra field is called `messages`.
    /// - [`BuildError::Client`] if the default client cannot be made.
    pub fn build(self) -> Result<OpenAiChat, BuildError> {
        Ok(OpenAiChat { link: Link::new(self.setup, MANNER)?, dialect: self.dialect })
    }
}

const MANNER: Manner = Manner {
    address: |url| under(url, "/chat/completions", str::is_empty),
    key: ("authorization", "Bearer "),
    fixed: &[],
    list: "messages",
};

#[cfg(test)]
mod tests;

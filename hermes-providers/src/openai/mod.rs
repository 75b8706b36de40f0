//! The chat completions wire, which most endpoints speak.

mod body;
mod convert;
mod dialect;
mod import;
mod preset;
mod stream;
mod wire;

use std::{collections::BTreeMap, fmt, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use hermes_core::provider::{EventStream, ModelEvent, Provider, ProviderError, Request};
use reqwest::Url;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::{body::Body, convert::Writer, stream::ChatDecoder};
pub use self::{
    dialect::{Dialect, EffortKey, MaxTokensKey, ReasoningEcho, Silence, SystemRole},
    import::{Imported, import},
    preset::Preset,
};
use crate::{
    BuildError,
    http::{Endpoint, Manner, Setup, common_setters},
    wire::{fragments::Fragments, names::Names},
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
pub struct OpenAiChat {
    endpoint: Arc<Endpoint>,
    name: Arc<str>,
    dialect: Dialect,
    extra: BTreeMap<String, Value>,
    fragments: Fragments,
}

impl OpenAiChat {
    /// Starts a provider for the endpoint at `base_url`.
    pub fn builder(base_url: impl Into<String>) -> OpenAiChatBuilder {
        OpenAiChatBuilder { setup: Setup::new(base_url.into()), dialect: Dialect::default() }
    }

    /// Returns the body that `request` is sent with.
    pub fn build_body(&self, request: &Request) -> Bytes {
        let writer = Writer { dialect: self.dialect, provider: &self.name };
        Body { writer, fragments: &self.fragments, extra: &self.extra }.bytes(request)
    }

    /// Reads an answer that was recorded, a stream or a whole one, in one piece or in several.
    ///
    /// Tools keep the names they have there. Otherwise it is what [`stream`](Provider::stream) makes of the same bytes with status 200, for tests and
    /// for looking into what an endpoint does.
    ///
    /// # Errors
    ///
    /// That of the stream; the events before it are dropped.
    pub fn read_answer<'a>(
        &self,
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Vec<ModelEvent>, ProviderError> {
        let decoder = ChatDecoder::new(Arc::clone(&self.name), Names::of(&[]));
        self.endpoint.read(decoder, pieces)
    }

    /// Returns the address that requests go to, without anything secret.
    pub fn address(&self) -> &str {
        &self.endpoint.place
    }
}

impl fmt::Debug for OpenAiChat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiChat")
            .field("name", &self.name)
            .field("endpoint", &self.endpoint)
            .field("dialect", &self.dialect)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Provider for OpenAiChat {
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let body = self.build_body(request);
        let names = Names::of(&request.tools);
        let decoder = ChatDecoder::new(Arc::clone(&self.name), names);
        self.endpoint.ask(body, decoder, token).await
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
        let (endpoint, name) = self.setup.endpoint(MANNER)?;
        Ok(OpenAiChat {
            endpoint: Arc::new(endpoint),
            name,
            dialect: self.dialect,
            extra: self.setup.fields,
            fragments: Fragments::default(),
        })
    }
}

const MANNER: Manner = Manner { address: chat_url, key: ("authorization", "Bearer "), fixed: &[] };

/// Returns where chat completions are under a base URL.
fn chat_url(mut url: Url) -> Url {
    const SUFFIX: &str = "/chat/completions";
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix(SUFFIX).unwrap_or(path).trim_end_matches('/');
    let base = if path.is_empty() { "/v1" } else { path };
    let path = format!("{base}{SUFFIX}");
    url.set_path(&path);
    url
}

#[cfg(test)]
mod tests;

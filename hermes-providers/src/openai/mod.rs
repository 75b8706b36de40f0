//! The chat completions wire, which most endpoints speak.

mod body;
mod calls;
mod convert;
mod dialect;
mod import;
mod names;
mod preset;
mod schema;
mod stream;
mod wire;

use std::{collections::BTreeMap, fmt, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use hermes_core::{
    clock::{Clock, SystemClock},
    provider::{EventStream, Provider, ProviderError, Request},
};
use reqwest::{
    Client, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::{body::Body, convert::Writer, names::Names, stream::ChatDecoder};
pub use self::{
    dialect::{Dialect, EffortKey, MaxTokensKey, ReasoningEcho, SystemRole},
    import::{Imported, import},
    preset::Preset,
};
use crate::{
    BuildError,
    fragments::Fragments,
    http::{ApiKey, Endpoint, Scrubber, Timeouts, default_client, parse_url},
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
        OpenAiChatBuilder {
            base_url: base_url.into(),
            key: None,
            client: None,
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            name: None,
            dialect: Dialect::default(),
            extra: BTreeMap::new(),
            clock: Arc::new(SystemClock),
        }
    }

    /// Returns the body that `request` is sent with.
    pub fn build_body(&self, request: &Request) -> Bytes {
        let writer = Writer { dialect: self.dialect, provider: &self.name };
        Body { writer, fragments: &self.fragments, extra: &self.extra }.bytes(request)
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
    base_url: String,
    key: Option<ApiKey>,
    client: Option<Client>,
    headers: Vec<(String, String)>,
    timeouts: Timeouts,
    name: Option<String>,
    dialect: Dialect,
    extra: BTreeMap<String, Value>,
    clock: Arc<dyn Clock>,
}

impl OpenAiChatBuilder {
    /// Sets the key, sent as `Authorization: Bearer …`. Without it no such header is sent, which is
    /// what local servers expect.
    #[must_use]
    pub fn key(mut self, key: ApiKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Sets the HTTP client, and with it proxy, roots, connection pool and redirects.
    ///
    /// The default client uses no proxy, reads no environment, and follows a redirect only to the
    /// same origin. A client of the host should do the latter, too.
    #[must_use]
    pub fn client(mut self, client: Client) -> Self {
        self.client = Some(client);
        self
    }

    /// Adds a header to every request. Its value is kept out of logs and errors. An
    /// `authorization` given here takes the place of the key's.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets how long the endpoint may be silent. See [`Timeouts`] for the defaults.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets the name under which opaque reasoning belongs to this provider. The host of the base URL
    /// by default.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets what the endpoint wants otherwise than most. See [`Dialect`] for the defaults.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Adds a field to every body, or replaces one; `null` takes it out.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(name.into(), value.into());
        self
    }

    /// Sets the clock that dates in `Retry-After` are compared with. The machine's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
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
        if self.extra.contains_key("messages") {
            return Err(BuildError::Field { name: "messages".to_owned() });
        }
        let url = chat_url(parse_url(&self.base_url)?);
        let client = match self.client {
            Some(client) => client,
            None => default_client(self.timeouts)?,
        };
        let mut scrubber = Scrubber::default();
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.key {
            scrubber.add(key.expose());
            headers.insert(AUTHORIZATION, key.header("Bearer ")?);
        }
        for (name, value) in self.headers {
            scrubber.add(&value);
            let (name, value) = header(name, &value)?;
            headers.insert(name, value);
        }
        let host = url.host_str().unwrap_or_default();
        let name = self.name.unwrap_or_else(|| host.to_owned());
        let place = shown(&url);
        let endpoint = Endpoint {
            client,
            url,
            place,
            headers,
            timeouts: self.timeouts,
            scrubber,
            clock: self.clock,
        };
        Ok(OpenAiChat {
            endpoint: Arc::new(endpoint),
            name: name.into(),
            dialect: self.dialect,
            extra: self.extra,
            fragments: Fragments::default(),
        })
    }
}

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

/// Returns an address without user, password and query.
fn shown(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

fn header(name: String, value: &str) -> Result<(HeaderName, HeaderValue), BuildError> {
    let parsed = (name.parse::<HeaderName>(), HeaderValue::from_str(value));
    let (Ok(parsed_name), Ok(mut parsed_value)) = parsed else {
        return Err(BuildError::Header { name });
    };
    parsed_value.set_sensitive(true);
    Ok((parsed_name, parsed_value))
}

#[cfg(test)]
mod tests;

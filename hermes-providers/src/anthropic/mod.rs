//! The messages wire of Anthropic, and of the endpoints that speak it.

mod body;
mod convert;
mod import;
mod limits;
mod stream;
mod thinking;
mod wire;

use async_trait::async_trait;
use bytes::Bytes;
use hermes_core::{
    message::Message,
    provider::{EventStream, Provider, ProviderError, Request},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::{body::Body, import::import_turn, stream::MessageReader};
use crate::{
    BuildError,
    http::{Manner, Setup, common_setters, under},
    wire::link::{Link, common_methods},
};

/// Any endpoint that speaks the messages wire: Anthropic, and gateways to other models.
///
/// It streams, and puts right on the way out what the wire refuses: calls without results and results
/// without calls, results in another place than right after their calls, empty texts, two turns of one
/// speaker. The history itself stays as it is.
///
/// Thinking goes back with its signature, and only as it came: if the text was changed or shortened, or
/// another provider or model thought it, it stays here. If the endpoint refuses it all the same, the
/// request is sent once more without it, and later ones go without it, too. Where the last assistant turn
/// calls tools and has no thinking to show, because another provider or model made it, the request asks
/// for none: the wire would refuse it. System prompt and the last three messages carry cache
/// markers, see [`Caching`].
///
/// A base URL that does not end in a version gets `/v1`. A reasoning effort becomes a budget of tokens
/// to think with, 4,000 for `low`, 8,000 for `medium`, 16,000 for `high`, or the number itself.
///
/// # Examples
///
/// ```no_run
/// use hermes_core::{message::Message, provider::{ProviderExt, Request}};
/// use hermes_providers::{Anthropic, ApiKey};
/// use tokio_util::sync::CancellationToken;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let provider = Anthropic::builder("https://api.anthropic.com")
///     .key(ApiKey::new("the key, from the host")?)
///     .build()?;
///
/// let request = Request::new("claude-sonnet-4-5", vec![Message::user("hello")]);
/// let answer = provider.complete(&request, &CancellationToken::new()).await?;
///
/// assert!(!answer.text().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Anthropic {
    link: Link,
    caching: Caching,
}

/// How long the endpoint keeps what it has read, at the markers that the provider sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caching {
    /// No markers.
    Off,
    /// Five minutes. The default.
    #[default]
    FiveMinutes,
    /// An hour, at a higher price of writing.
    OneHour,
}

impl Caching {
    fn control(self) -> Option<Value> {
        match self {
            Self::Off => None,
            Self::FiveMinutes => Some(json!({"type": "ephemeral"})),
            Self::OneHour => Some(json!({"type": "ephemeral", "ttl": "1h"})),
        }
    }

    /// Returns the marker as the last field of a block.
    fn marker(self) -> Option<&'static str> {
        match self {
            Self::Off => None,
            Self::FiveMinutes => Some(r#","cache_control":{"type":"ephemeral"}"#),
            Self::OneHour => Some(r#","cache_control":{"ttl":"1h","type":"ephemeral"}"#),
        }
    }
}

impl Anthropic {
    /// Starts a provider for the endpoint at `base_url`.
    pub fn builder(base_url: impl Into<String>) -> AnthropicBuilder {
        AnthropicBuilder { setup: Setup::new(base_url.into()), caching: Caching::default() }
    }

    /// Returns the body that `request` is sent with.
    pub fn build_body(&self, request: &Request) -> Bytes {
        self.body().bytes(request)
    }

    fn body(&self) -> Body<'_> {
        Body { link: &self.link, caching: self.caching }
    }

    /// Reads the content blocks of one assistant turn of this provider, in their order. Blocks of
    /// kinds that are not known are left out.
    ///
    /// # Examples
    ///
    /// ```
    /// use hermes_providers::Anthropic;
    /// use serde_json::json;
    ///
    /// let provider = Anthropic::builder("https://api.anthropic.com").build()?;
    /// let turn = provider.import_turn(&[json!({"type": "text", "text": "hello"})]);
    ///
    /// assert_eq!(turn.text(), "hello");
    /// # Ok::<(), hermes_providers::BuildError>(())
    /// ```
    pub fn import_turn(&self, blocks: &[Value]) -> Message {
        import_turn(&self.link.name, blocks)
    }

    common_methods!(|_| MessageReader::default());
}

#[async_trait]
impl Provider for Anthropic {
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let without = || self.body().bytes_without_thinking(request);
        let body = self.build_body(request);
        self.link.ask_or_forget::<MessageReader>(body, without, request, token).await
    }
}

/// Puts an [`Anthropic`] together.
#[derive(Debug)]
pub struct AnthropicBuilder {
    setup: Setup,
    caching: Caching,
}

impl AnthropicBuilder {
    common_setters!("x-api-key: …");

    /// Sets whether and how long the endpoint is asked to keep what it has read. Five minutes by
    /// default.
    #[must_use]
    pub fn caching(mut self, caching: Caching) -> Self {
        self.caching = caching;
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
    pub fn build(self) -> Result<Anthropic, BuildError> {
        Ok(Anthropic { link: Link::new(self.setup, MANNER)?, caching: self.caching })
    }
}

const MANNER: Manner = Manner {
    address: |url| under(url, "/messages", lacks_version),
    key: ("x-api-key", ""),
    fixed: &[("anthropic-version", "2023-06-01")],
    list: "messages",
};

/// Returns whether a path does not end in a version, such as `/v1`.
fn lacks_version(path: &str) -> bool {
    let last = path.rsplit('/').next().and_then(|it| it.strip_prefix('v')).unwrap_or_default();
    !last.starts_with(|char: char| char.is_ascii_digit())
}

#[cfg(test)]
mod tests;

//! The responses wire of OpenAI, and of the endpoints that speak it.

mod body;
mod items;
mod stream;
mod wire;

use async_trait::async_trait;
use bytes::Bytes;
use hermes_core::provider::{EventStream, Provider, ProviderError, Request};
use tokio_util::sync::CancellationToken;

use self::stream::ResponseReader;
use crate::{
    BuildError,
    http::{Manner, Setup, common_setters, under},
    wire::link::{Link, common_methods},
};

/// Any endpoint that speaks the responses wire: OpenAI, and servers that offer it beside chat
/// completions.
///
/// It streams, and puts right on the way out what the wire refuses: calls without results and results
/// without calls, results in another place than right after their calls, empty texts, names and ids
/// that are too long. The history itself stays as it is. Equal requests give equal bytes, the input
/// comes last in the body, and a message is written once, so that a round costs what is new in it.
///
/// Nothing is stored at the endpoint: every request has the whole conversation, and asks for the
/// model's reasoning in encrypted form. It goes back in the bytes in which it came, to this provider
/// and the same model only, and only with the items that came with it; if these were changed or
/// shortened, it stays here. Models that are known not to reason are not asked for it. If the endpoint
/// cannot read it, because it came under the key of another organisation, the request is sent once more
/// without it, and later ones go without it, too.
///
/// The base URL may end in `/v1`, another path, or nothing, in which case `/v1` is added. The wire has
/// no seed. To let an endpoint find its cache of a conversation, set the field `prompt_cache_key`.
///
/// # Examples
///
/// ```no_run
/// use hermes_core::{message::Message, provider::{ProviderExt, Request}};
/// use hermes_providers::{ApiKey, OpenAiResponses};
/// use tokio_util::sync::CancellationToken;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let provider = OpenAiResponses::builder("https://api.openai.com/v1")
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
pub struct OpenAiResponses {
    link: Link,
    summaries: Summaries,
}

/// Whether the endpoint is asked to sum up for a reader what the model thought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Summaries {
    /// It is not asked. The default, because OpenAI gives summaries to verified organisations only,
    /// and other models than those that reason refuse the request.
    #[default]
    Off,
    /// As long as the endpoint sees fit.
    Auto,
    /// Short ones.
    Concise,
    /// Long ones.
    Detailed,
}

impl Summaries {
    fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Off => None,
            Self::Auto => Some("auto"),
            Self::Concise => Some("concise"),
            Self::Detailed => Some("detailed"),
        }
    }
}

impl OpenAiResponses {
    /// Starts a provider for the endpoint at `base_url`.
    pub fn builder(base_url: impl Into<String>) -> OpenAiResponsesBuilder {
        OpenAiResponsesBuilder {
            setup: Setup::new(base_url.into()),
            summaries: Summaries::default(),
        }
    }

    /// Returns the body that `request` is sent with.
    pub fn build_body(&self, request: &Request) -> Bytes {
        body::bytes(request, &self.link, self.summaries)
    }

    common_methods!(|_| ResponseReader::default());
}

#[async_trait]
impl Provider for OpenAiResponses {
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let without = || body::without_reasoning(request, &self.link, self.summaries);
        let body = self.build_body(request);
        self.link.ask_or_forget::<ResponseReader>(body, without, request, token).await
    }
}

/// Puts an [`OpenAiResponses`] together.
#[derive(Debug)]
pub struct OpenAiResponsesBuilder {
    setup: Setup,
    summaries: Summaries,
}

impl OpenAiResponsesBuilder {
    common_setters!("Authorization: Bearer …");

    /// Sets whether the endpoint is asked to sum up what the model thought. It is not by default, and
    /// then most models show nothing of it.
    #[must_use]
    pub fn summaries(mut self, summaries: Summaries) -> Self {
        self.summaries = summaries;
        self
    }

    /// Builds the provider. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// - [`BuildError::BaseUrl`] if the base URL is no http or https address.
    /// - [`BuildError::Header`] if an extra header is not valid.
    /// - [`BuildError::Field`] if an extra field is called `input`.
    /// - [`BuildError::Client`] if the default client cannot be made.
    pub fn build(self) -> Result<OpenAiResponses, BuildError> {
        Ok(OpenAiResponses { link: Link::new(self.setup, MANNER)?, summaries: self.summaries })
    }
}

const MANNER: Manner = Manner {
    address: |url| under(url, "/responses", str::is_empty),
    key: ("authorization", "Bearer "),
    fixed: &[],
    list: "input",
};

#[cfg(test)]
mod tests;

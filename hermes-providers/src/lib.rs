//! Models over the network, for the agents of `hermes-core`.
//!
//! They stream, put requests right on the way out, take answers as they come, and make one classified
//! [`ProviderError`] of whatever goes wrong:
//!
//! | [`Provider`]        | for endpoints that speak           | at, under the base URL | feature     |
//! | ------------------- | ---------------------------------- | ---------------------- | ----------- |
//! | [`OpenAiChat`]      | chat completions, as nearly all do | `/chat/completions`    | `openai`    |
//! | [`OpenAiResponses`] | the responses of OpenAI            | `/responses`           | `responses` |
//! | [`Anthropic`]       | the messages of Anthropic          | `/messages`            | `anthropic` |
//!
//! [`Retry`] asks a provider again where that can help, [`CredentialPool`] under another key, and
//! [`Fallback`] asks another one. All are providers around providers:
//! `Fallback::new(Retry::new(CredentialPool::new(first))).or(Retry::new(second))`.
//!
//! [`PriceTable`] estimates what calls cost, from prices that the host brings.
//!
//! Keys, base URLs and proxies come from the host, never from the environment. The default client uses
//! no proxy; to use one, build a client from [`client_builder`] and hand it in.
//!
//! # Certificates
//!
//! By default a certificate is judged as the platform judges it. On Linux and the BSDs that means the
//! roots of the system, and the code that finds them goes by the variables `SSL_CERT_FILE` and
//! `SSL_CERT_DIR` if they are set: the one thing here that depends on the environment. A host that wants
//! its own roots and nothing else, environment included, calls `tls_certs_only` on the
//! [`client_builder`].
//!
//! # Feature flags
//!
//! - `anthropic` (default): [`Anthropic`].
//! - `openai` (default): [`OpenAiChat`].
//! - `responses` (default): [`OpenAiResponses`].
//! - `rustls` (default): TLS. Without it only plain http works, unless the host's client brings TLS.
//!
//! [`Provider`]: hermes_core::provider::Provider
//! [`ProviderError`]: hermes_core::provider::ProviderError

#[cfg(feature = "anthropic")]
pub mod anthropic;
#[cfg(feature = "openai")]
pub mod openai;
#[cfg(feature = "responses")]
pub mod responses;

mod credentials;
mod fallback;
mod price;
mod retry;

mod error;
#[cfg_attr(
    not(any(feature = "anthropic", feature = "openai", feature = "responses")),
    expect(dead_code, unused_imports, unused_macros, reason = "only the wires make use of it")
)]
mod http;
mod peek;
#[cfg(any(feature = "anthropic", feature = "openai", feature = "responses"))]
#[cfg_attr(not(feature = "responses"), expect(dead_code, reason = "that wire makes use of all"))]
mod wire;

pub use reqwest;

#[cfg(feature = "anthropic")]
pub use self::anthropic::{Anthropic, AnthropicBuilder, Caching};
#[cfg(feature = "openai")]
pub use self::openai::{OpenAiChat, OpenAiChatBuilder};
#[cfg(feature = "responses")]
pub use self::responses::{OpenAiResponses, OpenAiResponsesBuilder, Summaries};
pub use self::{
    credentials::{CredentialPool, Turns},
    error::BuildError,
    fallback::Fallback,
    http::{ApiKey, Timeouts, client_builder, status::classify},
    price::{PriceTable, Prices},
    retry::{Backoff, Retry},
};

//! The providers against real HTTP on loopback.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "these are tests")]

mod bodies;
mod bounds;
mod cases;
mod contract;
mod faults;
mod redirects;

mod anthropic;
mod live;
mod responses;
mod streams;

mod server;
#[cfg(feature = "rustls")]
mod tls;
mod wires;

/// A fold that every test needs: the whole answer to "hi".
async fn ask(
    provider: &(impl hermes_core::provider::Provider + ?Sized),
) -> Result<hermes_core::message::Message, hermes_core::provider::ProviderError> {
    use hermes_core::provider::ProviderExt;

    let messages = vec![hermes_core::message::Message::user("hi")];
    let request = hermes_core::provider::Request::new("m", messages);
    provider.complete(&request, &tokio_util::sync::CancellationToken::new()).await
}

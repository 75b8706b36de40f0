//! Looking at the first event of an answer, because until it has reached the caller another try is
//! free.

use futures::{StreamExt, stream};
use hermes_core::provider::{EventStream, Provider, ProviderError, Request};
use tokio_util::sync::CancellationToken;

/// Starts `request` and waits for its first event, so that an answer that fails before it has said
/// anything is an error here.
pub(crate) async fn begun(
    provider: &(impl Provider + ?Sized),
    request: &Request,
    token: &CancellationToken,
) -> Result<EventStream, ProviderError> {
    let mut events = provider.stream(request, token).await?;
    match events.next().await {
        Some(Err(err)) => Err(err),
        Some(Ok(first)) => Ok(stream::iter([Ok(first)]).chain(events).boxed()),
        None => Ok(events),
    }
}

//! Where assistant messages come from.

mod error;
mod event;
mod request;

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use futures::{StreamExt, stream::BoxStream};
use tokio_util::sync::CancellationToken;

pub use self::{
    error::{ProviderError, ProviderErrorKind, Recovery},
    event::{Assembly, ModelEvent},
    request::{ModelId, Request, Sampling, ToolChoice},
};
use crate::message::Message;

/// The events of one assistant message: any number of deltas, then one [`ModelEvent::Done`] or one
/// error. Dropping it ends the request.
pub type EventStream = BoxStream<'static, Result<ModelEvent, ProviderError>>;

/// A source of assistant messages.
///
/// There is one required method, and it streams. Callers who want the whole message use
/// [`ProviderExt::complete`], which folds the stream, so both paths run the same code. The endpoint
/// and the key belong to the provider; the model belongs to the request.
///
/// # Contract
///
/// [`conformance::provider`](crate::testing::conformance::provider) checks these.
///
/// - **One end.** A stream ends with exactly one [`ModelEvent::Done`], or with the first error.
/// - **Cancellable.** When the token is cancelled, a pending call returns and a running stream ends
///   with an error of kind [`ProviderErrorKind::Cancelled`], both within a moment.
/// - **No state.** The answer depends on the request; two requests at once do not disturb each other.
/// - **Tolerant.** Unknown fields and values in an answer are ignored or carried, never an error.
#[async_trait]
pub trait Provider: fmt::Debug + Send + Sync {
    /// Starts one message.
    ///
    /// # Errors
    ///
    /// A [`ProviderError`] if the request is refused before the first event. Its
    /// [`recovery`](ProviderError::recovery) says what can be done about it.
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<P: Provider + ?Sized> Provider for Arc<P> {
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        (**self).stream(request, token).await
    }
}

/// Conveniences for every [`Provider`]. Not meant to be implemented.
pub trait ProviderExt: Provider {
    /// Runs `request` to its end and returns the whole assistant message, with its stop reason and
    /// usage.
    ///
    /// # Errors
    ///
    /// As [`Provider::stream`], the first error of the stream, and
    /// [`ProviderErrorKind::StreamCut`] if the stream ends without its last event.
    fn complete(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> impl Future<Output = Result<Message, ProviderError>> + Send;
}

impl<P: Provider + ?Sized> ProviderExt for P {
    async fn complete(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<Message, ProviderError> {
        let mut events = self.stream(request, token).await?;
        let mut assembly = Assembly::default();
        while let Some(event) = events.next().await {
            assembly.push(event?);
        }
        if assembly.is_done() {
            return Ok(assembly.into_message());
        }
        Err(ProviderError::new(ProviderErrorKind::StreamCut, "stream ended before its last event"))
    }
}

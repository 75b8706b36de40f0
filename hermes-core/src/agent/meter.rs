//! What a request took, by the endpoint's word or by estimate, and a provider that takes note of it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    task::Poll,
};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use super::trace;
use crate::{
    compress::{message_tokens, request_tokens},
    message::{Message, MessageId, Usage},
    provider::{Assembly, EventStream, ModelEvent, ModelId, Provider, ProviderError, Request},
};

/// What one request took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub(crate) usage: Usage,
    /// Whether the endpoint said nothing of it.
    pub(crate) is_estimated: bool,
}

impl Used {
    /// Returns what `request` took, which brought `reply`.
    pub(crate) fn of(request: &Request, reply: &Message) -> Self {
        let usage = reply.usage.unwrap_or_default();
        if 0 < usage.total() {
            return Self { usage, is_estimated: false };
        }
        let input = request_tokens(request, MessageId(u64::MAX));
        Self { usage: Usage::new(input, message_tokens(reply)), is_estimated: true }
    }
}

/// A provider whose requests have spans and are taken note of. A clone shares the notes.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    inner: Arc<dyn Provider>,
    has_content: bool,
    taken: Arc<Mutex<Vec<(ModelId, Used)>>>,
}

impl Meter {
    pub(crate) fn new(inner: Arc<dyn Provider>, has_content: bool) -> Self {
        Self { inner, has_content, taken: Arc::default() }
    }

    /// Returns the models that answered, and what that took, since the last call.
    pub(crate) fn take(&self) -> Vec<(ModelId, Used)> {
        std::mem::take(&mut *self.taken.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, span: &Span, request: &Request, assembly: Assembly) {
        let model = assembly.model().unwrap_or(&request.model).clone();
        let reply = assembly.into_message();
        trace::replied(span, &reply, reply.usage.unwrap_or_default(), self.has_content);
        trace::answered(span, &model);
        let used = Used::of(request, &reply);
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).push((model, used));
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a wrapper forwards everything")]
impl Provider for Meter {
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let span = trace::request_span(request, self.has_content);
        let started = self.inner.stream(request, token).instrument(span.clone()).await;
        let mut events = started.inspect_err(|err| trace::failed(&span, err.kind()))?;
        let (meter, request, mut assembly) = (self.clone(), request.clone(), Assembly::default());
        let noted = stream::poll_fn(move |context| {
            let polled = span.in_scope(|| events.poll_next_unpin(context));
            match &polled {
                Poll::Ready(Some(Ok(event))) => {
                    assembly.push(event.clone());
                    if matches!(event, ModelEvent::Done { .. }) {
                        meter.note(&span, &request, std::mem::take(&mut assembly));
                    }
                }
                Poll::Ready(Some(Err(err))) => trace::failed(&span, err.kind()),
                Poll::Ready(None) | Poll::Pending => {}
            }
            polled
        });
        Ok(noted.boxed())
    }
}

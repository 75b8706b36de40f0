//! An answer while it comes: bytes in, events out.

use std::{collections::VecDeque, fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, stream, stream::BoxStream};
use hermes_core::provider::{EventStream, ModelEvent, ProviderError, ProviderErrorKind as Kind};
use reqwest::Response;
use tokio_util::sync::CancellationToken;

use super::{Endpoint, cancelled, sse::SseDecoder, status::Detail};

/// What a wire makes of the data of its events. Pure: all waiting is done around it.
pub(crate) trait Decode: Send + 'static {
    /// Takes the data of one event.
    fn event(&mut self, data: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), WireError>;

    /// Takes an answer that came whole instead of as a stream.
    fn whole(&mut self, body: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), WireError>;

    /// Takes note that no more bytes come; the last event must be in `out` afterwards.
    fn finish(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), WireError>;

    /// Returns whether the model has said why it stopped, so that little is left to wait for.
    fn has_stopped(&self) -> bool;

    /// Returns whether the last event is in `out`.
    fn is_done(&self) -> bool;
}

/// What is wrong with an answer, before it has a place and a status.
#[derive(Debug, PartialEq)]
pub(crate) enum WireError {
    /// The endpoint reports an error in place of more of the answer.
    Refused(Detail),
    /// The answer is not what the wire promises.
    Malformed(String),
    /// The answer is not whole.
    Cut(String),
}

/// The state of an answer while it comes.
pub(super) struct Events<D> {
    endpoint: Arc<Endpoint>,
    bytes: BoxStream<'static, reqwest::Result<Bytes>>,
    shape: Shape,
    decoder: D,
    queue: VecDeque<ModelEvent>,
    failure: Option<ProviderError>,
    is_over: bool,
    token: CancellationToken,
}

/// What the bytes turn out to be.
enum Shape {
    Unknown,
    Sse(SseDecoder),
    Whole(Vec<u8>),
}

impl<D> fmt::Debug for Events<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl<D: Decode> Events<D> {
    /// How long to wait for the end of an answer once the model has stopped.
    const AFTER_STOP: Duration = Duration::from_secs(5);
    /// How long to wait for the end of the body, which lets the connection be used again.
    const DRAIN: Duration = Duration::from_millis(50);
    /// The most bytes of an answer that comes whole.
    const WHOLE_LIMIT: usize = 64 * 1024 * 1024;

    pub(super) fn new(
        endpoint: Arc<Endpoint>,
        response: Response,
        decoder: D,
        token: CancellationToken,
    ) -> Self {
        Self {
            endpoint,
            bytes: response.bytes_stream().boxed(),
            shape: Shape::Unknown,
            decoder,
            queue: VecDeque::new(),
            failure: None,
            is_over: false,
            token,
        }
    }

    pub(super) fn into_stream(self) -> EventStream {
        stream::unfold(self, |mut events| async {
            let event = events.next().await?;
            Some((event, events))
        })
        .boxed()
    }

    async fn next(&mut self) -> Option<Result<ModelEvent, ProviderError>> {
        loop {
            if self.token.is_cancelled() && !self.is_over {
                self.queue.clear();
                self.is_over = true;
                return Some(Err(cancelled()));
            }
            if let Some(event) = self.queue.pop_front() {
                self.is_over = matches!(event, ModelEvent::Done { .. });
                return Some(Ok(event));
            }
            if let Some(err) = self.failure.take() {
                self.is_over = true;
                return Some(Err(err));
            }
            if self.is_over || self.decoder.is_done() {
                return None;
            }
            let piece = self.wait().await;
            self.settle(piece).await;
        }
    }

    /// Waits for more bytes; `None` at their end.
    async fn wait(&mut self) -> Result<Option<Bytes>, ProviderError> {
        let timeouts = self.endpoint.timeouts;
        let limit = match self.shape {
            Shape::Unknown => timeouts.first_byte,
            _ if self.decoder.has_stopped() => timeouts.idle.min(Self::AFTER_STOP),
            _ => timeouts.idle,
        };
        tokio::select! {
            biased;
            () = self.token.cancelled() => Err(cancelled()),
            piece = tokio::time::timeout(limit, self.bytes.next()) => match piece {
                Ok(Some(Ok(bytes))) => Ok(Some(bytes)),
                Ok(None) => Ok(None),
                Ok(Some(Err(err))) => Err(self.broken(err)),
                Err(_) => Err(self.endpoint.silent(limit)),
            }
        }
    }

    /// Takes what came and notes what follows from it.
    async fn settle(&mut self, piece: Result<Option<Bytes>, ProviderError>) {
        let outcome = match piece {
            Ok(Some(bytes)) => self.take(&bytes),
            Ok(None) => self.end(),
            // What is missing after the stop is no more than a count of tokens.
            Err(err) if self.decoder.has_stopped() && err.kind() != Kind::Cancelled => self.end(),
            Err(err) => {
                self.failure = Some(err);
                return;
            }
        };
        if let Err(err) = outcome {
            self.failure = Some(self.convert(err));
        } else if self.decoder.is_done() {
            self.drain().await;
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        if matches!(self.shape, Shape::Unknown) {
            self.shape = match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return Ok(()),
                Some(b'{' | b'[' | b'<') => Shape::Whole(Vec::new()),
                Some(_) => Shape::Sse(SseDecoder::default()),
            };
        }
        match &mut self.shape {
            Shape::Sse(sse) => {
                let (decoder, queue) = (&mut self.decoder, &mut self.queue);
                sse.push(bytes, |data| unless_done(decoder, data, queue))?;
                if sse.is_over_limit() {
                    return Err(WireError::Malformed("a line is too long".to_owned()));
                }
            }
            Shape::Whole(body) if Self::WHOLE_LIMIT < body.len().saturating_add(bytes.len()) => {
                return Err(WireError::Malformed("the answer is too long".to_owned()));
            }
            Shape::Whole(body) => body.extend_from_slice(bytes),
            Shape::Unknown => {}
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), WireError> {
        match std::mem::replace(&mut self.shape, Shape::Unknown) {
            Shape::Unknown => {}
            Shape::Sse(mut sse) => {
                let (decoder, queue) = (&mut self.decoder, &mut self.queue);
                let rest = sse.finish(|data| unless_done(decoder, data, queue));
                // Half an event is a stream that was cut, which `finish` reports.
                if let Err(err @ WireError::Refused(_)) = rest {
                    return Err(err);
                }
            }
            Shape::Whole(body) => {
                let text = String::from_utf8_lossy(&body);
                if text.trim_start().starts_with('<') {
                    return Err(WireError::Refused(Detail::of_body(&body)));
                }
                self.decoder.whole(&text, &mut self.queue)?;
            }
        }
        if self.decoder.is_done() { Ok(()) } else { self.decoder.finish(&mut self.queue) }
    }

    async fn drain(&mut self) {
        let rest = async { while let Some(Ok(_)) = self.bytes.next().await {} };
        tokio::select! {
            biased;
            () = self.token.cancelled() => {}
            _ = tokio::time::timeout(Self::DRAIN, rest) => {}
        }
    }

    fn broken(&self, err: reqwest::Error) -> ProviderError {
        let place = &self.endpoint.place;
        let err = err.without_url();
        let kind = if err.is_timeout() { Kind::Timeout } else { Kind::StreamCut };
        ProviderError::new(kind, format!("the stream from {place} broke off")).with_source(err)
    }

    fn convert(&self, err: WireError) -> ProviderError {
        let place = &self.endpoint.place;
        let scrub = |text: String| self.endpoint.scrubber.scrub(&text);
        match err {
            WireError::Refused(detail) => self.endpoint.refused_inside(&detail),
            WireError::Malformed(what) => ProviderError::new(
                Kind::Protocol,
                scrub(format!("the answer of {place} cannot be read: {what}")),
            ),
            WireError::Cut(what) => ProviderError::new(
                Kind::StreamCut,
                scrub(format!("the stream from {place} ended early: {what}")),
            ),
        }
    }
}

fn unless_done(
    decoder: &mut impl Decode,
    data: &str,
    out: &mut VecDeque<ModelEvent>,
) -> Result<(), WireError> {
    if decoder.is_done() { Ok(()) } else { decoder.event(data, out) }
}

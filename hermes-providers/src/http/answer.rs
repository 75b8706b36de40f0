//! An answer while it comes: bytes in, events out.

use std::{collections::VecDeque, fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, stream, stream::BoxStream};
use hermes_core::provider::{EventStream, ModelEvent, ProviderError, ProviderErrorKind as Kind};
use reqwest::Response;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Endpoint, Timeouts, cancelled, connect, reading::Reading, status::Detail};

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
    /// The answer is longer than any that is meant.
    TooLong(String),
}

/// The state of an answer while it comes.
pub(super) struct Events<D> {
    endpoint: Arc<Endpoint>,
    bytes: BoxStream<'static, reqwest::Result<Bytes>>,
    reading: Reading<D>,
    failure: Option<ProviderError>,
    is_over: bool,
    waits: Waits,
    token: CancellationToken,
}

/// What was waited for so far. The time that the caller takes between two events does not count.
#[derive(Clone, Copy, Debug)]
struct Waits {
    /// How long it took to the head of the answer.
    head: Duration,
    /// How long was waited since then.
    body: Duration,
    /// Since when the next event is waited for, and how many came before it.
    event: Option<(Instant, u64)>,
    has_bytes: bool,
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

    pub(super) fn new(
        endpoint: Arc<Endpoint>,
        response: Response,
        reading: Reading<D>,
        request: Instant,
        token: CancellationToken,
    ) -> Self {
        let head = request.elapsed();
        let waits = Waits { head, body: Duration::ZERO, event: None, has_bytes: false };
        Self {
            endpoint,
            bytes: response.bytes_stream().boxed(),
            reading,
            failure: None,
            is_over: false,
            waits,
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
                self.reading.queue.clear();
                self.give_up();
                return Some(Err(cancelled()));
            }
            if let Some(event) = self.reading.queue.pop_front() {
                self.is_over = matches!(event, ModelEvent::Done { .. });
                return Some(Ok(event));
            }
            if let Some(err) = self.failure.take() {
                self.give_up();
                return Some(Err(err));
            }
            if self.is_over || self.reading.is_done() {
                return None;
            }
            let piece = self.wait().await;
            self.settle(piece).await;
        }
    }

    /// Ends the answer here. Without its body a connection is closed, which tells the endpoint to stop.
    fn give_up(&mut self) {
        self.is_over = true;
        self.bytes = stream::empty().boxed();
    }

    /// Waits for more bytes; `None` at their end.
    async fn wait(&mut self) -> Result<Option<Bytes>, ProviderError> {
        let (end, limit, what) = self.patience();
        let start = Instant::now();
        let piece = tokio::select! {
            biased;
            () = self.token.cancelled() => return Err(cancelled()),
            piece = tokio::time::timeout_at(end, self.bytes.next()) => piece,
        };
        self.waits.body = self.waits.body.saturating_add(start.elapsed());
        self.waits.has_bytes = true;
        match piece {
            Ok(Some(Ok(bytes))) => Ok(Some(bytes)),
            Ok(None) => Ok(None),
            Ok(Some(Err(err))) => Err(connect::broken(err, &self.endpoint.place)),
            Err(_) => Err(self.endpoint.slow(limit, what)),
        }
    }

    /// Returns until when to wait for more bytes, the limit behind it, and what the endpoint will have
    /// done then.
    fn patience(&mut self) -> (Instant, Duration, &'static str) {
        let Timeouts { first_byte, idle, whole, .. } = self.endpoint.timeouts;
        let (now, count) = (Instant::now(), self.reading.events());
        let waits = &mut self.waits;
        let known = waits.event.filter(|(_, known)| *known == count);
        let (event, _) = *waits.event.insert(known.unwrap_or((now, count)));
        let silent = "was silent";
        let ends = if self.reading.has_stopped() {
            let limit = idle.min(Self::AFTER_STOP);
            [(later(event, limit), limit, silent); 2]
        } else if count == 0 {
            let what = if waits.has_bytes { "sent nothing but comments" } else { silent };
            [(later(event, first_byte.saturating_sub(waits.head)), first_byte, what); 2]
        } else {
            let limit = idle.max(first_byte);
            let quiet = "sent nothing but comments";
            // A server may announce an answer before it reads the prompt.
            let silence = if self.reading.has_said() { idle } else { limit };
            [(later(now, silence), silence, silent), (later(event, limit), limit, quiet)]
        };
        let left = whole.saturating_sub(waits.head).saturating_sub(waits.body);
        let end = (later(now, left), whole, "did not come to an end");
        ends.into_iter().fold(end, |end, other| if other.0 < end.0 { other } else { end })
    }

    /// Takes what came and notes what follows from it.
    async fn settle(&mut self, piece: Result<Option<Bytes>, ProviderError>) {
        let outcome = match piece {
            Ok(Some(bytes)) => self.reading.take(&bytes),
            Ok(None) => self.reading.end(),
            // What is missing after the stop is no more than a count of tokens.
            Err(err) if self.reading.has_stopped() && err.kind() != Kind::Cancelled => {
                self.reading.end()
            }
            Err(err) => {
                self.failure = Some(err);
                return;
            }
        };
        if let Err(err) = outcome {
            self.failure = Some(self.endpoint.convert(err));
        } else if self.reading.is_done() {
            self.drain().await;
        }
    }

    async fn drain(&mut self) {
        let rest = async { while let Some(Ok(_)) = self.bytes.next().await {} };
        tokio::select! {
            biased;
            () = self.token.cancelled() => {}
            _ = tokio::time::timeout(Self::DRAIN, rest) => {}
        }
    }
}

/// Returns the time that is `limit` after another, or one so far that nobody waits for it.
fn later(since: Instant, limit: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    since + limit.min(FAR)
}

impl Endpoint {
    /// Returns the events of an answer that is there already, in pieces.
    pub(crate) fn read<'a>(
        &'a self,
        decoder: impl Decode,
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> impl Iterator<Item = Result<ModelEvent, ProviderError>> {
        let mut reading = Reading::new(decoder);
        let mut pieces = pieces.into_iter();
        let mut failure = None;
        let mut is_over = false;
        std::iter::from_fn(move || {
            loop {
                if let Some(event) = reading.queue.pop_front() {
                    return Some(Ok(event));
                }
                if is_over || reading.is_done() {
                    return failure.take().map(Err);
                }
                let piece = pieces.next();
                let outcome = match piece {
                    Some(piece) => reading.take(piece),
                    None => reading.end(),
                };
                is_over = piece.is_none() || outcome.is_err();
                failure = outcome.err().map(|err| self.convert(err));
            }
        })
    }

    /// Gives what is wrong with an answer a place.
    fn convert(&self, err: WireError) -> ProviderError {
        let place = &self.place;
        let scrub = |text: String| self.scrubber.scrub(&text);
        match err {
            WireError::Refused(detail) => self.refused_inside(&detail),
            WireError::Malformed(what) => ProviderError::new(
                Kind::Protocol,
                scrub(format!(
                    "the answer of {place} cannot be read: {what}; \
                     does the base URL lead to an endpoint of this wire?"
                )),
            ),
            WireError::TooLong(what) => ProviderError::new(
                Kind::Protocol,
                format!(
                    "the answer of {place} is too long: {what}; \
                     limit the tokens of an answer, or ask another model"
                ),
            ),
            WireError::Cut(what) => ProviderError::new(
                Kind::StreamCut,
                scrub(format!("the stream from {place} ended early: {what}; ask again")),
            ),
        }
    }
}

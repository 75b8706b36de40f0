//! What the bytes of an answer say, whichever of its shapes it has. Pure: all waiting is done around
//! it.

use std::collections::VecDeque;

use hermes_core::provider::ModelEvent;

use super::{
    answer::{Decode, WireError},
    sse::SseDecoder,
    status::Detail,
};

/// An answer as far as it has come.
pub(super) struct Reading<D> {
    shape: Shape,
    decoder: D,
    /// What has been read and not been taken.
    pub(super) queue: VecDeque<ModelEvent>,
}

/// What the bytes turn out to be.
enum Shape {
    Unknown,
    Sse(SseDecoder),
    Whole(Vec<u8>),
}

impl<D: Decode> Reading<D> {
    /// The most bytes of an answer that comes whole.
    const WHOLE_LIMIT: usize = 64 * 1024 * 1024;

    pub(super) fn new(decoder: D) -> Self {
        Self { shape: Shape::Unknown, decoder, queue: VecDeque::new() }
    }

    /// Returns whether anything but white space has come.
    pub(super) fn has_begun(&self) -> bool {
        !matches!(self.shape, Shape::Unknown)
    }

    /// Returns whether the model has said why it stopped.
    pub(super) fn has_stopped(&self) -> bool {
        self.decoder.has_stopped()
    }

    /// Returns whether the last event has been read.
    pub(super) fn is_done(&self) -> bool {
        self.decoder.is_done()
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), WireError> {
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

    /// Takes note that no more bytes come.
    pub(super) fn end(&mut self) -> Result<(), WireError> {
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
}

fn unless_done(
    decoder: &mut impl Decode,
    data: &str,
    out: &mut VecDeque<ModelEvent>,
) -> Result<(), WireError> {
    if decoder.is_done() { Ok(()) } else { decoder.event(data, out) }
}

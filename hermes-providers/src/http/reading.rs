//! What the bytes of an answer say, whichever of its shapes it has. Pure: all waiting is done around
//! it.

use std::{borrow::Cow, collections::VecDeque};

use hermes_core::provider::ModelEvent;

use super::{
    answer::{Decode, WireError},
    sse::SseDecoder,
    status::Detail,
};

/// An answer as far as it has come.
pub(crate) struct Reading<D> {
    shape: Shape,
    decoder: D,
    /// The bytes so far.
    length: usize,
    events: u64,
    has_said: bool,
    /// What has been read and not been taken.
    pub(crate) queue: VecDeque<ModelEvent>,
}

/// What the bytes turn out to be.
enum Shape {
    /// Nothing but white space and byte order marks; the start of another mark is kept.
    Unknown(Vec<u8>),
    Sse(SseDecoder),
    Whole(Vec<u8>),
}

impl<D: Decode> Reading<D> {
    /// The most white space before an answer.
    const BLANK_LIMIT: usize = 1024 * 1024;
    /// The most bytes of an answer that comes whole.
    const WHOLE_LIMIT: usize = 64 * 1024 * 1024;
    /// The most bytes of an answer that streams, comments included. A million tokens of one event
    /// each take less.
    const STREAM_LIMIT: usize = 512 * 1024 * 1024;

    pub(crate) fn new(decoder: D) -> Self {
        let shape = Shape::Unknown(Vec::new());
        Self { shape, decoder, length: 0, events: 0, has_said: false, queue: VecDeque::new() }
    }

    /// Returns how many pieces of the answer have come, which comments and white space are not.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    /// Returns whether the model has said anything, which not all pieces of an answer do.
    pub(super) fn has_said(&self) -> bool {
        self.has_said
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
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.length = self.length.saturating_add(bytes.len());
        let Shape::Unknown(head) = &self.shape else { return self.take_known(bytes) };
        let head = if head.is_empty() {
            Cow::Borrowed(bytes)
        } else {
            Cow::Owned([head.as_slice(), bytes].concat())
        };
        let start = skipped(&head);
        let Some(shape) = head.get(start..).and_then(shape_of) else {
            // White space is looked at once.
            let rest = head.get(start..).unwrap_or_default().to_vec();
            self.shape = Shape::Unknown(rest);
            return self.check_length(Self::BLANK_LIMIT);
        };
        self.shape = shape;
        self.take_known(head.get(start..).unwrap_or_default())
    }

    fn take_known(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        match &mut self.shape {
            Shape::Sse(sse) => {
                let (decoder, queue, events) =
                    (&mut self.decoder, &mut self.queue, &mut self.events);
                sse.push(bytes, |data| {
                    *events += 1;
                    unless_done(decoder, data, queue)
                })?;
                self.has_said |= !queue.is_empty();
                if sse.is_over_limit() {
                    let limit = mebibytes(SseDecoder::EVENT_LIMIT);
                    return Err(WireError::TooLong(format!("one event is over {limit}")));
                }
                self.check_length(Self::STREAM_LIMIT)
            }
            Shape::Whole(body) => {
                self.events += 1;
                self.has_said = true;
                body.extend_from_slice(bytes);
                self.check_length(Self::WHOLE_LIMIT)
            }
            Shape::Unknown(_) => Ok(()),
        }
    }

    fn check_length(&self, limit: usize) -> Result<(), WireError> {
        if self.length <= limit || self.decoder.is_done() {
            return Ok(());
        }
        Err(WireError::TooLong(format!("it is over {}", mebibytes(limit))))
    }

    /// Takes note that no more bytes come.
    pub(crate) fn end(&mut self) -> Result<(), WireError> {
        match std::mem::replace(&mut self.shape, Shape::Unknown(Vec::new())) {
            Shape::Unknown(_) => {}
            Shape::Sse(sse) => return self.end_stream(sse),
            Shape::Whole(body) => {
                let text = String::from_utf8_lossy(&body);
                if text.trim_start().starts_with('<') {
                    return Err(WireError::Refused(Detail::of_body(&body)));
                }
                self.decoder.whole(&text, &mut self.queue)?;
            }
        }
        self.finish()
    }

    fn end_stream(&mut self, mut sse: SseDecoder) -> Result<(), WireError> {
        let (decoder, queue, events) = (&mut self.decoder, &mut self.queue, &mut self.events);
        let rest = sse.finish(|data| {
            *events += 1;
            unless_done(decoder, data, queue)
        });
        // Half an event is a stream that was cut, which `finish` reports.
        if let Err(err @ WireError::Refused(_)) = rest {
            return Err(err);
        }
        match (self.finish(), sse.stray()) {
            // It was no stream at all, and what it was says more than what it was not.
            (Err(WireError::Cut(_)), Some(text)) if self.events == 0 => {
                Err(WireError::Refused(Detail::of_body(text.as_bytes())))
            }
            (Err(WireError::Cut(what)), Some(text)) => {
                let said = Detail::of_body(text.as_bytes()).shown;
                Err(WireError::Cut(format!("{what}, and it said {said:?}")))
            }
            (outcome, _) => outcome,
        }
    }

    fn finish(&mut self) -> Result<(), WireError> {
        if self.decoder.is_done() { Ok(()) } else { self.decoder.finish(&mut self.queue) }
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Returns how many bytes of white space and byte order marks `head` begins with, in any order:
/// what is skipped must not depend on the pieces that it comes in.
fn skipped(head: &[u8]) -> usize {
    let mut rest = head;
    loop {
        let text = rest.trim_ascii_start();
        rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        if rest.len() == text.len() {
            return head.len() - rest.len();
        }
    }
}

/// Returns the shape of an answer that begins with `text`, once that is known.
fn shape_of(text: &[u8]) -> Option<Shape> {
    if text.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(text) {
        return None;
    }
    match text.first()? {
        b'{' | b'[' | b'<' => Some(Shape::Whole(Vec::new())),
        _ => Some(Shape::Sse(SseDecoder::default())),
    }
}

fn mebibytes(bytes: usize) -> String {
    format!("{} MiB", bytes / (1024 * 1024))
}

fn unless_done(
    decoder: &mut impl Decode,
    data: &str,
    out: &mut VecDeque<ModelEvent>,
) -> Result<(), WireError> {
    if decoder.is_done() { Ok(()) } else { decoder.event(data, out) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes what it is given and says nothing.
    #[derive(Debug)]
    struct Deaf;

    impl Decode for Deaf {
        fn event(&mut self, _: &str, _: &mut VecDeque<ModelEvent>) -> Result<(), WireError> {
            Ok(())
        }

        fn whole(&mut self, _: &str, _: &mut VecDeque<ModelEvent>) -> Result<(), WireError> {
            Ok(())
        }

        fn finish(&mut self, _: &mut VecDeque<ModelEvent>) -> Result<(), WireError> {
            Ok(())
        }

        fn has_stopped(&self) -> bool {
            false
        }

        fn is_done(&self) -> bool {
            false
        }
    }

    /// Sends a line of a mebibyte again and again, and returns how often it was taken and the error.
    fn flooded(begin: &str) -> (usize, WireError) {
        let mut line = begin.as_bytes().to_vec();
        line.resize(1024 * 1024 - 1, b'x');
        line.push(b'\n');
        let mut reading = Reading::new(Deaf);
        (0..).find_map(|nth| Some((nth, reading.take(&line).err()?))).unwrap()
    }

    #[test]
    fn no_event_is_longer_than_its_limit_however_many_lines_it_has() {
        let (taken, err) = flooded("data: ");

        assert_eq!(taken, 64);
        assert_eq!(err, WireError::TooLong("one event is over 64 MiB".to_owned()));
    }

    #[test]
    fn no_answer_is_longer_than_its_limit_though_it_be_comments() {
        let (taken, err) = flooded(": ");

        assert_eq!(taken, 512);
        assert_eq!(err, WireError::TooLong("it is over 512 MiB".to_owned()));
    }

    #[test]
    fn white_space_before_an_answer_is_looked_at_once_and_bounded() {
        let mut reading = Reading::new(Deaf);

        // Looking at all of it each time would take 500,000,000,000 steps.
        let (taken, err) =
            (0_usize..).find_map(|nth| Some((nth, reading.take(b"\n").err()?))).unwrap();

        assert_eq!(taken, 1024 * 1024);
        assert_eq!(err, WireError::TooLong("it is over 1 MiB".to_owned()));
    }

    #[test]
    fn byte_order_marks_are_skipped_wherever_blanks_are() {
        for (head, start) in [("\n\u{feff} data", 5), ("\u{feff}\u{feff}{", 6), ("x\u{feff}", 0)] {
            assert_eq!(skipped(head.as_bytes()), start, "{head:?}");
        }
    }

    #[test]
    fn no_whole_answer_is_longer_than_its_limit() {
        let (taken, err) = flooded("{");

        assert_eq!(taken, 64);
        assert_eq!(err, WireError::TooLong("it is over 64 MiB".to_owned()));
    }
}

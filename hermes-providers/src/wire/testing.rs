//! Streams in tests, cut wherever they can be.

use std::collections::VecDeque;

use hermes_core::{
    message::Message,
    provider::{Assembly, ModelEvent},
};

use super::{
    decoder::{Decoder, Read},
    names::Names,
};
use crate::http::{Decode, WireError, reading::Reading};

/// The name of the provider in tests.
pub(crate) const PROVIDER: &str = "test";

pub(crate) type Outcome = (Vec<ModelEvent>, Result<(), WireError>);

fn decoder<R: Read + Default>() -> Decoder<R> {
    Decoder::new(R::default(), PROVIDER.into(), "", Names::default())
}

/// Decodes the data of events, in order, to the end of the stream.
pub(crate) fn decode<R: Read + Default>(data: &[impl AsRef<str>]) -> Outcome {
    let (mut decoder, mut out) = (decoder::<R>(), VecDeque::new());
    let mut result = data.iter().try_for_each(|it| decoder.event(it.as_ref(), &mut out));
    if result.is_ok() && !decoder.is_done() {
        result = decoder.finish(&mut out);
    }
    (out.into(), result)
}

/// Decodes an answer that comes whole, in one piece and byte by byte, with a byte order mark and without.
#[track_caller]
pub(crate) fn decode_whole<R: Read + Default>(body: &str) -> Outcome {
    let mut out = VecDeque::new();
    let result = decoder::<R>().whole(body, &mut out);
    let whole = (out.into(), result);
    let marked = format!("\u{feff}\n{body}");
    for text in [body, &marked] {
        assert_eq!(decode_bytes::<R>([text.as_bytes()]), whole, "{text}");
        assert_eq!(decode_bytes::<R>(text.as_bytes().chunks(1)), whole, "{text}, byte by byte");
    }
    whole
}

/// Decodes the bytes of an answer, as they come from an endpoint.
fn decode_bytes<'a, R: Read + Default>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut reading = Reading::new(decoder::<R>());
    let result = pieces.into_iter().try_for_each(|piece| reading.take(piece));
    let result = result.and_then(|()| reading.end());
    (reading.queue.into(), result)
}

/// Decodes `stream` whole and cut at every byte, and returns the message it makes.
#[track_caller]
pub(crate) fn check_stream<R: Read + Default>(stream: &str) -> Message {
    let whole = decode_bytes::<R>([stream.as_bytes()]);
    for at in 1..stream.len() {
        let (head, tail) = stream.as_bytes().split_at(at);
        assert_eq!(decode_bytes::<R>([head, tail]), whole, "cut at byte {at}");
    }
    assert_eq!(decode_bytes::<R>(stream.as_bytes().chunks(1)), whole, "byte by byte");
    assembled(whole)
}

/// Returns the message that the events make, which must be whole.
#[track_caller]
pub(crate) fn assembled((events, result): Outcome) -> Message {
    assert_eq!(result, Ok(()));
    let mut assembly = Assembly::default();
    for event in events {
        assembly.push(event);
    }
    assert!(assembly.is_done());
    assembly.into_message()
}

/// Returns id, name and arguments of the calls of a message.
pub(crate) fn calls(message: &Message) -> Vec<(&str, &str, &str)> {
    message.calls().map(|it| (it.id.as_str(), &*it.name, it.arguments.as_str())).collect()
}

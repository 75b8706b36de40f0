//! Streams events as an endpoint would: in pieces, and only as long as nobody cancels.

use futures::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use crate::{
    message::{Call, CallId, Message, Part, Reasoning, StopReason, Usage},
    provider::{EventStream, ModelEvent, ProviderError, ProviderErrorKind},
};

/// Characters in one piece of streamed text. Small, so that short answers come in pieces too.
const PIECE: usize = 5;

/// Streams `events`. If `token` is cancelled before the last of them, the next one is an error.
pub(super) fn events(events: Vec<ModelEvent>, token: CancellationToken) -> EventStream {
    let start = Some((events.into_iter(), token));
    stream::unfold(start, async |state| {
        let (mut events, token) = state?;
        // Others get their turn between two events, as they do on a network.
        tokio::task::yield_now().await;
        let event = events.next()?;
        if token.is_cancelled() {
            return Some((Err(cancelled()), None));
        }
        Some((Ok(event), Some((events, token))))
    })
    .boxed()
}

/// Streams `first`, then nothing until `token` is cancelled, which ends it with an error.
pub(super) fn then_hang(first: Vec<ModelEvent>, token: CancellationToken) -> EventStream {
    let waiting = token.clone();
    let wait = stream::once(async move {
        waiting.cancelled().await;
        Err(cancelled())
    });
    let mut is_over = false;
    events(first, token)
        .chain(wait)
        .take_while(move |event| {
            let goes_on = !is_over;
            is_over = event.is_err();
            std::future::ready(goes_on)
        })
        .boxed()
}

/// Returns the error of a cancelled request.
pub(super) fn cancelled() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Cancelled, "the request was cancelled")
}

/// Returns the events of `message`. Calls without an id get the next of `new_id`.
pub(super) fn events_of(
    message: &Message,
    usage: Usage,
    mut new_id: impl FnMut() -> CallId,
) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    let mut index = 0;
    for part in &message.parts {
        match part {
            Part::Text(it) => events.extend(text(it)),
            Part::Reasoning(it) => events.extend(reasoning(it)),
            Part::Call(it) => {
                let id = if it.id.as_str().is_empty() { new_id() } else { it.id.clone() };
                events.extend(call(it, id, index));
                index = index.saturating_add(1);
            }
            // A model says nothing else.
            Part::Image(_) | Part::Result(_) | Part::Context(_) => {}
        }
    }
    let by_parts = if index == 0 { StopReason::EndTurn } else { StopReason::ToolCalls };
    let stop = message.stop.clone().unwrap_or(by_parts);
    events.push(ModelEvent::Done { stop, usage: message.usage.unwrap_or(usage) });
    events
}

/// Returns `text` as events of a few characters each.
pub(super) fn text(text: &str) -> Vec<ModelEvent> {
    pieces(text).into_iter().map(ModelEvent::Text).collect()
}

fn reasoning(reasoning: &Reasoning) -> Vec<ModelEvent> {
    let mut events: Vec<_> =
        pieces(&reasoning.text).into_iter().map(ModelEvent::Reasoning).collect();
    if reasoning.opaque.is_some() {
        events.push(ModelEvent::ReasoningDone(reasoning.clone()));
    }
    events
}

/// Id and name come with the first fragment, as in the wire formats.
fn call(call: &Call, id: CallId, index: u32) -> Vec<ModelEvent> {
    let first = ModelEvent::CallDelta {
        index,
        id: Some(id),
        name: Some(call.name.clone()),
        arguments: String::new(),
    };
    let rest = pieces(call.arguments.as_str()).into_iter().map(|arguments| ModelEvent::CallDelta {
        index,
        id: None,
        name: None,
        arguments,
    });
    std::iter::once(first).chain(rest).collect()
}

fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(PIECE).map(|piece| piece.iter().collect()).collect()
}

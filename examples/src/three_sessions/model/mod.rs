//! The model of the example: a pure function from a request to an assistant message.
//!
//! It is no language model, but it has the properties that the claim is about. It keeps nothing
//! between requests, it does not know which conversation it is in, and it knows the tools but not the
//! place: everything it knows of the place it reads in the request, in the memory and the skills
//! index of the prompt, in a skill it viewed, in the results of its calls. Where the request says
//! nothing it looks around, and where the request says something wrong it does the wrong thing first.
//!
//! At the end of a conversation that asks for a review it writes down what the transcript shows.

mod knowledge;
mod lesson;
mod plan;
mod reading;
mod recipe;
mod review;
mod text;

use hermes_core::{
    async_trait,
    message::{Call, Message, Part, Role, StopReason, Usage},
    provider::{EventStream, ModelEvent, Provider, ProviderError, Request},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::reading::{Exchange, Reading};

/// Answers `request`. The same request gives the same message.
///
/// # Examples
///
/// ```
/// use hermes_core::{message::Message, provider::Request};
/// use hermes_examples::three_sessions::model;
///
/// let request = Request::new("small", vec![Message::user("Deploy the Flask service `shop`.")]);
///
/// let message = model::reply(&request);
///
/// assert_eq!(message.calls().next().map(|call| &*call.name), Some("list_files"));
/// ```
pub fn reply(request: &Request) -> Message {
    let Some(reading) = Reading::of(request) else {
        return Move::Say("Tell me which service to deploy.".to_owned()).into_message(0);
    };
    let next = match &reading.review {
        Some(order) => review::next(&reading, order),
        None => plan::next(&reading),
    };
    next.into_message(reading.calls)
}

/// The model as a [`Provider`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SmallModel;

#[async_trait]
impl Provider for SmallModel {
    async fn stream(
        &self,
        request: &Request,
        _: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let events = events(&reply(request));
        Ok(Box::pin(futures::stream::iter(events.into_iter().map(Ok))))
    }
}

/// What the model does next.
#[derive(Debug, PartialEq)]
enum Move {
    /// It calls a tool.
    Call(&'static str, Value),
    /// It speaks, which ends the turn.
    Say(String),
}

impl Move {
    fn call(tool: &'static str, arguments: Value) -> Self {
        Self::Call(tool, arguments)
    }

    /// Returns whether the same call is among `exchanges`.
    fn was_tried(&self, exchanges: &[Exchange<'_>]) -> bool {
        let Self::Call(tool, arguments) = self else { return false };
        exchanges.iter().any(|it| it.name == *tool && it.arguments == arguments)
    }

    /// Returns the message for it; `calls` is how many calls there were before.
    fn into_message(self, calls: usize) -> Message {
        match self {
            Self::Say(text) => Message::assistant(text).with_stop(StopReason::EndTurn),
            Self::Call(tool, arguments) => {
                let number = calls + 1;
                let call = Call::new(format!("call_{number}").as_str(), tool, arguments);
                Message::new(Role::Assistant, vec![Part::Call(call)])
                    .with_stop(StopReason::ToolCalls)
            }
        }
    }
}

fn events(message: &Message) -> Vec<ModelEvent> {
    let text = message.text();
    let mut events: Vec<ModelEvent> =
        text.split_inclusive(' ').map(|word| ModelEvent::Text(word.to_owned())).collect();
    events.extend((0..).zip(message.calls()).map(|(index, call)| ModelEvent::CallDelta {
        index,
        id: Some(call.id.clone()),
        name: Some(call.name.clone()),
        arguments: call.arguments.as_str().to_owned(),
    }));
    let stop = message.stop.clone().unwrap_or(StopReason::EndTurn);
    events.push(ModelEvent::Done { stop, usage: Usage::default() });
    events
}

#[cfg(test)]
mod tests;

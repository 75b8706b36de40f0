//! A request as the model reads it: the task, what was done for it so far, and whether a review was
//! asked for since.

use hermes_core::{
    message::{Call, CallStatus, Message, MessageBody, Role},
    provider::Request,
};
use serde_json::Value;

use super::text::between;

/// A request, taken apart.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    pub(super) request: &'a Request,
    /// What the user asked for last.
    pub(super) task: Task,
    /// What was called for it, and what came back.
    pub(super) work: Vec<Exchange<'a>>,
    /// The review that the conversation ends in, if it does.
    pub(super) review: Option<ReviewOrder<'a>>,
    /// How many calls the request holds at all, from which the next call gets its id.
    pub(super) calls: usize,
}

/// A deployment that a user asks for.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) text: String,
    /// What the service is called.
    pub(super) service: String,
    /// What it is written in, as the user spells it.
    pub(super) framework: String,
}

/// A call and its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: &'a Value,
    pub(super) content: &'a str,
    pub(super) is_done: bool,
}

/// What a review may do, and what it has done.
#[derive(Debug)]
pub(super) struct ReviewOrder<'a> {
    /// The tools that work in it.
    pub(super) tools: Vec<String>,
    pub(super) done: Vec<Exchange<'a>>,
}

impl<'a> Reading<'a> {
    /// Reads `request`. Without a task in it there is nothing to read.
    pub(super) fn of(request: &'a Request) -> Option<Self> {
        let messages = request.messages.as_slice();
        let (start, task) = last_match(messages, Task::parse)?;
        let review = last_match(messages, review_tools).filter(|(place, _)| start < *place);
        let end = review.as_ref().map_or(messages.len(), |(place, _)| *place);
        let part = |from, to| exchanges(messages.get(from..to).unwrap_or_default());
        Some(Self {
            request,
            task,
            work: part(start, end),
            review: review
                .map(|(place, tools)| ReviewOrder { tools, done: part(place, messages.len()) }),
            calls: messages.iter().map(|message| message.calls().count()).sum(),
        })
    }

    /// Returns whether a tool of that name is on offer.
    pub(super) fn offers(&self, tool: &str) -> bool {
        self.request.tools.iter().any(|spec| &*spec.name == tool)
    }
}

impl Task {
    /// Reads "… the FRAMEWORK service `NAME` …".
    fn parse(text: &str) -> Option<Self> {
        let (before, _) = text.split_once(" service `")?;
        Some(Self {
            text: text.to_owned(),
            service: between(text, " service `", '`')?.to_owned(),
            framework: before.split_whitespace().next_back()?.to_owned(),
        })
    }
}

impl<'a> Exchange<'a> {
    /// Returns an argument that is text; blank if there is none.
    pub(super) fn argument(&self, name: &str) -> &'a str {
        self.arguments.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns whether it ran `tool` with a command that begins with `start`.
    pub(super) fn ran(&self, tool: &str, start: &str) -> bool {
        self.name == tool && self.argument("command").starts_with(start)
    }

    /// Returns whether it failed and `value` was part of what it tried.
    pub(super) fn failed_with(&self, value: &str) -> bool {
        !self.is_done && self.arguments.to_string().contains(value)
    }
}

/// Reads which tools a review may call; `None` if the text is no order to review.
fn review_tools(text: &str) -> Option<Vec<String>> {
    let tools = between(text, "tools work now: ", '.')?;
    Some(tools.split(',').map(|tool| tool.trim().to_owned()).collect())
}

/// Returns the place of the last user message that `read` makes something of, and what it makes.
fn last_match<T>(messages: &[Message], read: impl Fn(&str) -> Option<T>) -> Option<(usize, T)> {
    let users = messages.iter().enumerate().filter(|(_, message)| message.role == Role::User);
    users.rev().find_map(|(place, message)| read(&message.text()).map(|found| (place, found)))
}

fn exchanges(messages: &[Message]) -> Vec<Exchange<'_>> {
    let calls = messages.iter().flat_map(|message| message.calls());
    calls.filter_map(|call| exchange(call, messages)).collect()
}

fn exchange<'a>(call: &'a Call, messages: &'a [Message]) -> Option<Exchange<'a>> {
    let mut results = messages.iter().flat_map(|message| MessageBody::call_results(message));
    let result = results.find(|result| result.call == call.id)?;
    Some(Exchange {
        name: &call.name,
        arguments: call.arguments.parse().unwrap_or(&Value::Null),
        content: &result.content,
        is_done: result.status == CallStatus::Done,
    })
}

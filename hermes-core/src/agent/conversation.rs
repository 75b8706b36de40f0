//! The messages of one conversation while it is worked on, with ids and open calls.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::message::{
    Call, CallId, CallResult, History, Message, MessageId, Part, Role, StopReason,
};

/// The history of a conversation, shared by its session and the run that works on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversation(Arc<Mutex<Messages>>);

#[derive(Debug, Default)]
pub(crate) struct Messages {
    history: History,
    last_id: MessageId,
    /// How many messages the store has.
    saved: usize,
    /// The call ids in the history, so that new ones differ.
    used: HashSet<CallId>,
}

impl Conversation {
    /// Goes on with `history`, all of which the store has.
    pub(crate) fn of(history: History) -> Self {
        let used = history.iter().flat_map(|it| it.calls()).map(|call| call.id.clone()).collect();
        let last_id = history.iter().map(|message| message.id).max().unwrap_or_default();
        let saved = history.len();
        Self(Arc::new(Mutex::new(Messages { history, last_id, saved, used })))
    }

    /// Returns the history as it stands; what is appended later does not show.
    pub(crate) fn history(&self) -> History {
        Arc::clone(&self.lock().history)
    }

    /// Returns the id of the last message.
    pub(crate) fn last_id(&self) -> MessageId {
        self.lock().last_id
    }

    /// Appends `message` under the next id and returns it.
    pub(crate) fn push(&self, message: Message) -> Message {
        let mut messages = self.lock();
        messages.last_id = MessageId(messages.last_id.0.saturating_add(1));
        let message = message.with_id(messages.last_id);
        Arc::make_mut(&mut messages.history).push(message.clone());
        message
    }

    /// Appends an assistant message and gives every call that lacks one an id of its own.
    pub(crate) fn push_reply(&self, reply: Message) -> Message {
        let reply = self.lock().with_own_ids(reply);
        self.push(reply)
    }

    /// Answers calls that have no result, with what `answer` returns, and returns how many there
    /// were.
    pub(crate) fn settle(&self, answer: impl Fn(CallId) -> CallResult) -> usize {
        let open = open_calls(&self.history());
        let count = open.len();
        if 0 < count {
            self.push(Message::results(open.into_iter().map(answer)));
        }
        count
    }

    /// Returns the calls that have no result.
    pub(crate) fn open(&self) -> Vec<Call> {
        let history = self.history();
        let open = open_calls(&history);
        let calls = history.iter().rev().find(|it| it.role == Role::Assistant);
        let calls = calls.into_iter().flat_map(|reply| reply.calls());
        calls.filter(|call| open.contains(&call.id)).cloned().collect()
    }

    /// Returns whether the last thing said still waits for an answer, or for the whole of one.
    pub(crate) fn lacks_answer(&self) -> bool {
        let history = self.history();
        let waits = history.last().is_some_and(|it| it.role != Role::Assistant);
        waits || self.has_part_of_answer()
    }

    /// Returns the last message if it is a whole answer.
    pub(crate) fn answer(&self) -> Option<Message> {
        let history = self.history();
        if self.lacks_answer() { None } else { history.last().cloned() }
    }

    /// Returns whether the last message is an answer that was broken off.
    pub(crate) fn has_part_of_answer(&self) -> bool {
        let history = self.history();
        let stop = history.last().and_then(|it| it.stop.as_ref());
        matches!(stop, Some(StopReason::Interrupted | StopReason::Cancelled))
    }

    /// Returns how many messages the store has, and those it has not.
    pub(crate) fn unsaved(&self) -> (usize, Vec<Message>) {
        let messages = self.lock();
        let new = messages.history.get(messages.saved..).unwrap_or_default();
        (messages.saved, new.to_vec())
    }

    /// Puts `messages`, all of which the store has, in the place of all there were.
    pub(crate) fn replace(&self, messages: Vec<Message>) {
        let mut all = self.lock();
        all.saved = messages.len();
        all.history = Arc::new(messages);
    }

    /// Notes that the store has the first `count` messages.
    pub(crate) fn mark_saved(&self, count: usize) {
        self.lock().saved = count;
    }

    fn lock(&self) -> MutexGuard<'_, Messages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Messages {
    /// Returns `reply` with call ids that occur nowhere else, unchanged if they already are so.
    fn with_own_ids(&mut self, reply: Message) -> Message {
        let is_own = |used: &mut HashSet<CallId>, call: &Call| {
            !call.id.as_str().trim().is_empty() && used.insert(call.id.clone())
        };
        let fresh: Vec<Option<CallId>> = reply
            .calls()
            .map(|call| (!is_own(&mut self.used, call)).then(|| self.another_id(&call.id)))
            .collect();
        if fresh.iter().all(Option::is_none) {
            return reply;
        }
        let mut fresh = fresh.into_iter();
        let parts = reply.parts.iter().cloned().map(|part| match part {
            Part::Call(call) => match fresh.next().flatten() {
                Some(id) => Part::Call(Call { id, ..call }),
                None => Part::Call(call),
            },
            other => other,
        });
        let mut renamed = Message::new(Role::Assistant, parts.collect());
        if let Some(stop) = &reply.stop {
            renamed = renamed.with_stop(stop.clone());
        }
        if let Some(usage) = reply.usage {
            renamed = renamed.with_usage(usage);
        }
        renamed
    }

    fn another_id(&mut self, id: &CallId) -> CallId {
        let base = if id.as_str().trim().is_empty() { "call" } else { id.as_str() };
        let mut number = self.used.len();
        loop {
            let candidate = CallId::new(format!("{base}_{number}"));
            if self.used.insert(candidate.clone()) {
                return candidate;
            }
            number = number.saturating_add(1);
        }
    }
}

/// Returns the calls of the last assistant message that have no result after it.
pub(crate) fn open_calls(history: &[Message]) -> Vec<CallId> {
    let Some(at) = history.iter().rposition(|message| message.role == Role::Assistant) else {
        return Vec::new();
    };
    let after = history.get(at..).unwrap_or_default();
    let answered: HashSet<&CallId> =
        after.iter().flat_map(|it| it.call_results()).map(|result| &result.call).collect();
    let calls = after.first().into_iter().flat_map(|it| it.calls());
    calls.map(|call| &call.id).filter(|id| !answered.contains(id)).cloned().collect()
}

/// Returns whether every call has exactly one result, directly after its message and in order, and
/// there is no other result.
pub(crate) fn is_whole(history: &[Message]) -> bool {
    let mut open: Vec<&CallId> = Vec::new();
    for message in history {
        let results = message.call_results().map(|it| &it.call);
        if !results.eq(open.drain(..)) {
            return false;
        }
        open = message.calls().map(|call| &call.id).collect();
    }
    open.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::CallStatus;

    fn reply(ids: &[&str]) -> Message {
        let calls = ids.iter().map(|id| Part::Call(Call::new(*id, "ping", "{}")));
        Message::new(Role::Assistant, calls.collect())
    }

    fn ids(message: &Message) -> Vec<String> {
        message.calls().map(|call| call.id.to_string()).collect()
    }

    #[test]
    fn repeated_and_blank_call_ids_become_unique() {
        let conversation = Conversation::default();

        let first = conversation.push_reply(reply(&["a", "a", ""]));
        let second = conversation.push_reply(reply(&["a", "b"]));

        let all: HashSet<String> = ids(&first).into_iter().chain(ids(&second)).collect();
        assert_eq!(all.len(), 5, "{all:?}");
        assert_eq!(first.calls().next().unwrap().id.as_str(), "a");
        assert_eq!(ids(&second)[1], "b");
    }

    #[test]
    fn settling_answers_only_open_calls() {
        let conversation = Conversation::default();
        conversation.push_reply(reply(&["a", "b"]));
        conversation.push(Message::results([CallResult::new("a".into(), CallStatus::Done, "ok")]));

        let answer = |call| CallResult::new(call, CallStatus::Cancelled, "cancelled");
        assert_eq!(conversation.settle(answer), 1);

        assert!(open_calls(&conversation.history()).is_empty());
        assert_eq!(conversation.settle(answer), 0);
    }

    #[test]
    fn a_history_is_whole_if_every_call_has_its_result() {
        let result = |id: &str| CallResult::new(id.into(), CallStatus::Done, "ok");
        let both = Message::results([result("a"), result("b")]);
        let whole = [Message::user("x"), reply(&["a", "b"]), both.clone(), Message::assistant("y")];

        assert!(is_whole(&whole));
        assert!(is_whole(&[]));
        assert!(!is_whole(&whole[..2]));
        assert!(!is_whole(&whole[2..]));
        assert!(!is_whole(&[reply(&["a"]), both]));
        assert!(!is_whole(&[reply(&["a"]), Message::user("z"), Message::results([result("a")])]));
    }

    #[test]
    fn ids_grow_by_one() {
        let conversation = Conversation::default();
        conversation.push(Message::user("a"));

        assert_eq!(conversation.push(Message::user("b")).id, MessageId(2));
    }
}

//! History as a wire accepts it: every call answered right after it, every result with its call, no
//! empty messages, no two of one speaker in a row. The history itself stays as it is.

use std::collections::HashMap;

use hermes_core::message::{Call, CallId, CallResult, CallStatus, Message, Part, Role};

/// A message on its way out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outgoing<'a> {
    /// One that goes out as it is, and whose wire form may be kept.
    Kept(&'a Message),
    /// One that was put together for this request.
    Made(Message),
}

impl Outgoing<'_> {
    pub(crate) fn message(&self) -> &Message {
        match self {
            Self::Kept(message) => message,
            Self::Made(message) => message,
        }
    }
}

/// What the model reads in place of a result that is missing.
const MISSING: &str = "[no result: the call was interrupted before it finished]";

/// Returns `messages` in an order and a shape that wires accept.
pub(crate) fn arrange(messages: &[Message]) -> Vec<Outgoing<'_>> {
    let mut arranged = Arranged { out: Vec::with_capacity(messages.len()) };
    let mut answers = None;
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        let run = regular_run(messages.get(at..).unwrap_or_default());
        if let Some(run) = run {
            let whole = messages.get(at..at + run).unwrap_or_default();
            for kept in whole {
                arranged.push(Outgoing::Kept(kept));
            }
            at += run;
            continue;
        }
        if message.role == Role::Assistant && message.calls().next().is_some() {
            let answers = answers.get_or_insert_with(|| answers_of(messages));
            arranged.push_answered(message, answers.get(&at).map_or(&[], Vec::as_slice));
        } else {
            arranged.push_rest(message);
        }
        at += 1;
    }
    arranged.out
}

/// Returns how many messages from the first one on are in order already: one without calls and
/// results, or one with calls and all their results.
fn regular_run(messages: &[Message]) -> Option<usize> {
    let (first, rest) = messages.split_first()?;
    if first.role != Role::Assistant {
        let has_calls_or_results =
            first.parts.iter().any(|part| matches!(part, Part::Call(_) | Part::Result(_)));
        return (first.role == Role::User && !has_calls_or_results).then_some(1);
    }
    let calls = || first.calls().map(|call| &call.id);
    let is_repeated = |at: usize, id: &CallId| calls().take(at).any(|it| it == id);
    if calls().enumerate().any(|(at, id)| id.as_str().is_empty() || is_repeated(at, id)) {
        return None;
    }
    let mut open = calls().peekable();
    let mut run = 1;
    for message in rest {
        if open.peek().is_none() {
            break;
        }
        let are_results = message.parts.iter().all(|part| matches!(part, Part::Result(_)));
        if message.role != Role::Tool || message.parts.is_empty() || !are_results {
            return None;
        }
        if !message.call_results().all(|result| open.next() == Some(&result.call)) {
            return None;
        }
        run += 1;
    }
    open.peek().is_none().then_some(run)
}

/// Returns, by the place of an assistant message, the results of its calls. A result belongs to the
/// latest message before it that has an open call of its id.
fn answers_of(messages: &[Message]) -> HashMap<usize, Vec<Option<&CallResult>>> {
    let mut answers: HashMap<usize, Vec<Option<&CallResult>>> = HashMap::new();
    let mut open: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        for result in message.call_results() {
            let place = open.get_mut(result.call.as_str()).and_then(Vec::pop);
            let Some((owner, nth)) = place else { continue };
            let slots = answers.get_mut(&owner).and_then(|slots| slots.get_mut(nth));
            if let Some(slot) = slots {
                *slot = Some(result);
            }
        }
        if message.role == Role::Assistant {
            let calls: Vec<&Call> = message.calls().collect();
            answers.insert(at, vec![None; calls.len()]);
            // Reversed, so that of several calls with one id the first is answered first.
            for (nth, call) in calls.iter().enumerate().rev() {
                open.entry(call.id.as_str()).or_default().push((at, nth));
            }
        }
    }
    answers
}

struct Arranged<'a> {
    out: Vec<Outgoing<'a>>,
}

impl<'a> Arranged<'a> {
    fn push(&mut self, message: Outgoing<'a>) {
        let role = message.message().role;
        if role == Role::Assistant && message.message().is_blank() {
            return;
        }
        let last = self.out.last().map(Outgoing::message);
        let joins = last.is_some_and(|last| {
            last.role == role && role != Role::Tool && last.calls().next().is_none()
        });
        if !joins {
            self.out.push(message);
        } else if let Some(last) = self.out.pop() {
            self.out.push(Outgoing::Made(joined(last.message(), message.message())));
        }
    }

    /// Adds a message with calls and, right after it, one result for each.
    fn push_answered(&mut self, message: &'a Message, answers: &[Option<&CallResult>]) {
        let answer = |nth: usize| answers.get(nth).copied().flatten();
        let (message, ids) = with_distinct_ids(message, |nth| answer(nth).is_some());
        let results: Vec<CallResult> = ids
            .into_iter()
            .map(|(nth, id)| match answer(nth) {
                Some(result) => CallResult::new(id, result.status, result.content.clone()),
                None => CallResult::new(id, CallStatus::Cancelled, MISSING),
            })
            .collect();
        self.push(message);
        self.push(Outgoing::Made(Message::results(results)));
    }

    /// Adds what a message says beside calls and results that have no place here.
    fn push_rest(&mut self, message: &'a Message) {
        let is_loose = |part: &&Part| !matches!(part, Part::Call(_) | Part::Result(_));
        let parts: Vec<Part> = message.parts.iter().filter(is_loose).cloned().collect();
        if parts.is_empty() {
            return;
        }
        let role = if message.role == Role::Assistant { Role::Assistant } else { Role::User };
        self.push(Outgoing::Made(Message::new(role, parts)));
    }
}

/// Returns a message whose call ids are distinct, and these ids with the places of their calls.
///
/// A call with an id that another has gets one of its own if it was answered, and goes if it was not:
/// then it is the other one over again.
fn with_distinct_ids(
    message: &Message,
    is_answered: impl Fn(usize) -> bool,
) -> (Outgoing<'_>, Vec<(usize, CallId)>) {
    let mut ids: Vec<(usize, CallId)> = Vec::new();
    let mut is_changed = false;
    for (nth, call) in message.calls().enumerate() {
        let is_repeated = ids.iter().any(|(_, id)| *id == call.id);
        let is_taken = is_repeated || call.id.as_str().is_empty();
        is_changed |= is_taken;
        if !is_taken {
            ids.push((nth, call.id.clone()));
        } else if !is_repeated || is_answered(nth) {
            ids.push((nth, CallId::new(format!("{}_{nth}", call.id))));
        }
    }
    if !is_changed {
        return (Outgoing::Kept(message), ids);
    }
    let mut nth = 0;
    let parts = message.parts.iter().filter_map(|part| {
        let Part::Call(call) = part else { return Some(part.clone()) };
        let id = ids.iter().find(|(place, _)| *place == nth).map(|(_, id)| id.clone());
        nth += 1;
        Some(Part::Call(Call::new(id?, call.name.clone(), call.arguments.clone())))
    });
    (Outgoing::Made(Message::new(message.role, parts.collect())), ids)
}

/// Joins two messages of one speaker, with an empty line between what an assistant says.
fn joined(first: &Message, second: &Message) -> Message {
    let mut parts = first.parts.clone();
    if first.role == Role::Assistant && !first.text().is_empty() && !second.text().is_empty() {
        parts.push(Part::Text("\n\n".to_owned()));
    }
    parts.extend(second.parts.iter().cloned());
    Message::new(first.role, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calling(ids: &[&str]) -> Message {
        let parts = ids.iter().map(|id| Part::Call(Call::new(*id, "ping", "{}"))).collect();
        Message::new(Role::Assistant, parts)
    }

    fn result(id: &str, content: &str) -> Message {
        Message::results([CallResult::new(id.into(), CallStatus::Done, content)])
    }

    /// Writes messages as `user text`, `calls a,b`, `results a=x,b=y`.
    fn shown(messages: &[Message]) -> Vec<String> {
        let arranged = arrange(messages);
        let lines = arranged.iter().map(|it| {
            let message = it.message();
            let calls: Vec<_> = message.calls().map(|it| it.id.to_string()).collect();
            let results: Vec<_> =
                message.call_results().map(|it| format!("{}={}", it.call, it.content)).collect();
            match message.role {
                Role::Tool => format!("results {}", results.join(",")),
                Role::Assistant if !calls.is_empty() => format!("calls {}", calls.join(",")),
                Role::Assistant => format!("assistant {}", message.text()),
                _ => format!("user {}", message.text()),
            }
        });
        lines.collect()
    }

    #[test]
    fn what_is_in_order_is_kept() {
        let messages = [
            Message::user("a"),
            calling(&["q1", "q2"]),
            result("q1", "r1"),
            result("q2", "r2"),
            Message::assistant("done"),
        ];

        let arranged = arrange(&messages);

        assert!(arranged.iter().all(|it| matches!(it, Outgoing::Kept(_))));
        assert_eq!(arranged.len(), 5);
    }

    #[test]
    fn orphans_go_and_missing_results_are_made_up() {
        let messages = [
            Message::user("a"),
            result("ghost", "old"),
            calling(&["q1", "q2"]),
            result("q1", "r1"),
            Message::user("next"),
        ];

        let expected = format!("results q1=r1,q2={MISSING}");
        assert_eq!(shown(&messages), ["user a", "calls q1,q2", &expected, "user next"]);
    }

    #[test]
    fn late_results_move_to_their_calls_in_call_order() {
        let messages = [
            Message::user("a"),
            calling(&["q1", "q2"]),
            Message::user("hurry"),
            result("q2", "r2"),
            result("q1", "r1"),
            result("q1", "again"),
        ];

        assert_eq!(
            shown(&messages),
            ["user a", "calls q1,q2", "results q1=r1,q2=r2", "user hurry"]
        );
    }

    #[test]
    fn one_id_for_everything_still_pairs() {
        let messages = [
            Message::user("a"),
            calling(&["x", "x"]),
            result("x", "r1"),
            result("x", "r2"),
            calling(&["x"]),
            result("x", "r3"),
        ];

        assert_eq!(
            shown(&messages),
            ["user a", "calls x,x_1", "results x=r1,x_1=r2", "calls x", "results x=r3"]
        );
    }

    #[test]
    fn a_call_that_is_there_twice_goes_out_once() {
        let messages = [Message::user("a"), calling(&["x", "x"]), result("x", "r")];

        assert_eq!(shown(&messages), ["user a", "calls x", "results x=r"]);
    }

    #[test]
    fn blank_answers_go_and_neighbours_join() {
        let messages = [
            Message::user("a"),
            Message::assistant(" "),
            Message::user("b"),
            Message::assistant("x"),
            Message::assistant("y"),
        ];

        assert_eq!(shown(&messages), ["user ab", "assistant x\n\ny"]);
    }

    #[test]
    fn a_history_that_ends_in_calls_is_answered() {
        assert_eq!(
            shown(&[Message::user("a"), calling(&["q"])]),
            ["user a".to_owned(), "calls q".to_owned(), format!("results q={MISSING}")]
        );
    }
}

//! Notices a model that makes the same call again and again.
//!
//! Everything is read from the history of the turn, so that nothing has to be stored for it.

use super::dispatch::Dispatched;
use crate::{
    message::{Call, CallStatus, Message, Role},
    tool::{Effect, ToolOutput, ToolRegistry},
};

/// What there was before a call in its turn, since the user last said something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Past<'a> {
    /// The messages up to the reply that makes the call.
    pub(crate) history: &'a [Message],
    /// The calls of that reply which have their outputs.
    pub(crate) done: &'a [(Call, ToolOutput)],
    pub(crate) registry: &'a ToolRegistry,
}

/// How often a call is made in vain before the model is told so.
const NOTICED: u32 = 2;
/// How many calls back anything is noticed.
const LOOKED_BACK: usize = 512;
/// In how many replies in a row a tool fails, with whatever arguments, before the model is told so.
/// hermes-agent tells it at as many failures.
const NOTICED_OF_TOOL: usize = 3;

impl<'a> Past<'a> {
    pub(crate) fn of(done: &'a Dispatched, registry: &'a ToolRegistry) -> Self {
        let history = done.history.as_ref().map(|it| it.as_slice()).unwrap_or_default();
        Self { history, done: &done.outputs, registry }
    }

    /// Returns why `call` is not to run at all: it has failed `limit` times in a row. No limit at zero.
    pub(crate) fn refusal(self, call: &Call, limit: u32) -> Option<String> {
        if limit == 0 {
            return None;
        }
        let failures = self.failures(call);
        (limit <= failures).then(|| {
            format!(
                "Not run: this call has failed {failures} times in a row with the same arguments. \
                 Change them, try another way, or tell the user what is in the way. It can run again \
                 once something has changed."
            )
        })
    }

    /// Returns what to add to the result of `call`, if the same has come of it before and it was not
    /// refused for that.
    pub(crate) fn note(self, call: &Call, output: &ToolOutput, limit: u32) -> Option<String> {
        match output.status {
            CallStatus::Rejected | CallStatus::Failed => {
                let failures = self.failures(call).saturating_add(1);
                if failures < NOTICED {
                    return self.note_of_tool(call);
                }
                let is_refused = 0 < limit && limit < failures;
                (!is_refused).then(|| {
                    format!(
                        "\n\n[This call has failed {failures} times in a row with the same arguments. \
                         Do not repeat it: change them, try another way, or tell the user what is in \
                         the way.]"
                    )
                })
            }
            CallStatus::Done if !self.changes(call) => {
                let times = self.same_results(call, &output.content).saturating_add(1);
                (NOTICED <= times).then(|| {
                    format!(
                        "\n\n[This call has brought the same result {times} times in a row. Nothing has \
                         changed since the first time; go on with what you have.]"
                    )
                })
            }
            _ => None,
        }
    }

    /// Returns what to add to a failure of `call` if its tool has failed in several replies in a row,
    /// whatever the arguments. The calls of one reply cannot learn from each other and count as one.
    fn note_of_tool(self, call: &Call) -> Option<String> {
        let has_worked = |round: Round<'a>| {
            let of_tool = round.calls().filter(|(earlier, ..)| earlier.name == call.name);
            of_tool
                .map(|(_, status, _)| status == CallStatus::Done)
                .reduce(|one, other| one || other)
        };
        let failed = self.rounds().filter_map(has_worked).take_while(|worked| !worked);
        let failures = failed.count().saturating_add(1);
        (NOTICED_OF_TOOL <= failures).then(|| {
            format!(
                "\n\n[{:?} has failed in {failures} replies in a row, with different arguments. Read \
                 what the results say is wrong before you call it again, or try another way.]",
                call.name
            )
        })
    }

    /// Counts the failures of the same call since it last worked and since anything was changed.
    fn failures(self, call: &Call) -> u32 {
        let mut count: u32 = 0;
        for (earlier, status, _) in self.earlier() {
            match status {
                CallStatus::Rejected | CallStatus::Failed if is_same(earlier, call) => {
                    count = count.saturating_add(1);
                }
                CallStatus::Done if self.changes(earlier) || is_same(earlier, call) => break,
                _ => {}
            }
        }
        count
    }

    /// Counts the results of the same call that were the same, since anything was changed.
    fn same_results(self, call: &Call, content: &str) -> u32 {
        let mut count: u32 = 0;
        for (earlier, status, earlier_content) in self.earlier() {
            if status == CallStatus::Done && self.changes(earlier) {
                break;
            }
            if is_same(earlier, call) {
                if status != CallStatus::Done || !is_same_content(earlier_content, content) {
                    break;
                }
                count = count.saturating_add(1);
            }
        }
        count
    }

    fn changes(self, call: &Call) -> bool {
        self.registry.spec(&call.name).is_none_or(|spec| spec.effect != Effect::Read)
    }

    /// Returns the calls that have results, with status and content, the latest first.
    fn earlier(self) -> impl Iterator<Item = (&'a Call, CallStatus, &'a str)> {
        let done = self.done.iter().rev();
        let done = done.map(|(call, output)| (call, output.status, output.content.as_str()));
        done.chain(self.rounds().flat_map(Round::calls)).take(LOOKED_BACK)
    }

    /// Returns the rounds before this one, the latest first.
    fn rounds(self) -> impl Iterator<Item = Round<'a>> {
        self.history.windows(2).rev().map_while(|pair| match pair {
            [_, last] if last.role == Role::User => None,
            [reply, results] => Some(Round { reply, results }),
            _ => None,
        })
    }
}

/// A reply, and the results of its calls. (Or two messages that have none.)
#[derive(Clone, Copy)]
struct Round<'a> {
    reply: &'a Message,
    results: &'a Message,
}

impl<'a> Round<'a> {
    /// Returns the calls that have results, with status and content, the latest first.
    fn calls(self) -> impl Iterator<Item = (&'a Call, CallStatus, &'a str)> {
        let calls: Vec<&Call> = self.reply.calls().collect();
        let results = self.results.call_results().zip(calls);
        // Results are in the order of their calls; of anything else nothing is said.
        let pairs = results.filter(|(result, call)| call.id == result.call);
        let each = pairs.map(|(result, call)| (call, result.status, result.content.as_str()));
        let each: Vec<_> = each.collect();
        each.into_iter().rev()
    }
}

/// Returns whether both call the same tool with the same arguments, however these are written.
fn is_same(one: &Call, other: &Call) -> bool {
    let (left, right) = (&one.arguments, &other.arguments);
    if one.name != other.name || weight(left.as_str()) != weight(right.as_str()) {
        return false;
    }
    left == right || left.parse().is_ok_and(|left| right.parse() == Ok(left))
}

/// Returns a number that is the same for texts of the same characters, whatever their order and the
/// space between them; it spares most comparisons.
fn weight(text: &str) -> usize {
    let weights = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).map(usize::from);
    weights.fold(0, usize::wrapping_add)
}

/// Returns whether a result in the history is `content`, with or without a note at its end.
fn is_same_content(earlier: &str, content: &str) -> bool {
    let rest = earlier.strip_prefix(content);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("\n\n["))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        message::{CallResult, Part},
        tool::{Tool, ToolContext, ToolError, ToolSpec},
    };

    #[derive(Debug)]
    struct Named(&'static str, Effect);

    #[async_trait::async_trait]
    impl Tool for Named {
        fn spec(&self) -> ToolSpec {
            let spec = ToolSpec::new(self.0, "");
            if self.1 == Effect::Read { spec.read_only() } else { spec }
        }

        async fn call(
            &self,
            _: serde_json::Value,
            _: &ToolContext,
        ) -> Result<ToolOutput, ToolError> {
            Ok(ToolOutput::done(""))
        }
    }

    fn registry() -> ToolRegistry {
        let tools: [Arc<dyn Tool>; 2] =
            [Arc::new(Named("read", Effect::Read)), Arc::new(Named("write", Effect::Write))];
        ToolRegistry::new(tools).unwrap()
    }

    fn call(name: &str, arguments: &str) -> Call {
        Call::new("a", name, arguments)
    }

    /// One round of a call, and what came of it.
    fn round(call: &Call, status: CallStatus, content: &str) -> [Message; 2] {
        let reply = Message::new(Role::Assistant, vec![Part::Call(call.clone())]);
        [reply, Message::results([CallResult::new(call.id.clone(), status, content)])]
    }

    fn failures(history: &[Message], call: &Call) -> u32 {
        Past { history, done: &[], registry: &registry() }.failures(call)
    }

    #[test]
    fn failures_in_a_row_are_counted() {
        let failing = call("write", r#"{"a":1,"b":[2]}"#);
        let other_order = call("write", r#"{ "b": [2], "a": 1 }"#);
        let other = call("write", r#"{"a":1,"b":[3]}"#);
        let history = [
            vec![Message::user("go")],
            round(&failing, CallStatus::Rejected, "no").to_vec(),
            round(&other, CallStatus::Failed, "no").to_vec(),
            round(&other_order, CallStatus::Failed, "no").to_vec(),
        ]
        .concat();

        assert_eq!(failures(&history, &failing), 2);
        assert_eq!(failures(&history, &other), 1);
        assert_eq!(failures(&history, &call("read", r#"{"a":1,"b":[2]}"#)), 0);
    }

    #[test]
    fn what_was_changed_or_said_since_starts_the_count_again() {
        let failing = call("read", "{}");
        let failed = round(&failing, CallStatus::Failed, "no");
        let after = |between: &[Message]| failures(&[&failed[..], between].concat(), &failing);

        assert_eq!(after(&round(&call("read", r#"{"x":1}"#), CallStatus::Done, "")), 1);
        assert_eq!(after(&round(&call("write", ""), CallStatus::Failed, "")), 1);
        assert_eq!(after(&round(&call("write", ""), CallStatus::Done, "")), 0);
        assert_eq!(after(&round(&failing, CallStatus::Done, "")), 0);
        assert_eq!(after(&[Message::user("again")]), 0);
    }

    #[test]
    fn a_tool_that_fails_with_ever_other_arguments_is_noticed() {
        let failed = |at: u32| {
            let call = call("write", &format!(r#"{{"a":{at}}}"#));
            round(&call, CallStatus::Failed, "no").to_vec()
        };
        let worked = round(&call("write", "{}"), CallStatus::Done, "").to_vec();
        let other = round(&call("read", "{}"), CallStatus::Done, "").to_vec();
        let note = |history: &[Vec<Message>]| {
            let (history, registry) = (history.concat(), registry());
            let past = Past { history: &history, done: &[], registry: &registry };
            past.note(&call("write", r#"{"a":9}"#), &ToolOutput::failed("no"), 5)
        };

        assert_eq!(note(&[failed(1)]), None);
        assert_eq!(note(&[failed(1), worked, failed(2)]), None);
        let note = note(&[failed(1), other, failed(2)]).unwrap();
        assert!(note.contains(r#""write" has failed in 3 replies in a row"#), "{note}");
    }

    #[test]
    fn what_ran_in_the_same_reply_counts() {
        let failing = call("write", "{}");
        let done = [(failing.clone(), ToolOutput::failed("no"))];

        let past = Past { history: &[], done: &done, registry: &registry() };

        assert_eq!(past.failures(&failing), 1);
    }

    #[test]
    fn the_same_result_is_noticed_with_and_without_its_note() {
        let reading = call("read", "{}");
        let first = round(&reading, CallStatus::Done, "same");
        let noted = round(&reading, CallStatus::Done, "same\n\n[This call …]");
        let note = |history: &[Message], content: &str| {
            let past = Past { history, done: &[], registry: &registry() };
            past.note(&reading, &ToolOutput::done(content), 5).is_some()
        };

        assert!(note(&first, "same"));
        assert!(note(&[&first[..], &noted[..]].concat(), "same"));
        assert!(!note(&first, "sam"));
        assert!(!note(&first, "other"));
        assert!(!note(&[], "same"));
    }
}

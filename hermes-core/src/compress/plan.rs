//! Which messages stay as they are, which are only pruned, and which a summary replaces.

use std::collections::HashMap;

use serde_json::Value;

use super::{Window, message_tokens, text_tokens};
use crate::{
    message::{Arguments, Call, CallId, CallResult, Message, Part, Role},
    tool::cut_middle,
};

/// The two cuts: `..head` and `tail..` stay, what is between them goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) head: usize,
    pub(super) tail: usize,
}

impl Plan {
    /// Returns how many tokens of `messages` a summary replaces, what the user said last not counted, as
    /// that stays.
    pub(super) fn replaced(self, messages: &[Message], sizes: &[u64]) -> u64 {
        let last = last_words(messages).map(|(at, _)| at);
        let each = sizes.iter().enumerate().take(self.tail).skip(self.head);
        each.filter(|(at, _)| Some(*at) != last).map(|(_, size)| size).sum()
    }
}

/// Returns where to cut, `None` if there is nothing between head and tail.
///
/// `sizes` are the tokens of each message. No cut comes between a call and its results, and the head
/// never ends with a user message, so that the summary, which is one, can follow it.
pub(super) fn plan(messages: &[Message], sizes: &[u64], window: &Window) -> Option<Plan> {
    let tail = tail(messages, sizes, window);
    let head = head(messages, window, tail);
    (head < tail).then_some(Plan { head, tail })
}

/// Returns where the messages begin that stay.
pub(super) fn tail(messages: &[Message], sizes: &[u64], window: &Window) -> usize {
    let most = messages.len().saturating_sub(window.tail_messages.max(1));
    let mut budget = window.tail_tokens;
    let fitting = sizes.iter().rev().take_while(|size| {
        let fits = **size <= budget;
        budget = budget.saturating_sub(**size);
        fits
    });
    let mut tail = most.min(messages.len().saturating_sub(fitting.count()));
    while 0 < tail && messages.get(tail).is_some_and(|it| it.role == Role::Tool) {
        tail = tail.saturating_sub(1);
    }
    tail
}

fn head(messages: &[Message], window: &Window, tail: usize) -> usize {
    let summary = messages.iter().position(|it| it.is_summary).unwrap_or(messages.len());
    let most = summary.min(tail);
    let mut head = window.head_messages.min(most);
    while head < most && !is_cut(messages, head) {
        head = head.saturating_add(1);
    }
    while 0 < head && !is_cut(messages, head) {
        head = head.saturating_sub(1);
    }
    head
}

/// Returns whether a user message can stand between `at - 1` and `at`.
fn is_cut(messages: &[Message], at: usize) -> bool {
    let follows_user =
        at.checked_sub(1).and_then(|it| messages.get(it)).is_some_and(|it| it.role == Role::User);
    let is_results = messages.get(at).is_some_and(|it| it.role == Role::Tool);
    !follows_user && !is_results
}

/// Returns the latest message that a person wrote, with its place.
pub(super) fn last_words(messages: &[Message]) -> Option<(usize, &Message)> {
    messages.iter().enumerate().rev().find(|(_, it)| it.has_words_of_user())
}

/// Shortens old results and long arguments before `tail`. Returns `None` if there are none.
pub(super) fn prune(messages: &[Message], tail: usize, window: &Window) -> Option<Vec<Message>> {
    let mut names: HashMap<CallId, String> = HashMap::new();
    let mut changed = false;
    let asked = last_words(messages).map(|(at, _)| at);
    let old = messages.iter().enumerate().take(tail);
    let mut pruned: Vec<Message> = old
        .map(|(at, message)| {
            names.extend(message.calls().map(|call| (call.id.clone(), call.name.to_string())));
            let short = pruned_message(message, &names, window, asked < Some(at));
            changed |= short.is_some();
            short.unwrap_or_else(|| message.clone())
        })
        .collect();
    pruned.extend(messages.iter().skip(tail).cloned());
    changed.then_some(pruned)
}

/// Shortens as [`prune`], and the messages from `tail` on to about the tokens that they may have: their
/// results, the newest last, and if that is not enough the arguments of their calls.
pub(super) fn prune_all(
    messages: &[Message],
    tail: usize,
    window: &Window,
) -> Option<Vec<Message>> {
    let pruned = prune(messages, tail, window);
    let mut changed = pruned.is_some();
    let mut pruned = pruned.unwrap_or_else(|| messages.to_vec());
    let asked = last_words(messages).map(|(at, _)| at);
    let latest = pruned.get_mut(tail..).unwrap_or_default();
    let sizes = latest.iter().map(message_tokens);
    let mut over = sizes.sum::<u64>().saturating_sub(window.tail_tokens);
    for least in [window.result_chars, 0] {
        for message in latest.iter_mut() {
            changed |= squeeze(message, &mut over, least);
        }
    }
    let (names, results) = (HashMap::new(), usize::MAX);
    let arguments_only = Window { result_chars: results, ..*window };
    for (at, message) in latest.iter_mut().enumerate().take_while(|_| 0 < over) {
        let is_current = asked < Some(tail.saturating_add(at));
        if let Some(short) = pruned_message(message, &names, &arguments_only, is_current) {
            *message = short;
            changed = true;
        }
    }
    changed.then_some(pruned)
}

/// Cuts results of `message` to no less than `least` characters each, until the tokens that are `over`
/// are gone, and returns whether it cut any.
fn squeeze(message: &mut Message, over: &mut u64, least: usize) -> bool {
    let before = *over;
    let parts: Vec<Part> = message
        .parts
        .iter()
        .map(|part| match part {
            Part::Result(result) => match squeezed(&result.content, *over, least) {
                Some((content, saved)) => {
                    *over = over.saturating_sub(saved);
                    Part::Result(CallResult::new(result.call.clone(), result.status, content))
                }
                None => part.clone(),
            },
            _ => part.clone(),
        })
        .collect();
    if *over != before {
        *message = message.clone().with_parts(parts);
    }
    *over != before
}

/// Returns `content` without about `over` tokens, but with at least `least` characters, and how many
/// tokens are gone. `None` if nothing would be.
fn squeezed(content: &str, over: u64, least: usize) -> Option<(String, u64)> {
    /// What stands for a result of which nothing is left.
    const NOTHING: &str = "[left out]";
    /// About how long the mark of a cut is.
    const MARK_CHARS: usize = 60;
    let chars = content.chars().count();
    let tokens = text_tokens(content);
    if over == 0 || chars <= least {
        return None;
    }
    let kept = u64::try_from(chars).ok()?.saturating_mul(tokens.saturating_sub(over));
    let kept = usize::try_from(kept.checked_div(tokens)?).ok()?.saturating_sub(MARK_CHARS);
    let cut = match kept.max(least) {
        0 => NOTHING.to_owned(),
        most => cut_middle(content, most)?,
    };
    let saved = tokens.saturating_sub(text_tokens(&cut));
    (0 < saved).then_some((cut, saved))
}

/// Returns `message` with short results and arguments, `None` if they are so. `is_current` says that it
/// belongs to what the model is at.
fn pruned_message(
    message: &Message,
    names: &HashMap<CallId, String>,
    window: &Window,
    is_current: bool,
) -> Option<Message> {
    let mut changed = false;
    let parts: Vec<Part> = message
        .parts
        .iter()
        .map(|part| {
            let short = match part {
                Part::Result(result) => pruned_result(result, names, window).map(Part::Result),
                Part::Call(call) => pruned_call(call, window).map(Part::Call),
                _ => None,
            };
            changed |= short.is_some();
            short.unwrap_or_else(|| part.clone())
        })
        .collect();
    if !changed {
        return None;
    }
    // What a provider signed belongs to the message as it was. But for the rounds it is at it wants back
    // what it signed, and refuses the request without.
    let goes = |part: &Part| !is_current && matches!(part, Part::Reasoning(_));
    let parts = parts.into_iter().filter(|part| !goes(part));
    Some(message.clone().with_parts(parts.collect()))
}

fn pruned_result(
    result: &CallResult,
    names: &HashMap<CallId, String>,
    window: &Window,
) -> Option<CallResult> {
    let chars = result.content.chars().count();
    if chars <= window.result_chars {
        return None;
    }
    let name = names.get(&result.call).map_or("the tool", String::as_str);
    let lines = result.content.lines().count();
    let content = format!("[old result of {name} left out: {chars} characters in {lines} lines]");
    Some(CallResult::new(result.call.clone(), result.status, content))
}

fn pruned_call(call: &Call, window: &Window) -> Option<Call> {
    let raw = call.arguments.as_str();
    if raw.len() <= window.argument_chars || raw.chars().count() <= window.argument_chars {
        return None;
    }
    let Ok(Value::Object(mut object)) = call.arguments.parse().cloned() else { return None };
    let each = window.argument_chars.checked_div(object.len().max(1)).unwrap_or(0).max(16);
    object.values_mut().for_each(|value| shorten(value, each));
    Some(Call::new(call.id.clone(), call.name.clone(), Arguments::from(Value::Object(object))))
}

/// Cuts what is long in `value` and leaves it of the same kind.
fn shorten(value: &mut Value, most: usize) {
    match value {
        Value::String(text) if most < text.chars().count() => {
            let kept: String = text.chars().take(most).collect();
            *text = format!("{kept}… [cut]");
        }
        Value::Array(items) => {
            items.truncate(8);
            let each = most.checked_div(items.len().max(1)).unwrap_or(0).max(16);
            for item in items {
                shorten(item, each);
            }
        }
        Value::Object(object) => object.values_mut().for_each(|it| shorten(it, most)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::message::CallStatus;

    fn window(head: usize, tail: usize) -> Window {
        Window { head_messages: head, tail_messages: tail, tail_tokens: 0, ..Window::default() }
    }

    fn round(number: usize, calls: usize) -> [Message; 2] {
        let id = |at: usize| CallId::new(format!("c{number}-{at}"));
        let call = |at| Part::Call(Call::new(id(at), "ping", "{}"));
        let result = |at| CallResult::new(id(at), CallStatus::Done, "up");
        [
            Message::new(Role::Assistant, (0..calls).map(call).collect()),
            Message::results((0..calls).map(result)),
        ]
    }

    fn check(messages: &[Message], window: &Window, expected: Option<(usize, usize)>) {
        let sizes: Vec<u64> = messages.iter().map(message_tokens).collect();
        let expected = expected.map(|(head, tail)| Plan { head, tail });
        assert_eq!(plan(messages, &sizes, window), expected);
    }

    #[test]
    fn no_cut_comes_between_a_call_and_its_results() {
        let mut messages = vec![Message::user("go")];
        messages.extend((0..4).flat_map(|it| round(it, 3)));

        check(&messages, &window(1, 1), Some((3, 7)));
        check(&messages, &window(0, 3), Some((0, 5)));
    }

    #[test]
    fn a_short_conversation_has_no_middle() {
        check(&[Message::user("a"), Message::assistant("b")], &window(1, 4), None);
    }

    #[test]
    fn pruned_arguments_stay_objects_and_signatures_go() {
        let long = serde_json::json!({"text": "x".repeat(9_000), "n": 1});
        let call = Part::Call(Call::new("a", "write", long));
        let thought = Part::Reasoning(crate::message::Reasoning::new("hm"));
        let message = Message::new(Role::Assistant, vec![thought, call]);

        let later = Message::user("And?");
        let pruned = prune(&[message, later], 1, &Window::default()).unwrap();

        assert_eq!(pruned[0].parts.len(), 1);
        let arguments = &pruned[0].calls().next().unwrap().arguments;
        assert!(arguments.as_str().len() < 3_000);
        assert!(arguments.parse().unwrap().is_object());
    }

    #[test]
    fn what_was_thought_for_the_rounds_the_model_is_at_stays() {
        let thought = |text| Part::Reasoning(crate::message::Reasoning::new(text));
        let long = serde_json::json!({"text": "x".repeat(90_000)});
        let round = |id: &str| {
            let call = Part::Call(Call::new(id, "write", long.clone()));
            let result = CallResult::new(id.into(), CallStatus::Done, "written");
            let parts = vec![thought("hm"), call];
            [Message::new(Role::Assistant, parts), Message::results([result])]
        };
        let mut messages = vec![Message::user("first")];
        messages.extend(round("a"));
        messages.push(Message::user("second"));
        messages.extend(round("b").into_iter().chain(round("c")));

        let pruned = prune_all(&messages, 6, &window(0, 1)).unwrap();

        let lengths: Vec<(usize, usize)> = pruned
            .iter()
            .filter(|it| it.role == Role::Assistant)
            .map(|it| (it.parts.len(), it.calls().next().unwrap().arguments.as_str().len()))
            .collect();
        assert_eq!(lengths.iter().map(|it| it.0).collect::<Vec<_>>(), [1, 2, 2]);
        assert!(lengths.iter().all(|it| it.1 < 3_000), "{lengths:?}");
    }

    #[test]
    fn a_history_of_a_million_tokens_is_planned_in_time() {
        let messages: Vec<Message> = (0..20_000).map(|_| Message::user("x".repeat(200))).collect();
        let start = Instant::now();

        let sizes: Vec<u64> = messages.iter().map(message_tokens).collect();
        assert!(1_000_000 < sizes.iter().sum::<u64>());
        assert!(plan(&messages, &sizes, &Window::default()).is_some());
        assert!(start.elapsed().as_secs() < 2);
    }
}

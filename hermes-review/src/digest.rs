//! What a reviewer on another model reads instead of the whole conversation.

use hermes_core::message::{CallStatus, Message, Part, Role};

/// The messages that are kept as they are.
const KEPT: usize = 24;
/// The most characters kept of one older text or result.
const PIECE: usize = 300;

/// Returns `history` shortened for a model that has none of it in its cache: the last 24 messages as
/// they are, with those before them back to an assistant message, and everything older as one user
/// message of short lines.
///
/// Up to 24 messages come back unchanged. Roles alternate and no result is parted from its call. Of an
/// older text or result at most 300 characters are kept; the last messages are as long as they were.
///
/// # Examples
///
/// ```
/// use hermes_core::message::Message;
///
/// let turn = |number| [Message::user(format!("question {number}")), Message::assistant("answer")];
/// let history = (0..20).flat_map(turn).collect::<Vec<_>>();
///
/// let digest = hermes_review::digest(&history);
///
/// assert_eq!(digest.len(), 1 + 25);
/// assert!(digest[0].text().contains("user: question 7"));
/// assert_eq!(digest.last(), history.last());
/// ```
pub fn digest(history: &[Message]) -> Vec<Message> {
    if history.len() <= KEPT {
        return history.to_vec();
    }
    let latest = history.len().saturating_sub(KEPT);
    // The tail starts with an assistant message, so that the digest before it is the user's turn.
    let start = history
        .iter()
        .enumerate()
        .take(latest.saturating_add(1))
        .rfind(|(_, message)| message.role == Role::Assistant)
        .map_or(latest, |(at, _)| at);
    let (older, kept) = history.split_at(start);
    let lines: Vec<String> = older.iter().flat_map(lines).collect();
    let text = format!("The conversation until here, shortened:\n\n{}", lines.join("\n"));
    std::iter::once(Message::user(text)).chain(kept.iter().cloned()).collect()
}

fn lines(message: &Message) -> Vec<String> {
    let speaker = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        _ => "result",
    };
    let line = |part: &Part| match part {
        Part::Text(text) if !text.trim().is_empty() => Some(format!("{speaker}: {}", short(text))),
        Part::Call(call) => {
            Some(format!("assistant calls {}: {}", call.name, short(call.arguments.as_str())))
        }
        Part::Result(result) => {
            let word = if result.status == CallStatus::Done { "result" } else { "failed" };
            Some(format!("{word}: {}", short(&result.content)))
        }
        _ => None,
    };
    message.parts.iter().filter_map(line).collect()
}

/// Returns the start of `text` on one line.
fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(PIECE) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use hermes_core::message::{Call, CallResult};

    use super::*;

    fn round(number: usize) -> [Message; 4] {
        let id = format!("c{number}");
        let call = Part::Call(Call::new(id.as_str(), "terminal", "{\"cmd\":\"make\"}"));
        [
            Message::user(format!("task {number}")),
            Message::new(Role::Assistant, vec![call]),
            Message::results([CallResult::new(
                id.as_str().into(),
                CallStatus::Failed,
                "no\n  rule",
            )]),
            Message::assistant("x".repeat(400)),
        ]
    }

    #[test]
    fn a_short_conversation_is_kept_as_it_is() {
        let history: Vec<Message> = (0..6).flat_map(round).collect();

        assert_eq!(digest(&history), history);
    }

    #[test]
    fn a_long_one_is_shortened_from_the_front() {
        let history: Vec<Message> = (0..10).flat_map(round).collect();

        let digest = digest(&history);

        let first = digest[0].text();
        assert_eq!(digest[0].role, Role::User);
        assert_eq!(digest[1].role, Role::Assistant);
        assert!(first.contains("user: task 0\nassistant calls terminal: {\"cmd\":\"make\"}\n"));
        assert!(first.contains("failed: no rule\n"), "{first}");
        assert!(!first.contains(&"x".repeat(301)));
        assert_eq!(digest.last(), history.last());
        assert!(24 <= digest.len() && digest.len() <= 28);
    }

    #[test]
    fn no_result_is_parted_from_its_call() {
        for extra in 0..4 {
            let history: Vec<Message> = (0..10).flat_map(round).skip(extra).collect();

            let digest = digest(&history);

            let calls: Vec<_> = digest.iter().flat_map(|it| it.calls()).map(|it| &it.id).collect();
            let results: Vec<_> =
                digest.iter().flat_map(|it| it.call_results()).map(|it| &it.call).collect();
            assert_eq!(calls, results);
        }
    }
}

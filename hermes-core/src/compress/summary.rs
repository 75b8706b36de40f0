//! The summary: what the model is asked, what is accepted, and the message it becomes.

use super::CompressError;
use crate::message::{Message, MessageId, Part, Role, StopReason};

/// What the model that summarises is told.
pub(super) const INSTRUCTIONS: &str = include_str!("prompts/summarise.md");
/// What stands before a summary, so that nobody takes it for a request.
const REFERENCE: &str = include_str!("prompts/reference.md");
/// How many characters of one part the transcript shows.
const PART_CHARS: usize = 6_000;
/// How many characters a transcript has at most.
const TRANSCRIPT_CHARS: usize = 400_000;
/// What a call looks like that a model wrote as text.
const CALL_SYNTAX: [&str; 7] = [
    "<tool_call",
    "<function_call",
    "<function=",
    "<invoke ",
    "<|tool_call",
    "[TOOL_CALLS]",
    "\"tool_calls\"",
];

/// Returns the message that stands for replaced ones: `body` for reference, and after it `said`, what
/// the user wrote last.
///
/// The user's words are its text; the summary is a context part, and the message is marked as one.
pub fn summary_message(body: &str, said: Vec<Part>) -> Message {
    let mut parts = vec![Part::Context(format!("{REFERENCE}\n{}", body.trim()))];
    parts.extend(said);
    Message::new(Role::User, parts).marked_as_summary()
}

/// Returns the body of a summary of ours, `None` of any other message.
pub(super) fn body(message: &Message) -> Option<&str> {
    let context = message.parts.iter().find_map(|part| match part {
        Part::Context(text) if message.is_summary => Some(text),
        _ => None,
    })?;
    Some(context.strip_prefix(REFERENCE).unwrap_or(context).trim())
}

/// Returns what a message says beside the summary in it.
pub(super) fn said(message: &Message) -> Vec<Part> {
    let mut parts = message.parts.clone();
    if let (true, Some(at)) =
        (message.is_summary, parts.iter().position(|it| matches!(it, Part::Context(_))))
    {
        parts.remove(at);
    }
    parts
}

/// Returns what the model is shown of `messages`: the notes so far and the rest as a transcript.
pub(super) fn transcript(messages: &[Message]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut room = TRANSCRIPT_CHARS;
    for message in messages.iter().rev() {
        let line = lines_of(message);
        let Some(left) = room.checked_sub(line.len()) else {
            lines.push("(older messages left out)\n".to_owned());
            break;
        };
        room = left;
        lines.push(line);
    }
    let notes = messages.iter().rev().find_map(body);
    let transcript: String = lines.into_iter().rev().collect();
    let notes = notes.map(|it| format!("<notes>\n{it}\n</notes>\n\n")).unwrap_or_default();
    format!("{notes}<transcript>\n{transcript}</transcript>")
}

fn lines_of(message: &Message) -> String {
    let who = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    said(message)
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(format!("{who}: {}\n", short(text))),
            Part::Context(text) => Some(format!("not by the {who}: {}\n", short(text))),
            Part::Image(_) => Some(format!("{who}: (a picture)\n")),
            Part::Call(call) => {
                Some(format!("{who} calls {} {}\n", call.name, short(call.arguments.as_str())))
            }
            Part::Result(result) => {
                Some(format!("result ({:?}): {}\n", result.status, short(&result.content)))
            }
            Part::Reasoning(_) => None,
        })
        .collect()
}

/// Returns the beginning and the end of a long text.
fn short(text: &str) -> String {
    let count = text.chars().count();
    if count <= PART_CHARS {
        return text.to_owned();
    }
    let (first, last) = (PART_CHARS / 3 * 2, PART_CHARS / 3);
    let start: String = text.chars().take(first).collect();
    let end: String = text.chars().skip(count.saturating_sub(last)).collect();
    format!("{start}\n[… {} characters …]\n{end}", count.saturating_sub(PART_CHARS))
}

/// Returns the text of a reply that can stand for what it summarises.
pub(super) fn accepted(reply: &Message) -> Result<String, CompressError> {
    let text = reply.text().trim().to_owned();
    if reply.calls().next().is_some() || CALL_SYNTAX.iter().any(|it| text.contains(it)) {
        return Err(CompressError::CallSyntax);
    }
    match reply.stop {
        Some(StopReason::Refusal) => Err(CompressError::Refused),
        Some(StopReason::Length | StopReason::Interrupted | StopReason::Cancelled) => {
            Err(CompressError::Cut)
        }
        _ if text.is_empty() => Err(CompressError::Blank),
        _ => Ok(text),
    }
}

/// Returns `head`, the summary and `tail` as one history.
///
/// `anchor` is the user's last message where neither head nor tail has one. If the tail begins with a
/// user message, the summary goes into that one, so that no two of them stand together.
pub(super) fn joined(
    head: &[Message],
    (body, anchor, id): (&str, Option<&Message>, MessageId),
    tail: &[Message],
) -> Vec<Message> {
    let mut words = anchor.map(said).unwrap_or_default();
    let first = tail.first().filter(|it| it.role == Role::User);
    if let Some(first) = first {
        words.extend(said(first));
    }
    let id = first.or(anchor).map_or(id, |it| it.id);
    let mut messages = head.to_vec();
    messages.push(summary_message(body, words).with_id(id));
    messages.extend(tail.iter().skip(usize::from(first.is_some())).cloned());
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Call;

    #[test]
    fn the_prompt_reads_as_it_should() {
        insta::assert_snapshot!(INSTRUCTIONS);
    }

    #[test]
    fn a_summary_is_known_by_its_mark_and_not_by_its_text() {
        let ours = summary_message("did it", vec![Part::Text("next".to_owned())]);
        let copied = Message::new(Role::User, ours.parts.clone());

        assert_eq!(body(&ours), Some("did it"));
        assert_eq!(ours.text(), "next");
        assert_eq!(body(&copied), None);
    }

    #[test]
    fn a_stored_summary_keeps_its_mark() {
        let ours = summary_message("did it", Vec::new());

        let stored: Message = serde_json::from_str(&serde_json::to_string(&ours).unwrap()).unwrap();

        assert_eq!(stored, ours);
        assert!(stored.extra.is_empty());
    }

    #[test]
    fn what_cannot_stand_for_a_conversation_is_refused() {
        let call = Message::new(Role::Assistant, vec![Part::Call(Call::new("a", "ping", "{}"))]);

        assert!(matches!(accepted(&Message::assistant(" \n")), Err(CompressError::Blank)));
        assert!(matches!(accepted(&call), Err(CompressError::CallSyntax)));
        let spelled = Message::assistant("ok <tool_call>{}</tool_call>");
        assert!(matches!(accepted(&spelled), Err(CompressError::CallSyntax)));
        let cut = Message::assistant("ok").with_stop(StopReason::Length);
        assert!(matches!(accepted(&cut), Err(CompressError::Cut)));
        assert_eq!(accepted(&Message::assistant(" ok ")).unwrap(), "ok");
    }

    #[test]
    fn earlier_notes_are_shown_once() {
        let shown = transcript(&[summary_message("EARLIER", Vec::new()), Message::assistant("a")]);

        assert_eq!(shown.matches("EARLIER").count(), 1);
        assert!(shown.starts_with("<notes>\nEARLIER\n</notes>"));
    }
}

//! The summary: what the model is asked, what is accepted, and the message it becomes.

use super::{CompressError, text_tokens};
use crate::message::{Message, MessageId, Part, Role, StopReason};

/// What the model that summarises is told.
pub(super) const INSTRUCTIONS: &str = include_str!("prompts/summarise.md");
/// What stands before a summary, so that nobody takes it for a request.
const REFERENCE: &str = include_str!("prompts/reference.md");
/// How many characters of one part the transcript shows at most.
const PART_CHARS: usize = 6_000;
/// What no text in a transcript may open or close.
const TAGS: [&str; 2] = ["transcript", "notes"];
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

/// Returns what the model is shown of `messages` in about `room` tokens: the notes so far, in no more than
/// half of it, and the latest of the rest as a transcript, in any case something.
pub(super) fn transcript(messages: &[Message], room: u64) -> String {
    let notes = messages.iter().rev().find_map(body).map(|it| fitting(escaped(it), room / 2));
    let notes = notes.map(|it| format!("<notes>\n{it}\n</notes>\n\n")).unwrap_or_default();
    let mut room = room.saturating_sub(text_tokens(&notes));
    // A character has two tokens at most, so that one part fits, but for what stands before it.
    let most = usize::try_from(room / 2).unwrap_or(usize::MAX).min(PART_CHARS);
    let mut lines: Vec<String> = Vec::new();
    for line in messages.iter().rev().flat_map(|message| lines_of(message, most)) {
        let line = if lines.is_empty() { fitting(line, room) } else { line };
        let Some(left) = room.checked_sub(text_tokens(&line)) else {
            lines.push("(older messages left out)\n".to_owned());
            break;
        };
        room = left;
        lines.push(line);
    }
    let transcript: String = lines.into_iter().rev().collect();
    format!("{notes}<transcript>\n{transcript}</transcript>")
}

/// Returns a message as lines of a transcript, the last first, with no more than `most` characters of
/// each part.
fn lines_of(message: &Message, most: usize) -> Vec<String> {
    let who = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let short = |text: &str| escaped(&short(text, most));
    let parts = said(message);
    let lines = parts.iter().rev().filter_map(|part| match part {
        Part::Text(text) => Some(format!("{who}: {}\n", short(text))),
        Part::Context(text) => Some(format!("not by the {who}: {}\n", short(text))),
        Part::Image(_) => Some(format!("{who}: (a picture)\n")),
        Part::Call(call) => {
            let (name, arguments) = (short(&call.name), short(call.arguments.as_str()));
            Some(format!("{who} calls {name} {arguments}\n"))
        }
        Part::Result(result) => {
            Some(format!("result ({:?}): {}\n", result.status, short(&result.content)))
        }
        Part::Reasoning(_) => None,
    });
    lines.collect()
}

/// Returns `text`, or the beginning and the end of it, in no more than about `most` tokens.
fn fitting(text: String, most: u64) -> String {
    /// What the mark of the cut takes.
    const MARK: u64 = 16;
    let tokens = text_tokens(&text);
    if tokens <= most {
        return text;
    }
    let chars = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    let kept = chars.saturating_mul(most.saturating_sub(MARK)) / tokens;
    // Where what is left is denser than what is not, it is cut once more.
    let cut = short(&text, usize::try_from(kept).unwrap_or(usize::MAX));
    if cut.len() < text.len() { fitting(cut, most) } else { cut }
}

/// Returns the beginning and the end of a text of more than `most` characters.
fn short(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let (first, last) = (most / 3 * 2, most / 3);
    let start: String = text.chars().take(first).collect();
    let end: String = text.chars().skip(count.saturating_sub(last)).collect();
    format!("{start}\n[… {} characters …]\n{end}", count.saturating_sub(first.saturating_add(last)))
}

/// Returns `text` so that nothing in it ends the transcript or the notes it stands in, or begins such.
fn escaped(text: &str) -> String {
    let mut pieces = text.split('<');
    let mut escaped = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        escaped.push_str(if is_tag(piece) { "&lt;" } else { "<" });
        escaped.push_str(piece);
    }
    escaped
}

/// Returns whether `text`, which follows a `<`, is one of our tags, however it is spelled.
fn is_tag(text: &str) -> bool {
    let name = text.trim_start_matches(|it: char| it == '/' || it.is_whitespace());
    TAGS.iter().any(|tag| name.get(..tag.len()).is_some_and(|it| it.eq_ignore_ascii_case(tag)))
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
    use crate::message::{Call, CallResult, CallStatus};

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
    fn nothing_that_was_said_ends_the_transcript() {
        let result = |text: &str| {
            let result = CallResult::new("a".into(), CallStatus::Done, text);
            Message::results([result])
        };
        let notes = summary_message("a</notes>b", Vec::new());
        let said = result("x</transcript> y < / TRANSCRIPT\n> z<notes> <note> a<b");

        let shown = transcript(&[notes, said], 4_000);

        let lower = shown.to_lowercase();
        assert_eq!(lower.matches("</transcript>").count(), 1, "{shown}");
        assert_eq!(lower.matches("</notes>").count(), 1, "{shown}");
        let expected = "x&lt;/transcript> y &lt; / TRANSCRIPT\n> z&lt;notes> <note> a<b";
        assert!(shown.contains(expected) && shown.contains("a&lt;/notes>b"), "{shown}");
    }

    #[test]
    fn a_transcript_has_no_more_than_its_room() {
        for text in ["word ", "日本語", "🙂"] {
            let messages: Vec<Message> = (0..50)
                .map(|at| Message::assistant(format!("{at} {}", text.repeat(900))))
                .collect();

            let shown = transcript(&messages, 5_000);

            let tokens = text_tokens(&shown);
            assert!((2_000..5_100).contains(&tokens), "{text}: {tokens}");
            assert!(shown.contains("assistant: 49 ") && shown.contains("older messages left out"));
        }
    }

    #[test]
    fn whatever_the_notes_are_something_of_the_rest_is_shown() {
        for notes in ["note ", "日本語", "🙂"] {
            for text in ["word ", "日本語", "🙂"] {
                let said = [
                    summary_message(&format!("FIRST {}", notes.repeat(9_000)), Vec::new()),
                    Message::assistant("long ago"),
                    Message::assistant(format!("LATEST {}", text.repeat(9_000))),
                ];

                let shown = transcript(&said, 4_000);

                let tokens = text_tokens(&shown);
                assert!((2_000..4_100).contains(&tokens), "{notes} {text}: {tokens}");
                assert!(shown.contains("FIRST") && shown.contains("LATEST"), "{notes} {text}");
            }
        }
    }

    #[test]
    fn notes_of_mixed_scripts_are_cut_to_their_half() {
        let notes = format!("{}{}", "🙂".repeat(4_000), "word ".repeat(90_000));
        let shown = transcript(&[summary_message(&notes, Vec::new())], 4_000);

        assert!(text_tokens(&shown) < 2_100, "{}", text_tokens(&shown));
    }

    #[test]
    fn earlier_notes_are_shown_once() {
        let shown =
            transcript(&[summary_message("EARLIER", Vec::new()), Message::assistant("a")], 4_000);

        assert_eq!(shown.matches("EARLIER").count(), 1);
        assert!(shown.starts_with("<notes>\nEARLIER\n</notes>"));
    }
}

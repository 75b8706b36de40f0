//! How many tokens a request has, as near as one can tell without the model's own tokenizer.

use crate::{
    message::{Message, MessageId, Part, Role},
    provider::Request,
};

/// What a picture counts for.
const IMAGE: u64 = 1_500;
/// What a message counts for beside its parts.
const FRAME: u64 = 4;

/// Returns about how many tokens `text` has: a quarter per ASCII character, half per letter of other
/// alphabets, one per Chinese, Japanese or Korean character, two per symbol beyond those.
///
/// # Examples
///
/// ```
/// use hermes_core::compress::text_tokens;
///
/// assert_eq!(text_tokens("abcde"), 2);
/// assert_eq!(text_tokens("日本語"), 3);
/// ```
pub fn text_tokens(text: &str) -> u64 {
    let quarters =
        if text.is_ascii() { wide(text.len()) } else { text.chars().map(quarters).sum() };
    quarters.div_ceil(4)
}

fn quarters(character: char) -> u64 {
    match u32::from(character) {
        0..0x80 => 1,
        0x80..0x1100 => 2,
        0x1F000.. if u32::from(character) < 0x20000 => 8,
        _ => 4,
    }
}

/// Returns about how many tokens a message has.
pub fn message_tokens(message: &Message) -> u64 {
    message.parts.iter().fold(FRAME, |sum, part| sum.saturating_add(part_tokens(part)))
}

fn part_tokens(part: &Part) -> u64 {
    match part {
        Part::Text(text) | Part::Context(text) => text_tokens(text),
        Part::Image(_) => IMAGE,
        Part::Call(call) => {
            let text = text_tokens(&call.name).saturating_add(text_tokens(call.arguments.as_str()));
            text.saturating_add(FRAME)
        }
        Part::Result(result) => text_tokens(&result.content).saturating_add(FRAME),
        Part::Reasoning(reasoning) => text_tokens(&reasoning.text),
    }
}

/// Returns about how many tokens `request` has.
///
/// Where an assistant message after `since` says what its own request used, that is taken as it is
/// and only what came later is estimated. Older figures speak of a history that is no more.
pub fn request_tokens(request: &Request, since: MessageId) -> u64 {
    let messages = &request.messages;
    let known = messages.iter().enumerate().rev().find_map(|(at, message)| {
        let usage = message.usage.filter(|usage| 0 < usage.input)?;
        let counts = message.role == Role::Assistant && since < message.id;
        counts.then_some((at.saturating_add(1), usage.total()))
    });
    let (start, known) = known.unwrap_or_else(|| (0, overhead_tokens(request)));
    messages.iter().skip(start).fold(known, |sum, it| sum.saturating_add(message_tokens(it)))
}

/// Returns about how many tokens the system prompt and the tools have.
pub fn overhead_tokens(request: &Request) -> u64 {
    request.tools.iter().fold(text_tokens(&request.system), |sum, tool| {
        let schema = wide(tool.parameters.to_string().len()).div_ceil(4);
        let text = text_tokens(&tool.name).saturating_add(text_tokens(&tool.description));
        sum.saturating_add(schema).saturating_add(text)
    })
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Usage;

    #[test]
    fn scripts_count_for_what_they_are() {
        for (text, tokens) in [
            ("", 0),
            ("abcd", 1),
            ("abcde", 2),
            ("привет", 3),
            ("日本語です", 5),
            ("한국어", 3),
            ("🙂", 2),
        ] {
            assert_eq!(text_tokens(text), tokens, "{text}");
        }
    }

    #[test]
    fn what_the_provider_reports_is_taken_while_it_is_true() {
        let reply = Message::assistant("ok").with_usage(Usage::new(900, 100)).with_id(MessageId(2));
        let request = Request::new(
            "m",
            vec![Message::user("x"), reply, Message::user("abcd").with_id(MessageId(3))],
        );

        assert_eq!(request_tokens(&request, MessageId(0)), 1_005);
        assert_eq!(request_tokens(&request, MessageId(2)), 15);
    }
}

//! Conversations and streams of a given size, after what endpoints document.

use std::fmt::Write as _;

use hermes_core::message::{Call, CallResult, CallStatus, Message, Part, Role};

/// Words of several scripts, so that texts are not only ASCII.
const WORDS: [&str; 8] = [" the", " worker", " reads", " naïve", " \"log\"", " 東京", "\n", " —"];

/// Makes a conversation of `messages` messages with about `bytes` bytes of text: questions, calls of
/// tools, their results and answers.
pub fn conversation(messages: usize, bytes: usize) -> Vec<Message> {
    let text = prose(bytes.div_ceil(messages.max(1)));
    let made = (0..messages).map(|nth| match nth % 4 {
        0 => Message::user(format!("{nth}: {text}")),
        1 => {
            let arguments = serde_json::json!({"path": format!("{nth}.md"), "text": text});
            let call = Call::new(format!("call_{nth}").as_str(), "write", arguments.to_string());
            Message::new(Role::Assistant, vec![Part::Call(call)])
        }
        2 => {
            let id = format!("call_{}", nth - 1);
            Message::results([CallResult::new(id.as_str().into(), CallStatus::Done, text.clone())])
        }
        _ => Message::assistant(format!("{nth}: {text}")),
    });
    made.collect()
}

/// Makes text of about `bytes` bytes.
fn prose(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 16);
    for word in WORDS.iter().cycle() {
        if bytes <= text.len() {
            break;
        }
        text.push_str(word);
    }
    text
}

/// The data of the events of a stream, each as one line.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// The data, without what ends the stream.
    pub payloads: Vec<String>,
    /// The stream as it is sent.
    pub bytes: Vec<u8>,
}

impl Stream {
    fn push(&mut self, event: Option<&str>, payload: String) {
        if let Some(event) = event {
            self.bytes.extend_from_slice(format!("event: {event}\n").as_bytes());
        }
        self.bytes.extend_from_slice(format!("data: {payload}\n\n").as_bytes());
        self.payloads.push(payload);
    }
}

/// What the deltas of a stream bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deltas {
    /// Text to read.
    Text,
    /// The arguments of a call.
    Arguments,
}

/// Makes a stream of chat completions with `count` deltas, after `OpenAI`'s "Chat completion chunk
/// object".
pub fn chat_stream(count: usize, deltas: Deltas) -> Stream {
    let head = "{\"id\":\"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT\",\"object\":\"chat.completion.chunk\",\
                \"created\":1741569952,\"model\":\"gpt-5.1-2025-11-13\",\"service_tier\":\"default\",\
                \"system_fingerprint\":\"fp_44709d6fcb\",\"choices\":[{\"index\":0,";
    let tail = "},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}";
    let mut stream = Stream::default();
    let begin = match deltas {
        Deltas::Text => "\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null",
        Deltas::Arguments => {
            "\"delta\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"index\":0,\
             \"id\":\"call_a\",\"type\":\"function\",\"function\":{\"name\":\"write\",\
             \"arguments\":\"\"}}]"
        }
    };
    stream.push(None, format!("{head}{begin}{tail}"));
    for piece in pieces(count, deltas) {
        let delta = match deltas {
            Deltas::Text => format!("\"delta\":{{\"content\":{piece}"),
            Deltas::Arguments => format!(
                "\"delta\":{{\"tool_calls\":[{{\"index\":0,\"function\":{{\"arguments\":{piece}}}}}]"
            ),
        };
        stream.push(None, format!("{head}{delta}{tail}"));
    }
    let reason = if deltas == Deltas::Text { "stop" } else { "tool_calls" };
    let end = format!("\"delta\":{{}},\"logprobs\":null,\"finish_reason\":\"{reason}\"}}]}}");
    stream.push(None, format!("{head}{end}"));
    stream.bytes.extend_from_slice(b"data: [DONE]\n\n");
    stream
}

/// Makes a stream of messages with `count` deltas, after Anthropic's "Streaming messages".
pub fn messages_stream(count: usize, deltas: Deltas) -> Stream {
    let mut stream = Stream::default();
    let start = "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\
                 \"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":25,\
                 \"output_tokens\":1}}}";
    let (block, kind, key) = match deltas {
        Deltas::Text => ("{\"type\":\"text\",\"text\":\"\"}", "text_delta", "text"),
        Deltas::Arguments => (
            "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"write\",\"input\":{}}",
            "input_json_delta",
            "partial_json",
        ),
    };
    stream.push(Some("message_start"), start.to_owned());
    stream.push(
        Some("content_block_start"),
        format!("{{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{block}}}"),
    );
    for piece in pieces(count, deltas) {
        stream.push(
            Some("content_block_delta"),
            format!(
                "{{\"type\":\"content_block_delta\",\"index\":0,\
                 \"delta\":{{\"type\":\"{kind}\",\"{key}\":{piece}}}}}"
            ),
        );
    }
    let reason = if deltas == Deltas::Text { "end_turn" } else { "tool_use" };
    let end = "{\"type\":\"content_block_stop\",\"index\":0}";
    stream.push(Some("content_block_stop"), end.to_owned());
    stream.push(
        Some("message_delta"),
        format!(
            "{{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"{reason}\"}},\
             \"usage\":{{\"output_tokens\":{count}}}}}"
        ),
    );
    stream.push(Some("message_stop"), "{\"type\":\"message_stop\"}".to_owned());
    stream
}

/// Makes a stream of responses with `count` deltas, after `OpenAI`'s "Streaming events".
pub fn responses_stream(count: usize, deltas: Deltas) -> Stream {
    let mut stream = Stream::default();
    let mut number = 0;
    let mut push = |kind: &str, rest: &str| {
        let payload = format!("{{\"type\":\"{kind}\",\"sequence_number\":{number},{rest}}}");
        stream.push(Some(kind), payload);
        number += 1;
    };
    let (item, kind, id) = match deltas {
        Deltas::Text => (
            "{\"id\":\"msg_1\",\"type\":\"message\",\"status\":\"in_progress\",\"content\":[],\
             \"role\":\"assistant\"}",
            "response.output_text.delta",
            "msg_67c9fdcf37fc8190ba82116e33fb28c507b8b0ad4e5eb654",
        ),
        Deltas::Arguments => (
            "{\"type\":\"function_call\",\"id\":\"fc_1\",\"call_id\":\"call_1\",\"name\":\"write\",\
             \"arguments\":\"\"}",
            "response.function_call_arguments.delta",
            "fc_67ca09c6bedc8190a7abfec07b1a1332096610f474011cc0",
        ),
    };
    push("response.created", "\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\"}");
    push("response.output_item.added", &format!("\"output_index\":0,\"item\":{item}"));
    for piece in pieces(count, deltas) {
        let content = if deltas == Deltas::Text { "\"content_index\":0," } else { "" };
        let rest = format!(
            "\"item_id\":\"{id}\",\"output_index\":0,{content}\"delta\":{piece},\"logprobs\":[]"
        );
        push(kind, &rest);
    }
    push(
        "response.completed",
        "\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",\"output\":[],\
         \"usage\":{\"input_tokens\":25,\"output_tokens\":9}}",
    );
    stream
}

/// Returns `count` pieces of text, or of arguments that are an object together, as JSON strings.
fn pieces(count: usize, deltas: Deltas) -> impl Iterator<Item = String> {
    (0..count).map(move |nth| {
        let word = WORDS.iter().cycle().nth(nth % WORDS.len()).copied().unwrap_or_default();
        let mut text = String::new();
        let is_first = nth == 0;
        let is_last = nth + 1 == count;
        if deltas == Deltas::Arguments {
            // Within the arguments, which are JSON themselves, a word is escaped once more.
            let inner = serde_json::Value::from(word).to_string();
            let _ = write!(
                text,
                "{}{}{}",
                if is_first { "{\"text\":\"" } else { "" },
                inner.trim_matches('"').trim_end_matches('\\'),
                if is_last { "\"}" } else { "" }
            );
        } else {
            text.push_str(word);
        }
        serde_json::Value::from(text).to_string()
    })
}

//! The messages wire: what is sent, and what may come back.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, value::RawValue};

use crate::http::loose::{List, Loose, Object, record};

/// A content block on its way out.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutBlock<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: OutSource<'a>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: &'a RawValue,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutSource<'a> {
    Url { url: &'a str },
    Base64 { media_type: &'a str, data: &'a str },
}

#[derive(Debug, Serialize)]
pub(super) struct OutTool<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) description: &'a str,
    pub(super) input_schema: Value,
}

record! {
    /// An event of a stream, or a whole answer: both are told apart by `type`. What is rare or large is
    /// boxed, because an event is moved more often than it is read.
    pub(super) struct InEvent<'a> {
        "type" => pub(super) kind: Loose<'a>,
        "index" => pub(super) index: Loose<'a>,
        /// In `message_start`.
        "message" => pub(super) message: Object<Box<InMessage<'a>>>,
        "content_block" => pub(super) content_block: Object<Box<InBlock<'a>>>,
        "delta" => pub(super) delta: Object<InDelta<'a>>,
        "usage" => pub(super) usage: Object<Box<InUsage<'a>>>,
        "error" => pub(super) error: Loose<'a>,
        /// In a whole answer.
        "content" => pub(super) content: List<InBlock<'a>>,
        "stop_reason" => pub(super) stop_reason: Loose<'a>,
    }
}

record! {
    pub(super) struct InMessage<'a> {
        "usage" => pub(super) usage: Object<InUsage<'a>>,
    }
}

record! {
    pub(super) struct InBlock<'a> {
        "type" => pub(super) kind: Loose<'a>,
        "text" => pub(super) text: Loose<'a>,
        "thinking" => pub(super) thinking: Loose<'a>,
        "signature" => pub(super) signature: Loose<'a>,
        "data" => pub(super) data: Loose<'a>,
        "id" => pub(super) id: Loose<'a>,
        "name" => pub(super) name: Loose<'a>,
        "input" => pub(super) input: Loose<'a>,
    }
}

record! {
    pub(super) struct InDelta<'a> {
        "text" => pub(super) text: Loose<'a>,
        "thinking" => pub(super) thinking: Loose<'a>,
        "signature" => pub(super) signature: Loose<'a>,
        "partial_json" => pub(super) partial_json: Loose<'a>,
        "stop_reason" => pub(super) stop_reason: Loose<'a>,
    }
}

record! {
    #[expect(clippy::struct_field_names, reason = "they are called so on the wire")]
    pub(super) struct InUsage<'a> {
        "input_tokens" => pub(super) input_tokens: Loose<'a>,
        "output_tokens" => pub(super) output_tokens: Loose<'a>,
        "cache_read_input_tokens" => pub(super) cache_read_input_tokens: Loose<'a>,
        "cache_creation_input_tokens" => pub(super) cache_creation_input_tokens: Loose<'a>,
    }
}

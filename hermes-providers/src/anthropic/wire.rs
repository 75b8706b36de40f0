//! The messages wire: what is sent, and what may come back.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::http::loose::{List, Loose, Object};

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

/// An event of a stream, or a whole answer: both are told apart by `type`. What is rare or large is
/// boxed, because an event is moved more often than it is read.
#[derive(Debug, Default, Deserialize)]
pub(super) struct InEvent<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) index: Loose<'a>,
    /// In `message_start`.
    #[serde(borrow, default)]
    pub(super) message: Object<Box<InMessage<'a>>>,
    #[serde(borrow, default)]
    pub(super) content_block: Object<Box<InBlock<'a>>>,
    #[serde(borrow, default)]
    pub(super) delta: Object<InDelta<'a>>,
    #[serde(borrow, default)]
    pub(super) usage: Object<Box<InUsage<'a>>>,
    #[serde(borrow, default)]
    pub(super) error: Loose<'a>,
    /// In a whole answer.
    #[serde(borrow, default)]
    pub(super) content: List<InBlock<'a>>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Loose<'a>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct InMessage<'a> {
    #[serde(borrow, default)]
    pub(super) usage: Object<InUsage<'a>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct InBlock<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) text: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) thinking: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) signature: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) data: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) id: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) name: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) input: Loose<'a>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct InDelta<'a> {
    #[serde(borrow, default)]
    pub(super) text: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) thinking: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) signature: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) partial_json: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Loose<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[expect(clippy::struct_field_names, reason = "they are called so on the wire")]
pub(super) struct InUsage<'a> {
    #[serde(borrow, default)]
    pub(super) input_tokens: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) output_tokens: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) cache_read_input_tokens: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) cache_creation_input_tokens: Loose<'a>,
}

//! The chat completions wire: what is sent, and what may come back.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::{
    http::loose::{List, Loose, Object, record},
    wire::usage::InUsage,
};

/// A message on its way out.
#[derive(Debug, Serialize)]
pub(super) struct OutMessage<'a> {
    pub(super) role: &'static str,
    /// Left out beside calls: some servers take no `null` there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<OutContent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_details: Option<&'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<OutCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<&'a str>,
}

impl<'a> OutMessage<'a> {
    pub(super) fn new(role: &'static str, content: Option<OutContent<'a>>) -> Self {
        Self {
            role,
            content,
            reasoning_content: None,
            reasoning_details: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }
}

/// Content as text, or as parts where there are pictures.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum OutContent<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<OutPart<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutPart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: OutUrl<'a> },
}

#[derive(Debug, Serialize)]
pub(super) struct OutUrl<'a> {
    pub(super) url: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct OutCall<'a> {
    pub(super) id: &'a str,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) function: OutFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extra_content: Option<&'a Value>,
}

#[derive(Debug, Serialize)]
pub(super) struct OutFunction<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: Cow<'a, str>,
}

#[derive(Debug, Serialize)]
pub(super) struct OutTool<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) function: OutToolFunction<'a>,
}

#[derive(Debug, Serialize)]
pub(super) struct OutToolFunction<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) description: &'a str,
    pub(super) parameters: Value,
}

record! {
    /// A chunk of a stream, or a whole answer. What is rare or large is boxed, because a chunk is moved
    /// more often than it is read.
    pub(super) struct Chunk<'a> {
        "choices" => pub(super) choices: List<Choice<'a>>,
        "usage" => pub(super) usage: Object<Box<InUsage<'a>>>,
        "x_groq" => pub(super) x_groq: Object<Box<Groq<'a>>>,
        "error" => pub(super) error: Loose<'a>,
        "object" => pub(super) object: Loose<'a>,
    }
}

record! {
    pub(super) struct Groq<'a> {
        "usage" => pub(super) usage: Object<Box<InUsage<'a>>>,
    }
}

record! {
    pub(super) struct Choice<'a> {
        "index" => pub(super) index: Loose<'a>,
        "delta" => pub(super) delta: Object<Delta<'a>>,
        /// In a whole answer, what `delta` is in a chunk.
        "message" => pub(super) message: Object<Box<Delta<'a>>>,
        "finish_reason" => pub(super) finish_reason: Loose<'a>,
        "error" => pub(super) error: Loose<'a>,
    }
}

record! {
    pub(super) struct Delta<'a> {
        "content" => pub(super) content: Loose<'a>,
        "reasoning_content" => pub(super) reasoning_content: Loose<'a>,
        "reasoning" => pub(super) reasoning: Loose<'a>,
        "reasoning_details" => pub(super) reasoning_details: Loose<'a>,
        "refusal" => pub(super) refusal: Loose<'a>,
        "tool_calls" => pub(super) tool_calls: List<InCall<'a>>,
        /// The older form, one call without an id.
        "function_call" => pub(super) function_call: Object<Box<InFunction<'a>>>,
    }
}

record! {
    pub(super) struct InCall<'a> {
        "index" => pub(super) index: Loose<'a>,
        "id" => pub(super) id: Loose<'a>,
        "function" => pub(super) function: Object<InFunction<'a>>,
        "extra_content" => pub(super) extra_content: Loose<'a>,
    }
}

record! {
    pub(super) struct InFunction<'a> {
        "name" => pub(super) name: Loose<'a>,
        "arguments" => pub(super) arguments: Loose<'a>,
    }
}

//! The chat completions wire: what is sent, and what may come back.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    http::loose::{List, Loose, Object},
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

/// A chunk of a stream, or a whole answer. What is rare or large is boxed, because a chunk is moved
/// more often than it is read.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: List<Choice<'a>>,
    #[serde(borrow, default)]
    pub(super) usage: Object<Box<InUsage<'a>>>,
    #[serde(borrow, default)]
    pub(super) x_groq: Object<Box<Groq<'a>>>,
    #[serde(borrow, default)]
    pub(super) error: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) object: Loose<'a>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Groq<'a> {
    #[serde(borrow, default)]
    pub(super) usage: Object<Box<InUsage<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(borrow, default)]
    pub(super) index: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) delta: Object<Delta<'a>>,
    /// In a whole answer, what `delta` is in a chunk.
    #[serde(borrow, default)]
    pub(super) message: Object<Box<Delta<'a>>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) error: Loose<'a>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning_details: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) tool_calls: List<InCall<'a>>,
    /// The older form, one call without an id.
    #[serde(borrow, default)]
    pub(super) function_call: Object<Box<InFunction<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct InCall<'a> {
    #[serde(borrow, default)]
    pub(super) index: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) id: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) function: Object<InFunction<'a>>,
    #[serde(borrow, default)]
    pub(super) extra_content: Loose<'a>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct InFunction<'a> {
    #[serde(borrow, default)]
    pub(super) name: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Loose<'a>,
}

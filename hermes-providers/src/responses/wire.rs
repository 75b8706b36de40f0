//! The responses wire: what is sent, and what may come back.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, value::RawValue};

use crate::{
    http::loose::{List, Loose, Object, record},
    wire::usage::InUsage,
};

/// An item on its way out.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutItem<'a> {
    Message {
        /// Only where the item goes back with the reasoning before it; then it has a status, too.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'a str>,
        role: &'static str,
        content: Vec<OutPart<'a>>,
    },
    FunctionCall {
        /// As that of a message.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        arguments: Cow<'a, str>,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: &'a str,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutPart<'a> {
    InputText { text: &'a str },
    InputImage { image_url: &'a str, detail: &'static str },
    OutputText { text: Cow<'a, str>, annotations: [(); 0] },
}

#[derive(Debug, Serialize)]
pub(super) struct OutTool<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) name: Cow<'a, str>,
    pub(super) description: &'a str,
    pub(super) parameters: Value,
    pub(super) strict: bool,
}

record! {
    /// An event of a stream. A whole answer has no `type` but an `object`.
    pub(super) struct InEvent<'a> {
        "type" => pub(super) kind: Loose<'a>,
        "output_index" => pub(super) output_index: Loose<'a>,
        "delta" => pub(super) delta: Loose<'a>,
        "arguments" => pub(super) arguments: Loose<'a>,
        "item" => pub(super) item: Option<&'a RawValue>,
        "response" => pub(super) response: Option<&'a RawValue>,
        "error" => pub(super) error: Loose<'a>,
        "object" => pub(super) object: Loose<'a>,
    }
}

record! {
    /// An item of an answer.
    pub(super) struct InItem<'a> {
        "type" => pub(super) kind: Loose<'a>,
        "id" => pub(super) id: Loose<'a>,
        "call_id" => pub(super) call_id: Loose<'a>,
        "name" => pub(super) name: Loose<'a>,
        "arguments" => pub(super) arguments: Loose<'a>,
        "content" => pub(super) content: List<InPart<'a>>,
        "summary" => pub(super) summary: List<InPart<'a>>,
        "encrypted_content" => pub(super) encrypted_content: Loose<'a>,
        "phase" => pub(super) phase: Loose<'a>,
    }
}

record! {
    pub(super) struct InPart<'a> {
        "text" => pub(super) text: Loose<'a>,
        "refusal" => pub(super) refusal: Loose<'a>,
    }
}

record! {
    /// An answer as a whole, as far as it has come.
    pub(super) struct InResponse<'a> {
        "status" => pub(super) status: Loose<'a>,
        "output" => pub(super) output: Option<&'a RawValue>,
        "usage" => pub(super) usage: Object<InUsage<'a>>,
        "incomplete_details" => pub(super) incomplete_details: Object<InDetails<'a>>,
        "error" => pub(super) error: Loose<'a>,
    }
}

record! {
    pub(super) struct InDetails<'a> {
        "reason" => pub(super) reason: Loose<'a>,
    }
}

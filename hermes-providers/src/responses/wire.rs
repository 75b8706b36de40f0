//! The responses wire: what is sent, and what may come back.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::{
    http::loose::{List, Loose, Object},
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

/// An event of a stream. A whole answer has no `type` but an `object`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InEvent<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Loose<'a>,
    #[serde(borrow)]
    pub(super) output_index: Loose<'a>,
    #[serde(borrow)]
    pub(super) delta: Loose<'a>,
    #[serde(borrow)]
    pub(super) arguments: Loose<'a>,
    #[serde(borrow)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) response: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Loose<'a>,
    #[serde(borrow)]
    pub(super) object: Loose<'a>,
}

/// An item of an answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InItem<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Loose<'a>,
    #[serde(borrow)]
    pub(super) id: Loose<'a>,
    #[serde(borrow)]
    pub(super) call_id: Loose<'a>,
    #[serde(borrow)]
    pub(super) name: Loose<'a>,
    #[serde(borrow)]
    pub(super) arguments: Loose<'a>,
    #[serde(borrow)]
    pub(super) content: List<InPart<'a>>,
    #[serde(borrow)]
    pub(super) summary: List<InPart<'a>>,
    #[serde(borrow)]
    pub(super) encrypted_content: Loose<'a>,
    #[serde(borrow)]
    pub(super) phase: Loose<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InPart<'a> {
    #[serde(borrow)]
    pub(super) text: Loose<'a>,
    #[serde(borrow)]
    pub(super) refusal: Loose<'a>,
}

/// An answer as a whole, as far as it has come.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InResponse<'a> {
    #[serde(borrow)]
    pub(super) status: Loose<'a>,
    #[serde(borrow)]
    pub(super) output: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) usage: Object<InUsage<'a>>,
    #[serde(borrow)]
    pub(super) incomplete_details: Object<InDetails<'a>>,
    #[serde(borrow)]
    pub(super) error: Loose<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InDetails<'a> {
    #[serde(borrow)]
    pub(super) reason: Loose<'a>,
}

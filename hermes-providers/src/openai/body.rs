//! Request bodies: the same bytes for the same conversation, with what grows at the end.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use hermes_core::{
    provider::{Request, Sampling, ToolChoice},
    tool::ToolSpec,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Dialect, EffortKey,
    convert::Writer,
    wire::{OutTool, OutToolFunction},
};
use crate::wire::{
    fragments::Fragments,
    names::wire_name,
    pairing::{Outgoing, arrange},
    schema,
};

/// What goes into a body beside the request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body<'a> {
    pub(super) writer: Writer<'a>,
    pub(super) fragments: &'a Fragments,
    /// Fields of the host's, which go before the messages.
    pub(super) extra: &'a BTreeMap<String, Value>,
}

impl Body<'_> {
    /// Returns the body: the other fields in the order of their names, the messages at the end.
    pub(super) fn bytes(self, request: &Request) -> Bytes {
        let head = self.head(request);
        let pieces = self.pieces(request);
        let length: usize = pieces.iter().map(|it| it.len() + 1).sum();
        let mut body = Vec::with_capacity(head.len() + length + 32);
        body.extend_from_slice(&head);
        body.extend_from_slice(b"\"messages\":[");
        for (nth, piece) in pieces.iter().enumerate() {
            if 0 < nth {
                body.push(b',');
            }
            body.extend_from_slice(piece);
        }
        body.extend_from_slice(b"]}");
        Bytes::from(body)
    }

    fn pieces(self, request: &Request) -> Vec<Arc<[u8]>> {
        let mut pieces: Vec<Arc<[u8]>> = Vec::with_capacity(request.messages.len() + 1);
        if !request.system.trim().is_empty() {
            pieces.push(self.writer.system(&request.system).into());
        }
        let mut fragments = self.fragments.lock();
        pieces.extend(arrange(&request.messages).iter().map(|outgoing| match outgoing {
            Outgoing::Kept(message) => fragments.get(message, || self.writer.fragment(message)),
            Outgoing::Made(message) => self.writer.fragment(message).into(),
        }));
        pieces
    }

    /// Returns all fields but the messages, each followed by a comma.
    fn head(self, request: &Request) -> Vec<u8> {
        let mut fields = fields(request, self.writer.dialect);
        fields.extend(self.extra.iter().map(|(name, value)| (name.as_str(), value.clone())));
        let mut head = b"{".to_vec();
        for (name, value) in &fields {
            if !value.is_null() {
                write_json(name, &mut head);
                head.push(b':');
                write_json(value, &mut head);
                head.push(b',');
            }
        }
        head
    }
}

/// Returns the fields of the request itself; what is `null` is not sent.
fn fields<'a>(request: &Request, dialect: Dialect) -> BTreeMap<&'a str, Value> {
    let mut fields = BTreeMap::from([
        ("model", Value::from(request.model.as_str())),
        ("stream", Value::Bool(true)),
        ("stream_options", json!({"include_usage": true})),
    ]);
    if !request.tools.is_empty() {
        fields.insert("tools", tools(&request.tools));
        fields.insert("tool_choice", tool_choice(&request.tool_choice));
    }
    let Sampling { temperature, top_p, max_tokens, seed, reasoning_effort, .. } = &request.sampling;
    fields.insert("temperature", number(*temperature));
    fields.insert("top_p", number(*top_p));
    fields.insert("seed", json!(seed));
    fields.insert(dialect.max_tokens_key.as_str(), json!(max_tokens));
    if let Some(effort) = reasoning_effort {
        match dialect.effort_key {
            EffortKey::Plain => fields.insert("reasoning_effort", Value::from(effort.as_str())),
            EffortKey::Nested => fields.insert("reasoning", json!({ "effort": effort })),
        };
    }
    fields
}

/// Returns a number with the digits that were written, not those of its binary neighbour.
fn number(value: Option<f32>) -> Value {
    let digits = value.filter(|it| it.is_finite()).map(|it| it.to_string());
    digits.and_then(|it| it.parse::<f64>().ok()).map_or(Value::Null, Value::from)
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Required => Value::from("required"),
        ToolChoice::None => Value::from("none"),
        ToolChoice::Tool(name) => {
            json!({"type": "function", "function": {"name": wire_name(name)}})
        }
        _ => Value::from("auto"),
    }
}

fn tools(tools: &[ToolSpec]) -> Value {
    let mut sorted: Vec<&ToolSpec> = tools.iter().collect();
    sorted.sort_by(|one, two| one.name.cmp(&two.name));
    let tools = sorted.into_iter().map(|tool| {
        let function = OutToolFunction {
            name: wire_name(&tool.name),
            description: &tool.description,
            parameters: schema::accepted(&tool.parameters),
        };
        serde_json::to_value(OutTool { kind: "function", function }).unwrap_or_default()
    });
    Value::Array(tools.collect())
}

fn write_json(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    // Writing trees with text keys to memory has no way to fail.
    let _ = serde_json::to_writer(out, value);
}

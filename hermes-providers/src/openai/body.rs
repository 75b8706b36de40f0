//! Request bodies: the same bytes for the same conversation, with what grows at the end.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use hermes_core::{
    provider::{Request, Sampling, ToolChoice},
    tool::ToolSpec,
};
use serde_json::{Value, json};

use super::{
    Dialect, EffortKey, MANNER,
    convert::Writer,
    wire::{OutTool, OutToolFunction},
};
use crate::wire::{body, link::Link, names::Names, pairing::arrange, schema, target::Target};

/// Returns the body of `request`: the other fields in the order of their names, the messages at the
/// end.
pub(super) fn bytes(request: &Request, link: &Link, dialect: Dialect) -> Bytes {
    let names = Names::of(&request.tools);
    let head = body::head(fields(request, dialect, &names), &link.fields, MANNER.list);
    let target = Target::new(&link.name, request.model.as_str(), &names);
    let writer = Writer { dialect, target };
    body::whole(head, &pieces(request, link, writer))
}

fn pieces(request: &Request, link: &Link, writer: Writer<'_>) -> Vec<Arc<[u8]>> {
    let mut pieces: Vec<Arc<[u8]>> = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.trim().is_empty() {
        pieces.push(writer.system(&request.system).into());
    }
    let mut fragments = link.fragments.lock();
    let arranged = arrange(&request.messages);
    pieces.extend(
        arranged
            .iter()
            .map(|it| fragments.of(it, writer.target, |message| writer.fragment(message))),
    );
    pieces
}

/// Returns the fields of the request itself; what is `null` is not sent.
fn fields<'a>(request: &Request, dialect: Dialect, names: &Names) -> BTreeMap<&'a str, Value> {
    let mut fields = BTreeMap::from([
        ("model", Value::from(request.model.as_str())),
        ("stream", Value::Bool(true)),
        ("stream_options", json!({"include_usage": true})),
    ]);
    if !request.tools.is_empty() {
        fields.insert("tools", body::tools(&request.tools, |it| tool(it, names)));
        fields.insert("tool_choice", tool_choice(&request.tool_choice, names));
    }
    let Sampling { temperature, top_p, max_tokens, seed, reasoning_effort, .. } = &request.sampling;
    fields.insert("temperature", body::number(*temperature));
    fields.insert("top_p", body::number(*top_p));
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

fn tool_choice(choice: &ToolChoice, names: &Names) -> Value {
    match choice {
        ToolChoice::Required => Value::from("required"),
        ToolChoice::None => Value::from("none"),
        ToolChoice::Tool(name) => {
            json!({"type": "function", "function": {"name": names.wire(name)}})
        }
        _ => Value::from("auto"),
    }
}

fn tool<'a>(tool: &'a ToolSpec, names: &'a Names) -> OutTool<'a> {
    let function = OutToolFunction {
        name: names.wire(&tool.name),
        description: &tool.description,
        parameters: schema::accepted(&tool.parameters),
    };
    OutTool { kind: "function", function }
}

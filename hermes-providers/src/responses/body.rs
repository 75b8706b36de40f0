//! Request bodies: the other fields in the order of their names, and at the end the input.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use hermes_core::{
    provider::{Request, ToolChoice},
    tool::ToolSpec,
};
use serde_json::{Value, json};

use super::{MANNER, Summaries, items::items, wire::OutTool};
use crate::wire::{body, link::Link, names::Names, pairing::arrange, schema, target::Target};

/// The models that do not reason, by how their names begin; they refuse to be asked for reasoning.
const WITHOUT_REASONING: &[&str] = &["chatgpt-4o", "gpt-3.5", "gpt-4"];

/// Returns the body of `request`.
pub(super) fn bytes(request: &Request, link: &Link, summaries: Summaries) -> Bytes {
    let names = Names::of(&request.tools);
    let target = Target::new(&link.name, request.model.as_str(), &names);
    bytes_for(target, request, link, summaries)
}

/// Returns the body of `request` without what the model thought before.
pub(super) fn without_reasoning(request: &Request, link: &Link, summaries: Summaries) -> Bytes {
    let names = Names::of(&request.tools);
    let target = Target::new(&link.name, request.model.as_str(), &names);
    bytes_for(target.without_reasoning(), request, link, summaries)
}

fn bytes_for(target: Target<'_>, request: &Request, link: &Link, summaries: Summaries) -> Bytes {
    let mut fragments = link.fragments.lock();
    let arranged = arrange(&request.messages);
    let pieces: Vec<Arc<[u8]>> = arranged
        .iter()
        .map(|it| fragments.of(it, target, |message| items(message, target)))
        .collect();
    let fields = fields(request, summaries, target.names);
    body::whole(body::head(fields, &link.fields, MANNER.list), &pieces)
}

/// Returns the fields of the request itself; what is `null` is not sent.
fn fields(request: &Request, summaries: Summaries, names: &Names) -> BTreeMap<&'static str, Value> {
    let sampling = &request.sampling;
    let model = request.model.as_str();
    let mut fields = BTreeMap::from([
        ("model", Value::from(model)),
        ("stream", Value::Bool(true)),
        ("store", Value::Bool(false)),
        ("temperature", body::number(sampling.temperature)),
        ("top_p", body::number(sampling.top_p)),
        ("max_output_tokens", json!(sampling.max_tokens)),
    ]);
    if reasons(model) {
        fields.insert("include", json!(["reasoning.encrypted_content"]));
    }
    if !request.system.trim().is_empty() {
        fields.insert("instructions", Value::from(&*request.system));
    }
    if !request.tools.is_empty() {
        fields.insert("tools", body::tools(&request.tools, |it| tool(it, names)));
        fields.insert("tool_choice", tool_choice(&request.tool_choice, names));
    }
    fields.insert("reasoning", reasoning(sampling.reasoning_effort.as_deref(), summaries));
    fields
}

fn reasons(model: &str) -> bool {
    // Gateways put the vendor before the name, and tuned models what they were made of.
    let mut names = model.split(['/', ':']);
    !names.any(|name| WITHOUT_REASONING.iter().any(|start| name.starts_with(start)))
}

fn reasoning(effort: Option<&str>, summaries: Summaries) -> Value {
    match (effort, summaries.as_str()) {
        (None, None) => Value::Null,
        (Some(effort), None) => json!({ "effort": effort }),
        (None, Some(summary)) => json!({ "summary": summary }),
        (Some(effort), Some(summary)) => json!({"effort": effort, "summary": summary}),
    }
}

fn tool_choice(choice: &ToolChoice, names: &Names) -> Value {
    match choice {
        ToolChoice::Required => Value::from("required"),
        ToolChoice::None => Value::from("none"),
        ToolChoice::Tool(name) => json!({"type": "function", "name": names.wire(name)}),
        _ => Value::from("auto"),
    }
}

fn tool<'a>(tool: &'a ToolSpec, names: &'a Names) -> OutTool<'a> {
    OutTool {
        kind: "function",
        name: names.wire(&tool.name),
        description: &tool.description,
        parameters: schema::accepted(&tool.parameters),
        strict: false,
    }
}

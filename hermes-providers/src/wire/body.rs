//! Bodies: the same bytes for the same conversation, fields in the order of their names, and at the
//! end the list that grows from round to round.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use hermes_core::tool::ToolSpec;
use serde::Serialize;
use serde_json::Value;

/// Returns the start of a body, up to where its list opens. A field of the host's replaces one of
/// ours; what is `null` is not sent.
pub(crate) fn head<'a>(
    mut fields: BTreeMap<&'a str, Value>,
    extra: &'a BTreeMap<String, Value>,
    list: &str,
) -> Vec<u8> {
    fields.extend(extra.iter().map(|(name, value)| (name.as_str(), value.clone())));
    let mut head = b"{".to_vec();
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        write(name, &mut head);
        head.push(b':');
        write(value, &mut head);
        head.push(b',');
    }
    write(list, &mut head);
    head.extend_from_slice(b":[");
    head
}

/// Returns a body that begins with `head` and lists `pieces`, leaving out those that are empty.
pub(crate) fn whole(mut head: Vec<u8>, pieces: &[Arc<[u8]>]) -> Bytes {
    let length: usize = pieces.iter().map(|it| it.len() + 1).sum();
    head.reserve_exact(length + 2);
    join(pieces, &mut head);
    close(head)
}

/// Ends the list and the body.
pub(crate) fn close(mut body: Vec<u8>) -> Bytes {
    body.extend_from_slice(b"]}");
    Bytes::from(body)
}

/// Writes the pieces that are not empty, with commas between them.
pub(crate) fn join(pieces: &[Arc<[u8]>], out: &mut Vec<u8>) {
    let mut is_first = true;
    for piece in pieces.iter().filter(|it| !it.is_empty()) {
        if !std::mem::take(&mut is_first) {
            out.push(b',');
        }
        out.extend_from_slice(piece);
    }
}

/// Writes one more value of a list, with a comma before it unless it is the first.
pub(crate) fn push(value: &impl Serialize, out: &mut Vec<u8>) {
    if !out.is_empty() {
        out.push(b',');
    }
    write(value, out);
}

/// Returns the tools in the order of their names, each as `wire_form` has it.
pub(crate) fn tools<'a, T: Serialize>(
    tools: &'a [ToolSpec],
    wire_form: impl Fn(&'a ToolSpec) -> T,
) -> Value {
    let mut sorted: Vec<&ToolSpec> = tools.iter().collect();
    sorted.sort_by(|one, two| one.name.cmp(&two.name));
    let tools =
        sorted.into_iter().map(|it| serde_json::to_value(wire_form(it)).unwrap_or_default());
    Value::Array(tools.collect())
}

/// Returns a number with the digits that were written, not those of its binary neighbour.
pub(crate) fn number(value: Option<f32>) -> Value {
    let digits = value.filter(|it| it.is_finite()).map(|it| it.to_string());
    digits.and_then(|it| it.parse::<f64>().ok()).map_or(Value::Null, Value::from)
}

pub(crate) fn write(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    // Writing text and trees with text keys to memory has no way to fail.
    let _ = serde_json::to_writer(out, value);
}

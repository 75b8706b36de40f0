//! An assistant turn in content blocks, read into a message.

use hermes_core::message::{Arguments, Call, Message, Part, Reasoning, Role};
use serde_json::Value;

use super::thinking;

/// Reads the blocks; `provider` is whose thinking it is.
pub(super) fn import_turn(provider: &str, blocks: &[Value]) -> Message {
    let parts = blocks.iter().filter_map(|block| part(provider, block));
    Message::new(Role::Assistant, parts.collect())
}

fn part(provider: &str, block: &Value) -> Option<Part> {
    let field = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
    match field("type") {
        "text" => Some(Part::Text(field("text").to_owned())),
        "thinking" => {
            let (text, signature) = (field("thinking"), field("signature"));
            let reasoning = match signature {
                "" => Reasoning::new(text),
                signature => thinking::signed(provider, text, signature),
            };
            Some(Part::Reasoning(reasoning))
        }
        "redacted_thinking" => Some(Part::Reasoning(thinking::redacted(provider, field("data")))),
        "tool_use" => {
            let input = block.get("input").cloned().unwrap_or_default();
            Some(Part::Call(Call::new(field("id"), field("name"), Arguments::from(input))))
        }
        _ => None,
    }
}

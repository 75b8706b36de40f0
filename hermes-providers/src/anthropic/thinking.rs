//! Thinking blocks: kept with their signatures, and sent back only as they came.

use hermes_core::{
    message::{Part, Reasoning},
    version::Version,
};
use serde_json::{Value, json};

use super::wire::OutBlock;

/// Returns thinking with its signature. A note of the text is kept beside it, because a signature is
/// worth nothing with another text.
pub(super) fn signed(provider: &str, text: &str, signature: &str) -> Reasoning {
    let value = json!({"type": "thinking", "signature": signature, "of": Version::of(text)});
    Reasoning::new(text).with_opaque(provider, value)
}

/// Returns thinking that only its provider can read.
pub(super) fn redacted(provider: &str, data: &str) -> Reasoning {
    let value = json!({"type": "redacted_thinking", "data": data});
    Reasoning::new("").with_opaque(provider, value)
}

/// Returns a record of the order of blocks, for messages in which thinking stands between calls.
pub(super) fn order(provider: &str, order: &[BlockKind]) -> Reasoning {
    let words: Vec<&str> = order.iter().map(|kind| kind.as_str()).collect();
    Reasoning::new("").with_opaque(provider, json!({"type": "order", "order": words}))
}

/// The kinds of blocks whose order matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Thinking,
    Text,
    Call,
}

impl BlockKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Thinking => "thinking",
            Self::Text => "text",
            Self::Call => "tool_use",
        }
    }

    /// Returns the kind of a part, `None` for what is no block.
    fn of(part: &Part) -> Option<Self> {
        match part {
            Part::Text(_) => Some(Self::Text),
            Part::Call(_) => Some(Self::Call),
            Part::Reasoning(_) => Some(Self::Thinking),
            _ => None,
        }
    }
}

/// Returns the block of reasoning that goes back to `provider`, if any does: what another provider
/// thought, what was not signed, and what was signed with another text stays here.
pub(super) fn block<'a>(reasoning: &'a Reasoning, provider: &str) -> Option<OutBlock<'a>> {
    let opaque = reasoning.opaque.as_ref().filter(|it| it.provider == provider)?;
    let field = |name: &str| opaque.value.get(name).and_then(Value::as_str);
    if let Some(data) = field("data") {
        return Some(OutBlock::RedactedThinking { data });
    }
    let signature = field("signature")?;
    let is_as_it_came = field("of") == Some(Version::of(&reasoning.text).to_string().as_str());
    let thinking = reasoning.text.as_str();
    is_as_it_came.then_some(OutBlock::Thinking { thinking, signature })
}

/// Returns the parts of a message in the order in which they came, as far as it was recorded.
///
/// If the record does not fit the parts any more, thinking is left out, because the provider refuses
/// it in another place than its own.
pub(super) fn in_order<'a>(parts: &'a [Part], provider: &str) -> Vec<&'a Part> {
    let Some(recorded) = recorded_order(parts, provider) else { return parts.iter().collect() };
    let rest = |wanted: BlockKind| {
        let is_wanted = move |part: &&'a Part| {
            BlockKind::of(part) == Some(wanted) && order_of(part, provider).is_none()
        };
        parts.iter().filter(is_wanted)
    };
    let (mut thinking, mut texts, mut calls) =
        (rest(BlockKind::Thinking), rest(BlockKind::Text), rest(BlockKind::Call));
    let ordered: Option<Vec<&Part>> = recorded
        .iter()
        .map(|word| match word.as_str() {
            Some("thinking") => thinking.next(),
            Some("text") => texts.next(),
            _ => calls.next(),
        })
        .collect();
    match ordered {
        Some(ordered) if [thinking.count(), texts.count(), calls.count()] == [0; 3] => ordered,
        _ => parts.iter().filter(|part| !matches!(part, Part::Reasoning(_))).collect(),
    }
}

fn recorded_order<'a>(parts: &'a [Part], provider: &str) -> Option<&'a Vec<Value>> {
    parts.iter().find_map(|part| order_of(part, provider))
}

fn order_of<'a>(part: &'a Part, provider: &str) -> Option<&'a Vec<Value>> {
    let Part::Reasoning(reasoning) = part else { return None };
    let opaque = reasoning.opaque.as_ref().filter(|it| it.provider == provider)?;
    opaque.value.get("order")?.as_array()
}

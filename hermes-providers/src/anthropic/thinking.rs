//! Thinking blocks: kept with their signatures, and sent back only as they came.

use hermes_core::{
    message::{Part, Reasoning},
    version::Version,
};
use serde_json::{Value, json};

use super::wire::OutBlock;
use crate::wire::{
    order::{self, Ordered},
    target::Target,
};

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

/// Returns the block of reasoning that goes back to `target`, if any does: what another provider or
/// another model thought, what was not signed, and what was signed with another text stays here.
pub(super) fn block<'a>(reasoning: &'a Reasoning, target: Target<'_>) -> Option<OutBlock<'a>> {
    let opaque = target.opaque(reasoning)?;
    let field = |name: &str| opaque.get(name).and_then(Value::as_str);
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
pub(super) fn in_order<'a>(parts: &'a [Part], target: Target<'_>) -> Vec<&'a Part> {
    match order::in_order(parts, target) {
        Ordered::Unrecorded => parts.iter().collect(),
        Ordered::Recorded(parts, _) => parts,
        Ordered::Changed => {
            parts.iter().filter(|part| !matches!(part, Part::Reasoning(_))).collect()
        }
    }
}

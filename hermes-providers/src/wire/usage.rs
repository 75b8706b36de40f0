//! Counts of tokens, as OpenAI's wires and those after them name them.

use hermes_core::message::Usage;
use serde::Deserialize;

use crate::http::loose::{Loose, Object};

/// Counts under all their names.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct InUsage<'a> {
    #[serde(borrow, default, alias = "input_tokens")]
    prompt_tokens: Loose<'a>,
    #[serde(borrow, default, alias = "output_tokens")]
    completion_tokens: Loose<'a>,
    #[serde(borrow, default, alias = "input_tokens_details")]
    prompt_tokens_details: Object<InDetails<'a>>,
    #[serde(borrow, default, alias = "output_tokens_details")]
    completion_tokens_details: Object<InDetails<'a>>,
    #[serde(borrow, default, alias = "cache_read_input_tokens", alias = "cached_tokens")]
    prompt_cache_hit_tokens: Loose<'a>,
    #[serde(borrow, default)]
    cache_creation_input_tokens: Loose<'a>,
    #[serde(borrow, default)]
    reasoning_tokens: Loose<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[expect(clippy::struct_field_names, reason = "they are called so on the wire")]
struct InDetails<'a> {
    #[serde(borrow, default)]
    cached_tokens: Loose<'a>,
    #[serde(borrow, default)]
    cache_write_tokens: Loose<'a>,
    #[serde(borrow, default)]
    reasoning_tokens: Loose<'a>,
}

impl InUsage<'_> {
    pub(crate) fn read(&self) -> Usage {
        let prompt = self.prompt_tokens_details.0.as_ref();
        let completion = self.completion_tokens_details.0.as_ref();
        let cached = prompt.map(|it| count(&it.cached_tokens)).unwrap_or_default();
        let written = prompt.map(|it| count(&it.cache_write_tokens)).unwrap_or_default();
        let reasoned = completion.map(|it| count(&it.reasoning_tokens)).unwrap_or_default();
        let mut usage = Usage::new(count(&self.prompt_tokens), count(&self.completion_tokens));
        usage.cache_read = cached.max(count(&self.prompt_cache_hit_tokens));
        usage.cache_write = written.max(count(&self.cache_creation_input_tokens));
        usage.reasoning = reasoned.max(count(&self.reasoning_tokens));
        usage
    }
}

fn count(tokens: &Loose<'_>) -> u64 {
    tokens.as_u64().unwrap_or(0)
}

//! Counts of tokens, as OpenAI's wires and those after them name them.

use crate::http::loose::{Loose, Object, record};
use hermes_core::message::Usage;

record! {
    /// Counts under all their names. Some servers send several of them, and zero under those that are
    /// not theirs.
    pub(crate) struct InUsage<'a> {
        "prompt_tokens" => prompt: Loose<'a>,
        "input_tokens" => input: Loose<'a>,
        "completion_tokens" => completion: Loose<'a>,
        "output_tokens" => output: Loose<'a>,
        "prompt_tokens_details" => prompt_details: Object<InDetails<'a>>,
        "input_tokens_details" => input_details: Object<InDetails<'a>>,
        "completion_tokens_details" => completion_details: Object<InDetails<'a>>,
        "output_tokens_details" => output_details: Object<InDetails<'a>>,
        "prompt_cache_hit_tokens" => cache_hit: Loose<'a>,
        "cache_read_input_tokens" => cache_read: Loose<'a>,
        "cached_tokens" => cached: Loose<'a>,
        "cache_creation_input_tokens" => cache_creation: Loose<'a>,
        "reasoning_tokens" => reasoning: Loose<'a>,
    }
}

record! {
    struct InDetails<'a> {
        "cached_tokens" => cached: Loose<'a>,
        "cache_write_tokens" => cache_write: Loose<'a>,
        "reasoning_tokens" => reasoning: Loose<'a>,
    }
}

impl InUsage<'_> {
    pub(crate) fn read(&self) -> Usage {
        let details = [
            &self.prompt_details,
            &self.input_details,
            &self.completion_details,
            &self.output_details,
        ];
        let details = || details.into_iter().filter_map(|it| it.0.as_ref());
        let largest = |counts: &[&Loose<'_>]| counts.iter().map(|it| count(it)).max().unwrap_or(0);
        let of_details = |field: fn(&InDetails<'_>) -> u64| details().map(field).max().unwrap_or(0);
        let input = largest(&[&self.prompt, &self.input]);
        let mut usage = Usage::new(input, largest(&[&self.completion, &self.output]));
        usage.cache_read = largest(&[&self.cache_hit, &self.cache_read, &self.cached])
            .max(of_details(|it| count(&it.cached)));
        usage.cache_write =
            count(&self.cache_creation).max(of_details(|it| count(&it.cache_write)));
        usage.reasoning = count(&self.reasoning).max(of_details(|it| count(&it.reasoning)));
        usage
    }
}

fn count(tokens: &Loose<'_>) -> u64 {
    tokens.as_u64().unwrap_or(0)
}

//! How much a model may say and think, as data.

/// The most tokens that families of models generate, by a part of their names. The first that fits
/// counts.
const MAX_TOKENS: &[(&str, u32)] = &[
    ("claude-3-7", 64_000),
    ("claude-3-5", 8_192),
    ("claude-3-", 4_096),
    ("claude-opus-4-1", 32_000),
    ("claude-opus-4-2", 32_000),
    ("claude-opus-4-0", 32_000),
    ("claude-opus", 64_000),
    ("claude-sonnet", 64_000),
    ("claude-haiku", 64_000),
];

/// What is asked for where the host sets no limit.
const USUAL: u32 = 16_000;
/// What is asked for of a model that is not in the table.
const UNKNOWN: u32 = 8_192;
/// The least tokens of an answer beside the thinking.
const LEAST_ANSWER: u32 = 4_096;

/// Returns the limit of tokens for `model`, which the wire wants in every request. Thinking comes on
/// top of what the host wants answered.
pub(super) fn max_tokens(model: &str, wanted: Option<u32>, thinking: Option<u32>) -> u32 {
    let known = MAX_TOKENS.iter().find(|(part, _)| model.contains(part)).map(|(_, most)| *most);
    let most = known.unwrap_or(UNKNOWN);
    let answer = wanted.unwrap_or_else(|| USUAL.min(most));
    match thinking {
        None => answer,
        Some(budget) => {
            let both = answer.saturating_add(budget);
            let least = budget.saturating_add(LEAST_ANSWER.min(answer));
            if known.is_some() { both.min(most).max(least) } else { both }
        }
    }
}

/// Returns how many tokens a model may think for an effort: a word, or the number itself.
pub(super) fn thinking_budget(effort: &str) -> Option<u32> {
    match effort {
        "minimal" | "low" => Some(4_000),
        "medium" => Some(8_000),
        "high" => Some(16_000),
        "xhigh" | "max" => Some(32_000),
        number => number.parse().ok().filter(|it| 1_024 <= *it),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_follows_the_model() {
        assert_eq!(max_tokens("claude-3-haiku-20240307", None, None), 4_096);
        assert_eq!(max_tokens("claude-sonnet-4-5", None, None), 16_000);
        assert_eq!(max_tokens("claude-sonnet-4-5", Some(100), None), 100);
        assert_eq!(max_tokens("another", None, None), 8_192);
    }

    #[test]
    fn thinking_comes_on_top() {
        assert_eq!(max_tokens("claude-sonnet-4-5", Some(100), Some(8_000)), 8_100);
        assert_eq!(max_tokens("claude-opus-4-1", None, Some(32_000)), 36_096);
        assert_eq!(thinking_budget("high"), Some(16_000));
        assert_eq!(thinking_budget("2000"), Some(2_000));
        assert_eq!(thinking_budget("none"), None);
    }
}

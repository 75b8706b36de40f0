//! Which words and statuses mean what, as a table.

use std::time::Duration;

use hermes_core::provider::ProviderErrorKind as Kind;

use super::Detail;

/// Any of these lines; of each line, all words.
type Words = &'static [&'static [&'static str]];

const CONTENT_POLICY: Words = &[
    &["content_policy"],
    &["content policy"],
    &["content_filter"],
    &["content filter"],
    &["content management policy"],
    &["responsible ai"],
    &["responsibleaipolicy"],
    &["safety system"],
    &["flagged", "moderation"],
    &["usage polic", "violat"],
    &["prohibited_content"],
    &["data_inspection_failed"],
    &["inappropriate content"],
    &["敏感"],
];

const OVERFLOW: Words = &[
    &["context_length"],
    &["context length"],
    &["context window"],
    &["context size"],
    &["exceed_context"],
    &["context overflow"],
    &["context_window"],
    &["maximum context"],
    &["model_max_prompt_tokens"],
    &["prompt is too long"],
    &["prompt too long"],
    &["input is too long"],
    &["input too long"],
    &["prompt exceeds max length"],
    &["maximum prompt length"],
    &["too many tokens"],
    &["token limit", "exceed"],
    &["token count", "exceed"],
    &["maximum number of tokens", "exceed"],
    &["number of input tokens", "exceed"],
    &["input length", "exceed"],
    &["input tokens", "exceed"],
    &["max_new_tokens", "must be <="],
    &["reduce the length of"],
    &["reduce your prompt"],
    &["request too large", "token"],
    &["string_above_max_length"],
    &["超过最大长度"],
    &["上下文长度"],
];

const BILLING: Words = &[
    &["insufficient_quota"],
    &["insufficient quota"],
    &["insufficient credit"],
    &["insufficient_credit"],
    &["insufficient balance"],
    &["insufficient_balance"],
    &["insufficient funds"],
    &["credit balance"],
    &["out of credits"],
    &["not enough credits"],
    &["requires more credits"],
    &["credits", "exhausted"],
    &["billing_hard_limit"],
    &["billing_not_active"],
    &["payment required"],
    &["spending limit"],
    &["spend limit"],
    &["monthly", "limit"],
    &["monthly", "quota"],
    &["arrearage"],
    &["account", "suspended"],
    &["余额不足"],
];

/// Billing, unless the endpoint also says that it passes.
const QUOTA: Words = &[
    &["exceeded your current quota"],
    &["quota exceeded"],
    &["quota_exceeded"],
    &["exceeded", "quota"],
    &["usage limit"],
    &["usage_limit"],
    &["billing"],
];

const PASSES: Words = &[
    &["try again in"],
    &["retry in"],
    &["retry after"],
    &["please retry"],
    &["try again later"],
    &["resets in"],
    &["resets at"],
    &["per minute"],
    &["per second"],
    &["retrydelay"],
];

const RATE_LIMIT: Words = &[
    &["rate limit"],
    &["rate_limit"],
    &["ratelimit"],
    &["too many requests"],
    &["too_many_requests"],
    &["throttl"],
    &["resource_exhausted"],
    &["requests per min"],
    &["tokens per min"],
];

const OVERLOADED: Words = &[
    &["overloaded"],
    &["at capacity"],
    &["over capacity"],
    &["no available capacity"],
    &["capacity exceeded"],
    &["server is busy"],
    &["server busy"],
    &["loading model"],
    &["model is loading"],
    &["temporarily unavailable"],
    &["service unavailable"],
];

const AUTH: Words = &[
    &["invalid api key"],
    &["invalid_api_key"],
    &["incorrect api key"],
    &["api key not valid"],
    &["api key", "invalid"],
    &["api key", "expired"],
    &["no api key"],
    &["missing api key"],
    &["unauthorized"],
    &["unauthenticated"],
    &["authentication"],
    &["permission_denied"],
];

const MODEL: Words = &[
    &["model_not_found"],
    &["model not found"],
    &["no such model"],
    &["unknown model"],
    &["unknown_model"],
    &["invalid model"],
    &["invalid_model"],
    &["not a valid model"],
    &["no endpoints found"],
    &["model", "does not exist"],
    &["model", "not found"],
    &["model", "not exist"],
    &["model", "no access to"],
    &["model", "not have access"],
    &["model", "decommissioned"],
    &["model", "deprecated"],
    &["model", "no longer available"],
    &["model", "is not available"],
    &["model", "not loaded"],
    &["模型不存在"],
];

const VALIDATION: Words = &[
    &["invalid_request"],
    &["validation error"],
    &["validationerror"],
    &["bad request"],
    &["unsupported parameter"],
];

const TIMEOUT: Words = &[&["timed out"], &["timeout"], &["deadline exceeded"]];

const SERVER: Words =
    &[&["server_error"], &["server error"], &["internal error"], &["internal_error"]];

fn says(text: &str, words: Words) -> bool {
    words.iter().any(|line| line.iter().all(|word| text.contains(word)))
}

/// Returns the kind of a refusal. `pause` is what the endpoint asked to wait.
pub(super) fn kind(status: Option<u16>, detail: &Detail, pause: Option<Duration>) -> Kind {
    let text = detail.text();
    let passes = says(text, PASSES) || pause.is_some();
    let is_billing = says(text, BILLING) || (says(text, QUOTA) && !passes);
    let is_hard = says(text, BILLING);
    let is_policy = says(text, CONTENT_POLICY) && !matches!(status, Some(401 | 402 | 429));
    match status {
        _ if is_policy => Kind::ContentPolicy,
        Some(300..=399) => Kind::EndpointNotFound,
        Some(401) => Kind::Auth,
        Some(402) if passes && says(text, QUOTA) && !is_hard => Kind::RateLimited,
        Some(402) => Kind::Billing,
        Some(403) => first(text, &[(is_billing, Kind::Billing)], &[MODEL_RULE], Kind::Auth),
        Some(404 | 405 | 410) => {
            first(text, &[(is_billing, Kind::Billing)], &[MODEL_RULE], Kind::EndpointNotFound)
        }
        Some(408 | 504 | 522 | 524) => Kind::Timeout,
        Some(413) => Kind::PayloadTooLarge,
        Some(429) => first(text, &[(is_billing, Kind::Billing)], THROTTLED, Kind::RateLimited),
        Some(498 | 503 | 529) => first(text, &[], &[OVERFLOW_RULE], Kind::Overloaded),
        Some(500..=599) => first(text, &[], FAILED, Kind::ServerError),
        Some(_) => first(text, &[], REFUSED, Kind::BadRequest),
        None if detail.is_html => Kind::EndpointNotFound,
        None => first(text, &[], UNTOLD, Kind::Unknown),
    }
}

type Rule = (Words, Kind);

const OVERFLOW_RULE: Rule = (OVERFLOW, Kind::ContextOverflow);
const MODEL_RULE: Rule = (MODEL, Kind::ModelNotFound);
const OVERLOADED_RULE: Rule = (OVERLOADED, Kind::Overloaded);

/// For 429.
const THROTTLED: &[Rule] = &[(&[&["request too large"]], Kind::ContextOverflow), OVERLOADED_RULE];

/// For 5xx.
const FAILED: &[Rule] = &[OVERFLOW_RULE, OVERLOADED_RULE, (VALIDATION, Kind::BadRequest)];

/// For 400, 422 and their like.
const REFUSED: &[Rule] = &[
    OVERFLOW_RULE,
    MODEL_RULE,
    (AUTH, Kind::Auth),
    (BILLING, Kind::Billing),
    (RATE_LIMIT, Kind::RateLimited),
    OVERLOADED_RULE,
];

/// For an error inside an answer that had begun well.
const UNTOLD: &[Rule] = &[
    OVERFLOW_RULE,
    (BILLING, Kind::Billing),
    (RATE_LIMIT, Kind::RateLimited),
    OVERLOADED_RULE,
    MODEL_RULE,
    (AUTH, Kind::Auth),
    (TIMEOUT, Kind::Timeout),
    (SERVER, Kind::ServerError),
    (VALIDATION, Kind::BadRequest),
];

/// Returns the kind of the first flag that is set, then of the first rule that speaks.
fn first(text: &str, flags: &[(bool, Kind)], rules: &[Rule], otherwise: Kind) -> Kind {
    let by_flag = flags.iter().find(|(is_set, _)| *is_set).map(|(_, kind)| *kind);
    let by_rule = || rules.iter().find(|(words, _)| says(text, words)).map(|(_, kind)| *kind);
    by_flag.or_else(by_rule).unwrap_or(otherwise)
}

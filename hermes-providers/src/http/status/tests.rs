use hermes_core::provider::Recovery;

use super::*;

#[track_caller]
fn check(status: u16, body: &str, expected: Kind) {
    let err = classify(status, &HeaderMap::new(), body.as_bytes(), SystemTime::UNIX_EPOCH);
    assert_eq!(err.kind(), expected, "{err}");
}

/// An error inside an answer of status 200.
#[track_caller]
fn check_inside(body: &str, expected: Kind) {
    check(200, body, expected);
}

#[test]
fn an_empty_quota_is_no_rate_limit() {
    check(
        429,
        r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}"#,
        Kind::Billing,
    );
    check(429, r#"{"error":{"message":"monthly usage limit reached"}}"#, Kind::Billing);
    check(402, r#"{"error":{"message":"This request requires more credits"}}"#, Kind::Billing);
    check(403, r#"{"error":{"message":"Your credit balance is too low"}}"#, Kind::Billing);
    check(
        400,
        r#"{"error":{"message":"Your credit balance is too low to access the API"}}"#,
        Kind::Billing,
    );
}

#[test]
fn a_limit_that_passes_is_a_rate_limit() {
    check(429, "", Kind::RateLimited);
    check(
        429,
        r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota. Please retry in 17.3s."}}"#,
        Kind::RateLimited,
    );
    check(402, "usage limit reached, try again in 5m", Kind::RateLimited);
}

#[test]
fn overflow_is_known_in_every_wording() {
    for words in [
        "This model's maximum context length is 8192 tokens, however you requested 9000 tokens",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "the request exceeds the available context size. try increasing the context size",
        "Requested tokens (700) exceed context window of 512",
        "Input is too long for requested model.",
        "Please reduce the length of the messages or completion.",
        "The input (4000 tokens) is longer than the model's context length (2048 tokens).",
        "Invalid request: Your request exceeded model token limit: 131072",
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
    ] {
        let body = serde_json::json!({"error": {"message": words}}).to_string();
        check(400, &body, Kind::ContextOverflow);
        check(500, &body, Kind::ContextOverflow);
        check_inside(&body, Kind::ContextOverflow);
    }
    check(413, "", Kind::PayloadTooLarge);
}

#[test]
fn a_limit_on_output_is_no_overflow() {
    let body = r#"{"error":{"message":"max_tokens is too large: 100000. This model supports at most 4096 completion tokens"}}"#;
    check(400, body, Kind::BadRequest);
}

#[test]
fn models_are_told_from_addresses() {
    check(
        404,
        r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
        Kind::ModelNotFound,
    );
    check(404, r#"{"error":"model \"x\" not found, try pulling it first"}"#, Kind::ModelNotFound);
    check(
        400,
        r#"{"error":{"message":"x is not a valid model ID","code":400}}"#,
        Kind::ModelNotFound,
    );
    check(404, r#"{"detail":"Not Found"}"#, Kind::EndpointNotFound);
    check(405, r#"{"detail":"Method Not Allowed"}"#, Kind::EndpointNotFound);
    check(404, "<!DOCTYPE html><html><title>404</title></html>", Kind::EndpointNotFound);
    check(200, "<html></html>", Kind::EndpointNotFound);
    check(302, "", Kind::EndpointNotFound);
}

#[test]
fn keys_are_refused_in_many_ways() {
    check(401, "", Kind::Auth);
    check(403, "forbidden", Kind::Auth);
    check(
        400,
        r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]"#,
        Kind::Auth,
    );
}

#[test]
fn servers_fail_in_many_ways() {
    check(500, "oops", Kind::ServerError);
    check(502, "<html><title>502 Bad Gateway</title></html>", Kind::ServerError);
    check(503, r#"{"error":{"message":"Loading model"}}"#, Kind::Overloaded);
    check(529, "", Kind::Overloaded);
    check(429, r#"{"error":{"message":"The engine is currently overloaded"}}"#, Kind::Overloaded);
    check(408, "", Kind::Timeout);
    check(504, "", Kind::Timeout);
    check(418, "", Kind::BadRequest);
}

#[test]
fn content_is_refused() {
    check(
        400,
        r#"{"error":{"code":"content_filter","message":"The response was filtered"}}"#,
        Kind::ContentPolicy,
    );
    check(403, r#"{"error":{"message":"Input was flagged by moderation"}}"#, Kind::ContentPolicy);
}

#[test]
fn errors_inside_an_answer_are_classified() {
    check_inside(r#"{"error":{"message":"upstream overloaded","code":529}}"#, Kind::Overloaded);
    check_inside(
        r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"slow down"}}}"#,
        Kind::RateLimited,
    );
    check_inside(
        r#"{"error":{"message":"Error in input stream","type":"server_error"}}"#,
        Kind::ServerError,
    );
    check_inside(r#"{"error":"something"}"#, Kind::Unknown);
}

#[test]
fn a_bad_request_keeps_the_words_of_the_endpoint() {
    let body = br#"{"error":{"message":"invalid tool call arguments"}}"#;

    let err = classify(400, &HeaderMap::new(), body, SystemTime::UNIX_EPOCH);

    assert_eq!(
        err.to_string(),
        "the endpoint calls the request malformed (400 Bad Request): invalid tool call arguments; \
         check sampling, tools and extra fields, or ask another endpoint"
    );
    assert_eq!(err.recovery(), Recovery::GiveUp);
    assert_eq!(err.status(), Some(400));
}

#[test]
fn details_come_in_many_shapes() {
    let body = br#"{"detail":[{"loc":["body"],"msg":"field required"},{"msg":"and more"}]}"#;
    let err = classify(422, &HeaderMap::new(), body, SystemTime::UNIX_EPOCH);
    assert!(err.to_string().contains("): field required; and more; check"), "{err}");

    let body = br#"{"error":{"message":"Provider returned error","metadata":{"raw":"too hot"}}}"#;
    let err = classify(400, &HeaderMap::new(), body, SystemTime::UNIX_EPOCH);
    assert!(err.to_string().contains("): Provider returned error: too hot; check"), "{err}");
}

#[test]
fn the_key_is_taken_out_of_the_message() {
    let body = br#"{"error":{"message":"Incorrect API key provided: sk-abcdefghijkl"}}"#;

    let err = classify(401, &HeaderMap::new(), body, SystemTime::UNIX_EPOCH);

    assert!(!err.to_string().contains("abcdef"), "{err}");
}

//! The messages wire over HTTP.

use hermes_core::message::StopReason;
use hermes_providers::{Anthropic, ApiKey};
use serde_json::json;
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{body_partial_json, header, method, path},
};

use crate::ask;

const ANSWER: &str = concat!(
    r#"data: {"type":"message_start","message":{"usage":{"input_tokens":3}}}"#,
    "\n\n",
    r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"grüß "}}"#,
    "\n\n",
    r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Gott"}}"#,
    "\n\n",
    r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
    "\n\n",
    r#"data: {"type":"message_stop"}"#,
    "\n\n",
);

#[tokio::test]
async fn an_answer_streams() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/v1/messages"))
        .and(header("x-api-key", "k-123456"))
        .and(header("anthropic-version", "2023-06-01"))
        .and(body_partial_json(json!({"stream": true, "model": "m", "max_tokens": 8192})))
        .respond_with(ResponseTemplate::new(200).set_body_raw(ANSWER, "text/event-stream"))
        .mount(&server)
        .await;
    let key = ApiKey::new("k-123456").unwrap();
    let provider = Anthropic::builder(server.uri()).key(key).build().unwrap();

    let answer = ask(&provider).await.unwrap();

    assert_eq!(answer.text(), "grüß Gott");
    assert_eq!(answer.stop, Some(StopReason::EndTurn));
    assert_eq!(answer.usage.unwrap().total(), 5);
}

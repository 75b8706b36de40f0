//! The responses wire over HTTP.

use hermes_core::message::StopReason;
use hermes_providers::{ApiKey, OpenAiResponses};
use serde_json::json;
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{body_partial_json, header, method, path},
};

use crate::ask;

const ANSWER: &str = concat!(
    r#"data: {"type":"response.output_text.delta","output_index":0,"delta":"grüß "}"#,
    "\n\n",
    r#"data: {"type":"response.output_text.delta","output_index":0,"delta":"Gott"}"#,
    "\n\n",
    r#"data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":3,"output_tokens":2}}}"#,
    "\n\n",
);

#[tokio::test]
async fn an_answer_streams() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/v1/responses"))
        .and(header("authorization", "Bearer k-123456"))
        .and(body_partial_json(json!({
            "stream": true, "model": "m", "store": false,
            "include": ["reasoning.encrypted_content"],
            "input": [{"type": "message", "role": "user"}]
        })))
        .respond_with(ResponseTemplate::new(200).set_body_raw(ANSWER, "text/event-stream"))
        .mount(&server)
        .await;
    let key = ApiKey::new("k-123456").unwrap();
    let provider = OpenAiResponses::builder(server.uri()).key(key).build().unwrap();

    let answer = ask(&provider).await.unwrap();

    assert_eq!(answer.text(), "grüß Gott");
    assert_eq!(answer.stop, Some(StopReason::EndTurn));
    assert_eq!(answer.usage.unwrap().total(), 5);
}

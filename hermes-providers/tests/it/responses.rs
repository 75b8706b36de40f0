//! The responses wire over HTTP.

use hermes_core::{
    message::{Message, StopReason},
    provider::{ProviderErrorKind as Kind, ProviderExt, Request},
};
use hermes_providers::{ApiKey, OpenAiResponses};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{body_partial_json, header, method, path},
};

use crate::{
    ask,
    server::{Reply, Server, json as answer_in_json, sse},
};

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

/// After reports of `invalid_encrypted_content`, where a request went out under another key.
#[tokio::test]
async fn reasoning_that_the_endpoint_cannot_read_stays_out_of_a_second_try_and_later_ones() {
    let thinking = concat!(
        r#"data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","encrypted_content":"gAAA","summary":[]}}"#,
        "\n\n",
    );
    let refusal = answer_in_json(
        "400 Bad Request",
        r#"{"error":{"message":"The encrypted content gAAA...6W4= could not be verified. Reason: Encrypted content could not be decrypted or parsed.","type":"invalid_request_error","code":"invalid_encrypted_content"}}"#,
    );
    let server = Server::start(vec![
        Reply::Bytes(sse(&format!("{thinking}{}", ANSWER.replace(":0,", ":1,")))),
        refusal.clone(),
        Reply::Bytes(sse(ANSWER)),
        refusal,
    ]);
    let provider = OpenAiResponses::builder(server.url()).build().unwrap();
    let token = CancellationToken::new();
    let mut messages = vec![Message::user("hi")];
    messages.push(ask(&provider).await.unwrap());
    messages.push(Message::user("and now?"));
    let request = Request::new("m", messages);

    let second = provider.complete(&request, &token).await.unwrap();
    let third = provider.complete(&request, &token).await.unwrap_err();

    assert_eq!(second.text(), "grüß Gott");
    assert_eq!(third.kind(), Kind::BadRequest);
    let has_it: Vec<bool> = server.requests().iter().map(|it| it.contains("gAAA")).collect();
    assert_eq!(has_it, [false, true, false, false]);
}

//! The messages wire over HTTP.

use hermes_core::{
    message::{CallResult, CallStatus, Message, StopReason},
    provider::{ProviderErrorKind as Kind, ProviderExt, Request, Sampling},
};
use hermes_providers::{Anthropic, ApiKey};
use serde_json::{Value, json};
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

/// After reports of `Invalid signature in thinking block`, where a conversation moved to another
/// platform, and of `Expected thinking`, where a turn was made elsewhere.
#[tokio::test]
async fn thinking_that_the_endpoint_refuses_stays_out_of_a_second_try_and_later_ones() {
    for message in [
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`",
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
    ] {
        let refusal = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
        let thinking = concat!(
            r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"hm","signature":"EqQB"}}"#,
            "\n\n",
            r#"data: {"type":"content_block_stop","index":0}"#,
            "\n\n",
            r#"data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"q","name":"ping","input":{}}}"#,
            "\n\n",
            r#"data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
            "\n\n",
            r#"data: {"type":"message_stop"}"#,
            "\n\n",
        );
        let refusal = answer_in_json("400 Bad Request", &refusal.to_string());
        let answer = Reply::Bytes(sse(ANSWER));
        let server = Server::start(vec![
            Reply::Bytes(sse(thinking)),
            refusal.clone(),
            answer.clone(),
            answer,
            refusal,
        ]);
        let provider = Anthropic::builder(server.url()).build().unwrap();
        let token = CancellationToken::new();
        let mut sampling = Sampling::default();
        sampling.reasoning_effort = Some("low".to_owned());
        let ask_all = async |messages: &[Message]| {
            let request = Request::new("m", messages.to_vec()).with_sampling(sampling.clone());
            provider.complete(&request, &token).await
        };
        let mut messages = vec![Message::user("hi")];

        messages.push(ask_all(&messages).await.unwrap());
        messages.push(Message::results([CallResult::new("q".into(), CallStatus::Done, "pong")]));
        let second = ask_all(&messages).await.unwrap();
        let third = ask_all(&messages).await.unwrap();
        let fourth = ask_all(&messages).await.unwrap_err();

        assert_eq!((second.text(), third.text()), ("grüß Gott".into(), "grüß Gott".into()));
        assert_eq!(fourth.kind(), Kind::BadRequest);
        let bodies: Vec<Value> = server
            .requests()
            .iter()
            .map(|it| serde_json::from_str(it.split_once("\r\n\r\n").unwrap().1).unwrap())
            .collect();
        let has_signature = bodies.iter().map(|it| it["messages"].to_string().contains("EqQB"));
        // What has no thinking to show asks for none.
        let thinks = bodies.iter().map(|it| it.get("thinking").is_some());
        assert!(has_signature.eq([false, true, false, false, false]), "{message}");
        assert!(thinks.eq([true, true, false, false, false]), "{message}");
    }
}

//! What goes wrong with endpoints, one row per kind of fault. After each, the provider still works.

use std::{sync::Arc, time::Duration};

use hermes_core::{
    Agent,
    agent::{AgentError, Finish, FinishedTurn},
    provider::{Provider, ProviderErrorKind as Kind, Recovery},
};
use hermes_providers::{Anthropic, ApiKey, OpenAiChat, Timeouts};

use crate::{
    ask,
    server::{Reply, Server, http, json, sse},
};

/// What the tests have to know of a wire.
#[derive(Clone, Copy)]
struct Wire {
    /// Starts a provider with short timeouts.
    provider: fn(&str) -> Box<dyn Provider>,
    /// An event that says hello.
    hello: &'static str,
    /// Events that end the answer.
    stop: &'static str,
    /// An event that is an error.
    error: &'static str,
}

const WIRES: [Wire; 2] = [
    Wire {
        provider: |url| {
            let builder = OpenAiChat::builder(url).key(ApiKey::new("geheimnis").unwrap());
            Box::new(builder.timeouts(short()).build().unwrap())
        },
        hello: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n",
        stop: "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        error: "data: {\"error\":{\"message\":\"overloaded\"}}\n\n",
    },
    Wire {
        provider: |url| {
            let builder = Anthropic::builder(url).key(ApiKey::new("geheimnis").unwrap());
            Box::new(builder.timeouts(short()).build().unwrap())
        },
        hello: "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
                \"delta\":{\"type\":\"text_delta\",\"text\":\"hello\"}}\n\n",
        stop: "event: message_delta\ndata: {\"type\":\"message_delta\",\
               \"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
        error: "event: error\ndata: {\"type\":\"error\",\
                \"error\":{\"type\":\"overloaded_error\",\"message\":\"overloaded\"}}\n\n",
    },
];

fn short() -> Timeouts {
    let limit = Duration::from_millis(300);
    Timeouts::default().with_first_byte(limit).with_idle(limit)
}

impl Wire {
    fn good(self) -> Reply {
        Reply::Bytes(sse(&format!("{}{}", self.hello, self.stop)))
    }
}

const HTML: &str = "<!DOCTYPE html><html><head><title>Welcome to\n nginx</title></head></html>";

fn error(status: &str, message: &str, code: &str) -> Reply {
    json(status, &format!(r#"{{"error":{{"message":"{message}","code":"{code}"}}}}"#))
}

fn sse_reply(body: &str) -> Reply {
    Reply::Bytes(sse(body))
}

#[expect(clippy::too_many_lines, reason = "it is a table")]
/// Name, what the endpoint does, kind of the error, a word of its message.
fn faults(wire: Wire) -> Vec<(&'static str, Reply, Kind, &'static str)> {
    let hello = wire.hello;
    let html = |status| http(status, "content-type: text/html\r\n", HTML);
    let retry =
        |value: &str| http("429 Too Many Requests", &format!("retry-after: {value}\r\n"), "");
    let date = "Wed, 21 Oct 2015 07:28:07 GMT\r\ndate: Wed, 21 Oct 2015 07:28:00 GMT";
    let overflow = "This model's maximum context length is 8192 tokens";
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n400\r\n";
    vec![
        ("closes without an answer", Reply::Bytes(Vec::new()), Kind::Unreachable, "broke"),
        ("speaks no HTTP", Reply::Bytes(b"hello there\r\n".to_vec()), Kind::Unreachable, "broke"),
        ("is silent", Reply::Hang(Vec::new()), Kind::Timeout, "silent"),
        ("answers with a page", html("200 OK"), Kind::EndpointNotFound, "Welcome to nginx"),
        ("has no such page", html("404 Not Found"), Kind::EndpointNotFound, "base URL"),
        (
            "has no such path",
            json("404 Not Found", r#"{"detail":"Not Found"}"#),
            Kind::EndpointNotFound,
            "base URL",
        ),
        (
            "does not take posts",
            json("405 Method Not Allowed", "{}"),
            Kind::EndpointNotFound,
            "base URL",
        ),
        (
            "leads elsewhere",
            http("302 Found", "location: https://else.where/v1?k=v\r\n", ""),
            Kind::EndpointNotFound,
            "https://else.where/v1,",
        ),
        (
            "has no such model",
            error("404 Not Found", "The model `m` does not exist", "model_not_found"),
            Kind::ModelNotFound,
            "`m`",
        ),
        (
            "refuses the key",
            error("401 Unauthorized", "Incorrect API key provided: geheimnis", "invalid_api_key"),
            Kind::Auth,
            "[redacted]",
        ),
        ("forbids", error("403 Forbidden", "not for you", "forbidden"), Kind::Auth, "not for you"),
        ("wants money", error("402 Payment Required", "top up", ""), Kind::Billing, "top up"),
        (
            "has no quota left",
            error("429 Too Many Requests", "no quota", "insufficient_quota"),
            Kind::Billing,
            "no quota",
        ),
        ("limits for seconds", retry("7"), Kind::RateLimited, "too many"),
        ("limits until a date", retry(date), Kind::RateLimited, "too many"),
        ("fails", error("500 Internal Server Error", "oops", ""), Kind::ServerError, "oops"),
        ("fails at the gateway", html("502 Bad Gateway"), Kind::ServerError, "nginx"),
        (
            "is loading",
            error("503 Service Unavailable", "Loading model", ""),
            Kind::Overloaded,
            "Loading",
        ),
        ("is overloaded", http("529 Overloaded", "", ""), Kind::Overloaded, "529"),
        ("takes too long", http("504 Gateway Timeout", "", ""), Kind::Timeout, "504"),
        (
            "has too small a window",
            error("400 Bad Request", overflow, ""),
            Kind::ContextOverflow,
            "8192",
        ),
        (
            "finds the body too large",
            http("413 Payload Too Large", "", ""),
            Kind::PayloadTooLarge,
            "413",
        ),
        (
            "calls it malformed",
            error("400 Bad Request", "bad field", ""),
            Kind::BadRequest,
            "bad field",
        ),
        (
            "filters",
            error("400 Bad Request", "filtered", "content_filter"),
            Kind::ContentPolicy,
            "filtered",
        ),
        (
            "hides an error in a 200",
            error("200 OK", "rate limit reached", ""),
            Kind::RateLimited,
            "rate limit",
        ),
        (
            "compresses unasked",
            http("200 OK", "content-encoding: gzip\r\n", "\u{1f}"),
            Kind::Protocol,
            "gzip",
        ),
        ("sends broken JSON", json("200 OK", "{\"choices\":"), Kind::Protocol, "JSON"),
        ("sends something else", json("200 OK", "{\"hello\":1}"), Kind::Protocol, "cannot be read"),
        ("sends nothing", http("200 OK", "", ""), Kind::StreamCut, "no answer"),
        ("only says done", sse_reply("data: [DONE]\n\n"), Kind::StreamCut, "no answer"),
        (
            "sends a broken chunk",
            sse_reply(&format!("{hello}data: {{\"cho\n\n")),
            Kind::Protocol,
            "JSON",
        ),
        (
            "sends an error in the stream",
            sse_reply(&format!("{hello}{}", wire.error)),
            Kind::Overloaded,
            "overloaded",
        ),
        ("ends between chunks", sse_reply(hello), Kind::StreamCut, "early"),
        ("ends in a chunk", sse_reply(&format!("{hello}data: {{\"cho")), Kind::StreamCut, "early"),
        (
            "breaks off in the body",
            Reply::Bytes(format!("{chunked}{hello}").into_bytes()),
            Kind::StreamCut,
            "broke",
        ),
        ("falls silent", Reply::Hang(sse(hello)), Kind::Timeout, "silent"),
    ]
}

#[tokio::test]
async fn every_fault_is_a_typed_error_and_the_next_request_works() {
    for wire in WIRES {
        for (name, reply, kind, word) in faults(wire) {
            let server = Server::start(vec![reply, wire.good()]);
            let provider = (wire.provider)(&server.url());

            let err = ask(&*provider).await.unwrap_err();
            let next = ask(&*provider).await;

            assert_eq!(err.kind(), kind, "{name}: {err}");
            assert!(err.to_string().contains(word), "{name}: {err}");
            assert!(!format!("{err:?} {err}").contains("geheimnis"), "{name}: {err:?}");
            assert_eq!(next.unwrap().text(), "hello", "{name}");
        }
    }
}

#[tokio::test]
async fn a_session_goes_on_after_every_fault() {
    for wire in WIRES {
        for (name, reply, ..) in faults(wire) {
            let server = Server::start(vec![reply, wire.good()]);
            let provider: Arc<dyn Provider> = (wire.provider)(&server.url()).into();
            let session = Agent::builder(provider).model("m").build().unwrap().session();

            let broken = session.send("hi").await;
            let next = session.send("hi").await;

            let said_hello = |turn: &Result<FinishedTurn, AgentError>| {
                turn.as_ref().is_ok_and(|turn| turn.finish == Finish::Answered)
            };
            assert!(!said_hello(&broken), "{name}: {broken:?}");
            assert!(said_hello(&next), "{name}: {next:?}");
        }
    }
}

#[tokio::test]
async fn pauses_are_read_in_both_forms() {
    let [wire, _] = WIRES;
    for (name, reply, ..) in faults(wire).into_iter().filter(|it| it.0.starts_with("limits")) {
        let server = Server::start(vec![reply]);

        let err = ask(&*(wire.provider)(&server.url())).await.unwrap_err();

        let pause = Some(Duration::from_secs(7));
        assert_eq!(err.recovery(), Recovery::Retry(pause), "{name}");
    }
}

#[tokio::test]
async fn a_closed_port_is_told_as_such() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    for wire in WIRES {
        let provider = (wire.provider)(&format!("http://127.0.0.1:{port}"));

        let err = ask(&*provider).await.unwrap_err();

        assert_eq!(err.kind(), Kind::Unreachable);
        assert!(err.to_string().contains("connection refused"), "{err}");
    }
}

#[tokio::test]
async fn the_key_does_not_follow_a_redirect() {
    for wire in WIRES {
        let other = Server::start(vec![wire.good()]);
        let headers = format!("location: {}/v1\r\n", other.url());
        let server = Server::start(vec![http("307 Temporary Redirect", &headers, "")]);

        let err = ask(&*(wire.provider)(&server.url())).await.unwrap_err();

        assert_eq!(err.kind(), Kind::EndpointNotFound, "{err}");
        assert!(other.requests().is_empty());
    }
}

#[tokio::test]
async fn a_redirect_at_home_is_followed() {
    let [wire, _] = WIRES;
    let headers = "location: /v1/chat/completions/\r\n";
    let server = Server::start(vec![http("308 Permanent Redirect", headers, ""), wire.good()]);

    let answer = ask(&*(wire.provider)(&server.url())).await.unwrap();

    assert_eq!(answer.text(), "hello");
    assert_eq!(server.requests().len(), 2);
}

#[cfg(feature = "rustls")]
#[tokio::test]
async fn a_server_without_tls_is_no_https_endpoint() {
    let server = Server::start(vec![Reply::Bytes(Vec::new())]);

    let err =
        ask(&*(WIRES[0].provider)(&server.url().replace("http:", "https:"))).await.unwrap_err();

    assert!(matches!(err.kind(), Kind::Unreachable | Kind::Timeout), "{err}");
}

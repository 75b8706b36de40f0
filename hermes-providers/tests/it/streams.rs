//! Answers that go well, and those that are given up.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use hermes_core::{
    message::{Message, StopReason},
    provider::{ModelEvent, Provider, ProviderError, ProviderErrorKind as Kind, Request},
};
use hermes_providers::{Anthropic, ApiKey, Backoff, OpenAiChat, OpenAiResponses, Retry};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{body_partial_json, header, method, path},
};

use crate::{
    ask,
    server::{Reply, Server, sse},
    wires::{CHAT, MESSAGES, RESPONSES, WIRES, Wire},
};

fn chunk(text: &str, stop: Option<&str>) -> String {
    let chunk = json!({"choices": [{"delta": {"content": text}, "finish_reason": stop}]});
    format!("data: {chunk}\n\n")
}

async fn mock(response: ResponseTemplate) -> (MockServer, OpenAiChat) {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/v1/chat/completions"))
        .and(header("authorization", "Bearer k-123456"))
        .and(header("x-title", "test"))
        .and(body_partial_json(json!({"stream": true, "model": "m"})))
        .respond_with(response)
        .mount(&server)
        .await;
    let provider = OpenAiChat::builder(server.uri())
        .key(ApiKey::new("k-123456").unwrap())
        .header("x-title", "test")
        .build()
        .unwrap();
    (server, provider)
}

#[tokio::test]
async fn an_answer_streams() {
    let body = format!("{}{}data: [DONE]\n\n", chunk("grüß ", None), chunk("Gott", Some("stop")));
    let response = ResponseTemplate::new(200).set_body_raw(body, "text/event-stream");
    let (_server, provider) = mock(response).await;

    let answer = ask(&provider).await.unwrap();

    assert_eq!(answer.text(), "grüß Gott");
    assert_eq!(answer.stop, Some(StopReason::EndTurn));
}

#[tokio::test]
async fn a_recorded_answer_says_what_the_stream_said() {
    let body = format!("{}{}data: [DONE]\n\n", chunk("grüß ", None), chunk("Gott", Some("stop")));
    let response = ResponseTemplate::new(200).set_body_raw(body.clone(), "text/event-stream");
    let (_server, provider) = mock(response).await;
    let request = Request::new("m", vec![Message::user("a")]);
    let events = provider.stream(&request, &CancellationToken::new()).await.unwrap();
    let streamed: Vec<_> = events.map(Result::unwrap).collect().await;

    let whole: Vec<_> = provider.read_answer([body.as_bytes()]).map(Result::unwrap).collect();
    let pieces = body.as_bytes().chunks(1);
    let in_pieces: Vec<_> = provider.read_answer(pieces).map(Result::unwrap).collect();
    let first = chunk("grüß ", None);
    let mut cut = provider.read_answer([first.as_bytes()]);
    assert_eq!((&whole, &in_pieces), (&streamed, &streamed));
    assert_eq!(cut.next().unwrap().unwrap(), ModelEvent::Text("grüß ".to_owned()));
    assert_eq!(cut.next().unwrap().unwrap_err().kind(), Kind::StreamCut);
    assert!(cut.next().is_none());
}

#[tokio::test]
async fn an_answer_may_come_whole() {
    let body = json!({"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]});
    let (_server, provider) = mock(ResponseTemplate::new(200).set_body_json(body)).await;

    assert_eq!(ask(&provider).await.unwrap().text(), "hello");
}

#[tokio::test]
async fn the_body_on_the_wire_is_the_one_that_was_built() {
    let server = Server::start(vec![Reply::Bytes(sse(&chunk("a", Some("stop"))))]);
    let provider = OpenAiChat::builder(server.url()).build().unwrap();
    let request = Request::new("m", vec![Message::user("hi")]);

    ask(&provider).await.unwrap();

    let requests = server.requests();
    let body = requests[0].split_once("\r\n\r\n").unwrap().1;
    assert_eq!(body.as_bytes(), &*provider.build_body(&request));
    assert!(!requests[0].to_lowercase().contains("authorization"));
    serde_json::from_str::<Value>(body).unwrap();
}

#[tokio::test]
async fn a_server_that_does_not_hang_up_is_not_waited_for() {
    let body = format!("{}data: [DONE]\n\n", chunk("hello", Some("stop")));
    let server = Server::start(vec![Reply::Hang(sse(&body))]);
    let provider = OpenAiChat::builder(server.url()).build().unwrap();

    let answer = tokio::time::timeout(Duration::from_secs(4), ask(&provider)).await;

    assert_eq!(answer.unwrap().unwrap().text(), "hello");
}

#[tokio::test]
async fn cancelling_ends_a_request_that_waits() {
    let server = Server::start(vec![Reply::Hang(Vec::new())]);
    let provider = OpenAiChat::builder(server.url()).build().unwrap();
    let token = CancellationToken::new();
    let request = Request::new("m", vec![Message::user("hi")]);

    let (result, ()) = tokio::join!(provider.stream(&request, &token), async {
        tokio::task::yield_now().await;
        token.cancel();
    });

    assert_eq!(result.err().unwrap().kind(), Kind::Cancelled);
}

#[tokio::test]
async fn cancelling_ends_a_stream_that_runs() {
    let server = Server::start(vec![Reply::Hang(sse(&chunk("half", None)))]);
    let provider = OpenAiChat::builder(server.url()).build().unwrap();
    let token = CancellationToken::new();
    let request = Request::new("m", vec![Message::user("hi")]);
    let mut events = provider.stream(&request, &token).await.unwrap();

    let first = events.next().await.unwrap().unwrap();
    token.cancel();
    let last = events.next().await.unwrap();

    assert_eq!(first, ModelEvent::Text("half".to_owned()));
    assert_eq!(last.unwrap_err().kind(), Kind::Cancelled);
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn what_came_before_the_cut_is_kept_by_the_caller() {
    let server = Server::start(vec![Reply::Bytes(sse(&chunk("half", None)))]);
    let provider = OpenAiChat::builder(server.url()).build().unwrap();
    let request = Request::new("m", vec![Message::user("hi")]);

    let events = provider.stream(&request, &CancellationToken::new()).await.unwrap();
    let events: Vec<_> = events.collect().await;

    assert_eq!(events.len(), 2);
    assert_eq!(events[0].as_ref().unwrap(), &ModelEvent::Text("half".to_owned()));
    assert_eq!(events[1].as_ref().unwrap_err().kind(), Kind::StreamCut);
}

#[tokio::test]
async fn two_requests_at_once_do_not_disturb_each_other() {
    let server = Server::start(vec![
        Reply::Bytes(sse(&chunk("one", Some("stop")))),
        Reply::Bytes(sse(&chunk("two", Some("stop")))),
    ]);
    let provider = OpenAiChat::builder(server.url()).build().unwrap();

    let (one, two) = tokio::join!(ask(&provider), ask(&provider));

    let mut texts = [one.unwrap().text(), two.unwrap().text()];
    texts.sort();
    assert_eq!(texts, ["one", "two"]);
}

#[tokio::test]
async fn half_an_emoji_does_not_cost_the_answer() {
    for wire in WIRES {
        let answer = wire.answer().replace("hello", r"half \ud83d of \ud83d\ude42");
        let server = Server::start(vec![Reply::Bytes(sse(&answer))]);

        let reply = ask(&*wire.provider(&server.url())).await.unwrap();

        assert_eq!(reply.text(), "half \u{fffd} of 🙂", "{}", wire.name);
    }
}

#[tokio::test]
async fn an_answer_that_broke_before_it_said_anything_is_asked_for_again() {
    let reasons = [
        "insufficient_system_resource",
        "abort",
        "network_error",
        "error",
        "MALFORMED_FUNCTION_CALL",
        "timeout",
    ];
    for wire in WIRES {
        for reason in reasons {
            let broken = Reply::Bytes(sse(&wire.odd_stop.replace("odd", reason)));
            let server = Server::start(vec![broken, wire.good()]);
            let provider: Arc<dyn Provider> = wire.provider(&server.url()).into();
            let short = Duration::from_millis(1);

            let retry =
                Retry::new(provider).with_backoff(Backoff::default().with_pauses(short, short));
            let answer = ask(&retry).await.unwrap();

            assert_eq!(answer.text(), "hello", "{reason} on {}", wire.name);
            assert_eq!(server.requests().len(), 2, "{reason} on {}", wire.name);
        }
    }
}

#[tokio::test]
async fn a_reason_that_is_only_new_ends_an_answer_well() {
    for wire in WIRES {
        let events = format!("{}{}", wire.hello, wire.odd_stop.replace("odd", "pause_turn"));
        let server = Server::start(vec![Reply::Bytes(sse(&events))]);

        let answer = ask(&*wire.provider(&server.url())).await.unwrap();

        let stop = Some(StopReason::Other("pause_turn".to_owned()));
        assert_eq!((answer.text().as_str(), answer.stop.clone()), ("hello", stop), "{}", wire.name);
    }
}

type Reader = Box<dyn Fn(Vec<&[u8]>) -> Vec<String>>;

/// A provider of each wire that reads recorded answers, as lines of what comes of them.
fn readers() -> [(Wire, Reader); 3] {
    fn lines(events: impl Iterator<Item = Result<ModelEvent, ProviderError>>) -> Vec<String> {
        events.map(|it| format!("{it:?}")).collect()
    }
    let base = "http://127.0.0.1:9";
    let chat = OpenAiChat::builder(base).build().unwrap();
    let responses = OpenAiResponses::builder(base).build().unwrap();
    let messages = Anthropic::builder(base).build().unwrap();
    [
        (CHAT, Box::new(move |pieces| lines(chat.read_answer(pieces)))),
        (RESPONSES, Box::new(move |pieces| lines(responses.read_answer(pieces)))),
        (MESSAGES, Box::new(move |pieces| lines(messages.read_answer(pieces)))),
    ]
}

#[test]
fn whatever_comes_means_the_same_in_any_pieces() {
    let mut runner =
        TestRunner::new(Config { cases: 1000, failure_persistence: None, ..Config::default() });
    let readers = readers();
    let strategy = (prop::collection::vec(0_usize..18, 0..7), any::<prop::sample::Index>());

    let outcome = runner.run(&strategy, |(snippets, at)| {
        for (wire, read) in &readers {
            let pool = [
                wire.hello,
                wire.hello,
                wire.hello,
                wire.stop,
                wire.odd_stop,
                wire.error,
                ": wait\r\n\r\n",
                "data: [DONE]\n\n",
                "\u{feff}",
                "\n",
                "\r",
                " ",
                "{\"error\":{\"message\":\"größer\"}}",
                "<html><title>no</title>",
                "upstream timed out\n",
                "error: kaputt\n\n",
                "data: {\"type\"",
                "event: x\ndata",
            ];
            let text: String = snippets.iter().filter_map(|nth| pool.get(*nth)).copied().collect();
            let (head, tail) = text.as_bytes().split_at(at.index(text.len() + 1));

            let whole = read(vec![text.as_bytes()]);

            prop_assert_eq!(&read(vec![head, tail]), &whole, "{:?} cut at {}", text, head.len());
            prop_assert_eq!(&read(text.as_bytes().chunks(1).collect()), &whole, "{:?}", text);
            let ends = whole.iter().filter(|it| it.contains("Done {") || it.starts_with("Err"));
            prop_assert_eq!(ends.count(), 1, "{:?}: {:?}", text, whole);
        }
        Ok(())
    });

    outcome.unwrap();
}

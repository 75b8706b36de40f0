//! What an endpoint may take of time and memory, on all wires.

use std::time::{Duration, Instant};

use futures::StreamExt;
use hermes_core::{
    message::Message,
    provider::{ModelEvent, ProviderErrorKind as Kind, Request},
};
use hermes_providers::Timeouts;
use tokio_util::sync::CancellationToken;

use crate::{
    ask,
    server::{Drip, Reply, Server, sse},
    wires::WIRES,
};

const COMMENT: &str = ": still here\n\n";
const ENDLESS: usize = 250;

fn drip(head: &str, piece: &'static str, times: usize, rest: String) -> Server {
    Server::start(vec![Reply::Drip(sse(head), Drip { piece, times, rest })])
}

fn limits(first_byte: u64, idle: u64) -> Timeouts {
    let millis = Duration::from_millis;
    Timeouts::default().with_first_byte(millis(first_byte)).with_idle(millis(idle))
}

#[tokio::test]
async fn comments_alone_do_not_keep_a_request_waiting_for_ever() {
    for wire in WIRES {
        let server = drip("", COMMENT, ENDLESS, String::new());
        let start = Instant::now();

        let err = ask(&*wire.provider(&server.url())).await.unwrap_err();

        assert_eq!(err.kind(), Kind::Timeout, "{}: {err}", wire.name);
        assert!(err.to_string().contains("nothing but comments for 0.3 s"), "{err}");
        assert!(start.elapsed() < Duration::from_secs(4), "{}", wire.name);
    }
}

#[tokio::test]
async fn comments_alone_do_not_keep_an_answer_open_for_ever() {
    for wire in WIRES {
        let server = drip(wire.hello, COMMENT, ENDLESS, String::new());
        let request = Request::new("m", vec![Message::user("hi")]);
        let provider = wire.provider(&server.url());

        let events = provider.stream(&request, &CancellationToken::new()).await.unwrap();
        let events: Vec<_> = events.collect().await;

        assert_eq!(events.len(), 2, "{}", wire.name);
        assert_eq!(events[0].as_ref().unwrap(), &ModelEvent::Text("hello".to_owned()));
        let err = events[1].as_ref().unwrap_err();
        assert_eq!(err.kind(), Kind::Timeout, "{err}");
        assert!(err.to_string().contains("nothing but comments"), "{err}");
    }
}

#[tokio::test]
async fn comments_keep_a_slow_endpoint_up_to_its_first_event() {
    for wire in WIRES {
        let server = drip("", COMMENT, 12, wire.answer());
        let provider = wire.provider_that_waits(&server.url(), limits(20_000, 200));

        assert_eq!(ask(&*provider).await.unwrap().text(), "hello", "{}", wire.name);
    }
}

#[tokio::test]
async fn a_comment_is_not_yet_the_first_of_an_answer() {
    for wire in WIRES {
        // After the comment there is silence for longer than an answer that has begun may pause.
        let server = drip(COMMENT, "", 12, wire.answer());
        let provider = wire.provider_that_waits(&server.url(), limits(20_000, 50));

        assert_eq!(ask(&*provider).await.unwrap().text(), "hello", "{}", wire.name);
    }
}

#[tokio::test]
async fn an_answer_that_is_only_announced_may_take_as_long_as_the_first_of_one() {
    for wire in WIRES {
        let server = drip("data: {\"type\":\"ping\"}\n\n", "", 12, wire.answer());
        let provider = wire.provider_that_waits(&server.url(), limits(20_000, 50));

        assert_eq!(ask(&*provider).await.unwrap().text(), "hello", "{}", wire.name);
    }
}

#[tokio::test]
async fn an_answer_that_never_ends_is_given_up() {
    for wire in WIRES {
        let server = drip(wire.hello, "data: {\"type\":\"ping\"}\n\n", ENDLESS, String::new());
        let timeouts = limits(20_000, 20_000).with_whole(Duration::from_millis(400));
        let start = Instant::now();

        let err = ask(&*wire.provider_that_waits(&server.url(), timeouts)).await.unwrap_err();

        assert_eq!(err.kind(), Kind::Timeout, "{}: {err}", wire.name);
        assert!(err.to_string().contains("did not come to an end for 0.4 s"), "{err}");
        assert!(start.elapsed() < Duration::from_secs(4), "{}", wire.name);
    }
}

#[tokio::test]
async fn what_the_caller_takes_between_two_events_does_not_count() {
    for wire in WIRES {
        // A second passes until the end, of which a fifth is waited for.
        let server = drip(wire.hello, wire.hello, 25, wire.stop.to_owned());
        let timeouts = limits(20_000, 20_000).with_whole(Duration::from_millis(900));
        let provider = wire.provider_that_waits(&server.url(), timeouts);
        let request = Request::new("m", vec![Message::user("hi")]);

        let mut events = provider.stream(&request, &CancellationToken::new()).await.unwrap();
        events.next().await.unwrap().unwrap();
        tokio::time::sleep(Duration::from_millis(800)).await;
        let rest: Vec<_> = events.collect().await;

        let said = rest.iter().filter(|it| matches!(it, Ok(ModelEvent::Text(_))));
        assert_eq!(said.count(), 25, "{}: {:?}", wire.name, rest.last());
    }
}

#[tokio::test]
async fn an_answer_that_says_too_much_is_given_up() {
    for wire in WIRES {
        let piece = wire.hello.replace("hello", &"x".repeat(8 * 1024 * 1024));
        let server = Server::start(vec![Reply::Bytes(sse(&piece.repeat(9)))]);
        let timeouts = limits(60_000, 60_000);

        let err = ask(&*wire.provider_that_waits(&server.url(), timeouts)).await.unwrap_err();

        assert_eq!(err.kind(), Kind::Protocol, "{}: {err}", wire.name);
        assert!(err.to_string().contains("more than 64 MiB"), "{err}");
    }
}

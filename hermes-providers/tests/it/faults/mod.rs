//! What goes wrong with endpoints, one row per class of fault, on every wire. After each, the provider
//! and the session go on.

mod stage;
mod table;

use std::{collections::BTreeSet, time::Duration};

use futures::StreamExt;
use hermes_core::{
    Agent,
    agent::{AgentError, Finish, FinishedTurn},
    message::Message,
    provider::{ModelEvent, ProviderErrorKind as Kind, Recovery, Request},
};
use hermes_providers::{OpenAiChat, Timeouts};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use self::table::faults;
use crate::{
    ask,
    server::{Parting, Reply, Server, http, sse, sse_kept},
    wires::{CHAT, KEY, WIRES},
};

#[test]
fn the_table_has_at_least_twenty_classes_on_every_wire() {
    for wire in WIRES {
        let faults = faults(wire);
        let names: BTreeSet<&str> = faults.iter().map(|it| it.name).collect();

        assert!(20 <= names.len(), "{}: {names:?}", wire.name);
        assert_eq!(names.len(), faults.len(), "{}: a name stands twice", wire.name);
    }
}

#[tokio::test]
async fn every_fault_is_a_typed_error_that_says_what_to_do() {
    for wire in WIRES {
        for fault in faults(wire) {
            let name = format!("{} on {}", fault.name, wire.name);
            let mut stage = fault.play.stage(wire);

            let err = ask(&*stage.provider).await.unwrap_err();
            stage.heal();
            let next = ask(&*stage.provider).await;

            assert_eq!(err.kind(), fault.kind, "{name}: {err}");
            for word in fault.words {
                assert!(err.to_string().contains(word), "{name}: no {word:?} in {err}");
            }
            assert!(!format!("{err:?} {err}").contains(KEY), "{name}: {err:?}");
            assert_eq!(next.unwrap().text(), "hello", "{name}");
            let overheard = stage.bystander.map(|it| it.requests()).unwrap_or_default();
            assert!(overheard.is_empty(), "{name}: {overheard:?}");
        }
    }
}

#[tokio::test]
async fn a_session_goes_on_after_every_fault() {
    for wire in WIRES {
        for fault in faults(wire) {
            let name = format!("{} on {}", fault.name, wire.name);
            let mut stage = fault.play.stage(wire);
            let agent = Agent::builder(stage.provider.clone()).model("m").build().unwrap();
            let session = agent.session();

            let broken = session.send("hi").await;
            stage.heal();
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
    for wire in WIRES {
        for fault in faults(wire).into_iter().filter(|it| it.name.starts_with("limits")) {
            let stage = fault.play.stage(wire);

            let err = ask(&*stage.provider).await.unwrap_err();

            let pause = Some(Duration::from_secs(7));
            assert_eq!(err.recovery(), Recovery::Retry(pause), "{} on {}", fault.name, wire.name);
        }
    }
}

#[tokio::test]
async fn a_request_that_a_kept_connection_swallowed_is_sent_again_once() {
    for wire in WIRES {
        let kept = Reply::Kept(sse_kept(&wire.answer()), Parting::Close);
        let server = Server::start(vec![kept, Reply::Bytes(Vec::new())]);
        let provider = wire.provider(&server.url());

        let first = ask(&*provider).await.unwrap();
        let second = ask(&*provider).await.unwrap_err();
        let third = ask(&*provider).await.unwrap_err();

        assert_eq!(first.text(), "hello");
        assert_eq!((second.kind(), third.kind()), (Kind::Unreachable, Kind::Unreachable));
        // Beside the first and the one that was swallowed: the second anew, and the third.
        assert_eq!(server.requests().len(), 3, "{}", wire.name);
    }
}

#[tokio::test]
async fn an_answer_that_failed_lets_go_of_its_connection() {
    for wire in WIRES {
        let (gone, is_gone) = std::sync::mpsc::channel();
        let answer = sse(&format!("{}{}", wire.hello, wire.error));
        let server = Server::start(vec![Reply::Watched(answer, gone)]);
        let request = Request::new("m", vec![Message::user("hi")]);
        let provider = wire.provider(&server.url());
        let mut events = provider.stream(&request, &CancellationToken::new()).await.unwrap();

        let said = events.next().await.unwrap().unwrap();
        let failed = events.next().await.unwrap().unwrap_err();

        assert_eq!(said, ModelEvent::Text("hello".to_owned()));
        assert_eq!(failed.kind(), Kind::Overloaded);
        let waited =
            tokio::task::spawn_blocking(move || is_gone.recv_timeout(Duration::from_secs(5)));
        assert!(waited.await.unwrap().is_ok(), "{}", wire.name);
        assert!(events.next().await.is_none());
    }
}

/// A server whose queue is full takes no more connections, and says nothing about it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_connection_that_does_not_come_about_is_given_up_in_time() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let limit = Duration::from_millis(100);
    let mut waiting = Vec::new();
    while let Ok(one) = tokio::time::timeout(limit, TcpStream::connect(address)).await {
        waiting.push(one.unwrap());
    }
    let provider = OpenAiChat::builder(format!("http://{address}"))
        .timeouts(Timeouts::default().with_connect(limit))
        .build()
        .unwrap();

    let err = ask(&provider).await.unwrap_err();

    assert_eq!(err.kind(), Kind::Timeout, "{err}");
    assert!(err.to_string().contains("no connection in time"), "{err}");
    assert_eq!(err.recovery(), Recovery::Retry(None));
}

#[tokio::test]
async fn a_redirect_at_home_is_followed() {
    for wire in WIRES {
        let headers = format!("location: {}/\r\n", wire.path);
        let moved = http("308 Permanent Redirect", &headers, "");
        let server = Server::start(vec![moved, wire.good()]);

        let answer = ask(&*wire.provider(&server.url())).await.unwrap();

        assert_eq!(answer.text(), "hello");
        assert_eq!(server.requests().len(), 2);
        assert!(server.requests()[1].contains(KEY), "{}", wire.name);
    }
}

#[cfg(feature = "rustls")]
#[tokio::test]
async fn the_default_client_trusts_no_certificate_that_is_signed_by_itself() {
    for wire in WIRES {
        let certificate = crate::tls::Certificate::new();
        let address = crate::tls::start(&[certificate], Vec::new());

        let err = ask(&*wire.provider(&format!("https://{address}"))).await.unwrap_err();

        assert_eq!(err.kind(), Kind::Certificate, "{err}");
        assert_eq!(err.recovery(), Recovery::GiveUp);
    }
}

#[cfg(feature = "rustls")]
#[tokio::test]
async fn a_server_without_tls_is_no_https_endpoint() {
    let server = Server::start(vec![Reply::Bytes(Vec::new())]);

    let err = ask(&*CHAT.provider(&server.url().replace("http:", "https:"))).await.unwrap_err();

    assert!(matches!(err.kind(), Kind::Unreachable | Kind::Timeout), "{err}");
}

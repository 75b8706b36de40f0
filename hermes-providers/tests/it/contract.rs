//! The contract of providers, on every wire.

use hermes_core::{message::Message, provider::Request, testing::conformance};

use crate::{
    server::{Reply, Server, sse},
    wires::WIRES,
};

fn request() -> Request {
    Request::new("m", vec![Message::user("hi")])
}

#[tokio::test]
async fn the_contract_is_kept() {
    for wire in WIRES {
        let body = format!("{}{}", wire.hello, wire.answer());
        let server = Server::start(vec![Reply::Bytes(sse(&body))]);

        conformance::provider(&*wire.provider(&server.url()), &request()).await;
    }
}

#[tokio::test]
async fn the_contract_is_kept_with_an_endpoint_that_says_nothing() {
    for wire in WIRES {
        for start in [Vec::new(), sse(wire.hello)] {
            let server = Server::start(vec![Reply::Hang(start)]);

            conformance::pending_provider(&*wire.provider(&server.url()), &request()).await;
        }
    }
}

/// A dead proxy in the environment of another process, which runs the simplest test of each wire.
#[test]
fn proxies_in_the_environment_are_not_used() {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
    {
        command.env(name, "http://127.0.0.1:9");
    }
    command.env_remove("NO_PROXY").env_remove("no_proxy");
    let modules = ["streams", "responses", "anthropic"];
    let tests = modules.map(|module| format!("{module}::an_answer_streams"));

    let output = command.args(tests).arg("--exact").output().unwrap();

    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("3 passed"), "{text}");
}

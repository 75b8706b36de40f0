//! Redirects, with the default client and with clients that the host brings: the key stays at home.

use hermes_core::provider::ProviderErrorKind as Kind;
use hermes_providers::{client_builder, reqwest::Client};

use crate::{
    ask,
    server::{Reply, Server, http},
    wires::{KEY, WIRES},
};

const REPEATING: [&str; 2] = ["307 Temporary Redirect", "308 Permanent Redirect"];
const CHANGING: [&str; 3] = ["301 Moved Permanently", "302 Found", "303 See Other"];

fn moved(status: &str, to: &str) -> Reply {
    http(status, &format!("location: {to}\r\n"), "")
}

/// A client as a host may have it, which follows redirects anywhere.
fn foreign() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

fn of_ours() -> Client {
    client_builder().build().unwrap()
}

#[tokio::test]
async fn nothing_goes_to_another_host_with_a_client_of_our_making() {
    for wire in WIRES {
        for status in REPEATING.into_iter().chain(CHANGING) {
            let other = Server::start(vec![wire.good()]);
            let to = format!("http://user:geheimnis@{}{}", other.address(), wire.path);
            let server = Server::start(vec![moved(status, &to)]);

            let err = ask(&*wire.provider_with(&server.url(), of_ours())).await.unwrap_err();

            assert_eq!(err.kind(), Kind::EndpointNotFound, "{status} on {}: {err}", wire.name);
            assert!(err.to_string().contains(&format!("{}{}", other.url(), wire.path)), "{err}");
            assert!(!format!("{err} {err:?}").contains(KEY), "{err:?}");
            assert!(other.requests().is_empty(), "{status} on {}", wire.name);
        }
    }
}

#[tokio::test]
async fn neither_key_nor_body_is_repeated_at_another_host_by_a_foreign_client() {
    for wire in WIRES {
        for status in REPEATING {
            let other = Server::start(vec![wire.good()]);
            let to = format!("{}{}", other.url(), wire.path);
            let server = Server::start(vec![moved(status, &to)]);

            let err = ask(&*wire.provider_with(&server.url(), foreign())).await.unwrap_err();

            assert_eq!(err.kind(), Kind::EndpointNotFound, "{status} on {}: {err}", wire.name);
            assert!(other.requests().is_empty(), "{status} on {}", wire.name);
        }
    }
}

#[tokio::test]
async fn an_answer_from_where_a_foreign_client_was_led_is_none_and_the_body_stays_at_home() {
    for wire in WIRES {
        for status in CHANGING {
            let other = Server::start(vec![moved(REPEATING[0], wire.path), wire.good()]);
            let to = format!("{}{}", other.url(), wire.path);
            let server = Server::start(vec![moved(status, &to)]);

            let err = ask(&*wire.provider_with(&server.url(), foreign())).await.unwrap_err();

            assert_eq!(err.kind(), Kind::EndpointNotFound, "{status} on {}: {err}", wire.name);
            assert!(err.to_string().contains(&other.url()), "{err}");
            assert!(err.to_string().contains("client_builder"), "{err}");
            let heard = other.requests();
            assert_eq!(heard.len(), 2, "{}", wire.name);
            let is_bare = |it: &String| it.starts_with("GET ") && it.ends_with("\r\n\r\n");
            assert!(heard.iter().all(is_bare), "{heard:?}");
        }
    }
}

#[tokio::test]
async fn a_request_is_repeated_at_home_whatever_the_client() {
    for wire in WIRES {
        for (client, status) in [(foreign(), REPEATING[0]), (of_ours(), REPEATING[1])] {
            let reply = moved(status, &format!("{}/", wire.path));
            let server = Server::start(vec![reply, wire.good()]);

            let answer = ask(&*wire.provider_with(&server.url(), client)).await.unwrap();

            assert_eq!(answer.text(), "hello");
            let requests = server.requests();
            assert_eq!(requests.len(), 2, "{}", wire.name);
            let body = |nth: usize| requests[nth].split_once("\r\n\r\n").unwrap().1;
            assert!(requests[1].contains(KEY) && body(0) == body(1), "{}", wire.name);
            assert!(requests[1].to_lowercase().contains("content-length: "), "{}", wire.name);
        }
    }
}

#[tokio::test]
async fn a_circle_of_redirects_at_home_comes_to_an_end() {
    for wire in WIRES {
        for client in [foreign(), of_ours()] {
            let server = Server::start(vec![moved(REPEATING[0], wire.path)]);

            let err = ask(&*wire.provider_with(&server.url(), client)).await.unwrap_err();

            assert_eq!(err.kind(), Kind::EndpointNotFound, "{}: {err}", wire.name);
            assert_eq!(server.requests().len(), 4, "{}", wire.name);
        }
    }
}

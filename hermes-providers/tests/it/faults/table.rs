//! The faults, one row a class.

use hermes_core::provider::ProviderErrorKind as Kind;

use super::stage::Play;
use crate::{
    server::{Parting, Reply, gzip_that_is_cut, http, json, sse, sse_kept},
    wires::{Called, KEY, Wire},
};

/// One class of fault.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    pub(crate) play: Play,
    pub(crate) kind: Kind,
    /// A word of the message that names the cause, and one that says what to do.
    pub(crate) words: [&'static str; 2],
}

/// Returns all faults, as they are on `wire`.
pub(crate) fn faults(wire: Wire) -> Vec<Fault> {
    [
        connections(),
        addresses(),
        accounts(),
        requests(),
        troubles(),
        answers(),
        streams(wire),
        kept(wire),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn fault(name: &'static str, play: Play, kind: Kind, words: [&'static str; 2]) -> Fault {
    Fault { name, play, kind, words }
}

fn answer(name: &'static str, reply: Reply, kind: Kind, words: [&'static str; 2]) -> Fault {
    fault(name, Play::Answer(reply), kind, words)
}

fn error(status: &str, message: &str, code: &str) -> Reply {
    json(status, &format!(r#"{{"error":{{"message":"{message}","code":"{code}"}}}}"#))
}

fn html(status: &str) -> Reply {
    const HTML: &str = "<!DOCTYPE html><html><head><title>Welcome to\n nginx</title></head></html>";
    http(status, "content-type: text/html\r\n", HTML)
}

/// No answer at all.
fn connections() -> Vec<Fault> {
    let bytes = |bytes: &[u8]| Reply::Bytes(bytes.to_vec());
    vec![
        fault(
            "does not listen",
            Play::ClosedPort,
            Kind::Unreachable,
            ["connection refused", "running"],
        ),
        fault("has no such name", Play::UnknownName, Kind::Unreachable, ["name", "base URL"]),
        #[cfg(feature = "rustls")]
        fault(
            "signed its certificate itself",
            Play::UntrustedCertificate,
            Kind::Certificate,
            ["certificate was refused", "give the client the root"],
        ),
        answer("hangs up", bytes(b""), Kind::Unreachable, ["broke", "ask again"]),
        answer(
            "speaks no HTTP",
            bytes(b"hello there\r\n"),
            Kind::Unreachable,
            ["broke", "base URL"],
        ),
        answer("is silent", Reply::Hang(Vec::new()), Kind::Timeout, ["silent", "more time"]),
    ]
}

/// A base URL that leads to something else.
fn addresses() -> Vec<Fault> {
    let kind = Kind::EndpointNotFound;
    let no_path = json("404 Not Found", r#"{"detail":"Not Found"}"#);
    let no_post = json("405 Method Not Allowed", "{}");
    let elsewhere = http("302 Found", "location: https://else.where/v1?k=v\r\n", "");
    vec![
        answer("answers with a page", html("200 OK"), kind, ["Welcome to nginx", "base URL"]),
        answer("has no such page", html("404 Not Found"), kind, ["HTML page", "base URL"]),
        answer("has no such path", no_path, kind, ["Not Found", "base URL"]),
        answer("does not take posts", no_post, kind, ["405", "base URL"]),
        answer("leads elsewhere", elsewhere, kind, ["https://else.where/v1,", "base URL"]),
        fault("leads to another host", Play::Redirect, kind, ["redirects to", "base URL"]),
    ]
}

/// A key or an account that does not serve.
fn accounts() -> Vec<Fault> {
    let incorrect = format!("Incorrect API key provided: {KEY}");
    let key = error("401 Unauthorized", &incorrect, "invalid_api_key");
    let quota = error("429 Too Many Requests", "no quota", "insufficient_quota");
    let money = error("402 Payment Required", "no money", "");
    let forbidden = error("403 Forbidden", "not for you", "forbidden");
    let retry =
        |value: &str| http("429 Too Many Requests", &format!("retry-after: {value}\r\n"), "");
    let date = "Wed, 21 Oct 2015 07:28:07 GMT\r\ndate: Wed, 21 Oct 2015 07:28:00 GMT";
    vec![
        answer("refuses the key", key, Kind::Auth, ["[redacted]", "check the key"]),
        answer("forbids", forbidden, Kind::Auth, ["not for you", "allowed"]),
        answer("wants money", money, Kind::Billing, ["no money", "top it up"]),
        answer("has no quota left", quota, Kind::Billing, ["no quota", "another key"]),
        answer("limits for seconds", retry("7"), Kind::RateLimited, ["too many", "wait"]),
        answer("limits until a date", retry(date), Kind::RateLimited, ["too many", "wait"]),
    ]
}

/// A request that is not taken.
fn requests() -> Vec<Fault> {
    let overflow = "This model's maximum context length is 8192 tokens";
    let overflow = error("400 Bad Request", overflow, "");
    let large = http("413 Payload Too Large", "", "");
    let model = error("404 Not Found", "The model `m` does not exist", "model_not_found");
    let malformed = error("400 Bad Request", "bad field", "");
    let filtered = error("400 Bad Request", "filtered", "content_filter");
    vec![
        answer("knows no such model", model, Kind::ModelNotFound, ["`m`", "check the name"]),
        answer("has too small a window", overflow, Kind::ContextOverflow, ["8192", "shorten"]),
        answer("finds it too large", large, Kind::PayloadTooLarge, ["413", "shorten"]),
        answer("calls it malformed", malformed, Kind::BadRequest, ["bad field", "extra fields"]),
        answer("filters", filtered, Kind::ContentPolicy, ["filtered", "another model"]),
    ]
}

/// An endpoint in trouble.
fn troubles() -> Vec<Fault> {
    let again = "ask again later";
    let oops = error("500 Internal Server Error", "oops", "");
    let loading = error("503 Service Unavailable", "Loading model", "");
    let overloaded = http("529 Overloaded", "", "");
    let slow = http("504 Gateway Timeout", "", "");
    vec![
        answer("fails", oops, Kind::ServerError, ["oops", again]),
        answer(
            "fails at the gateway",
            html("502 Bad Gateway"),
            Kind::ServerError,
            ["nginx", again],
        ),
        answer("is loading", loading, Kind::Overloaded, ["Loading", again]),
        answer("is overloaded", overloaded, Kind::Overloaded, ["529", again]),
        answer("takes too long", slow, Kind::Timeout, ["504", again]),
    ]
}

/// An answer of status 200 that is none.
fn answers() -> Vec<Fault> {
    let hidden = error("200 OK", "rate limit reached", "");
    let gzip = http("200 OK", "content-encoding: gzip\r\n", "\u{1f}");
    let cut = Play::AnswerToDecoder(gzip_that_is_cut("data: {}\n\n"));
    let broken = json("200 OK", "{\"choices\":");
    let other = json("200 OK", "{\"hello\":1}");
    let done = Reply::Bytes(sse("data: [DONE]\n\n"));
    let nothing = http("200 OK", "", "");
    let text = format!("upstream timed out for {KEY}");
    let text = http("200 OK", "content-type: text/plain\r\n", &text);
    let late_text = Reply::Bytes(sse(": wait\n\nno healthy upstream\n"));
    let field = Reply::Bytes(sse("error: out of memory\n\n"));
    let data = Reply::Bytes(sse("data: busy here\n\n"));
    vec![
        answer("hides an error", hidden, Kind::RateLimited, ["rate limit reached", "wait"]),
        answer("compresses unasked", gzip, Kind::Protocol, ["gzip", "decode"]),
        fault("cuts gzip", cut, Kind::StreamCut, ["compressed answer", "compression off"]),
        answer("sends broken JSON", broken, Kind::Protocol, ["not JSON", "base URL"]),
        answer("sends something else", other, Kind::Protocol, ["cannot be read", "base URL"]),
        answer("sends a text", text, Kind::Timeout, ["upstream timed out for [red", "ask again"]),
        answer("sends a text late", late_text, Kind::Unknown, ["no healthy upstream", "ask again"]),
        answer("sends an error field", field, Kind::Unknown, ["out of memory", "ask again"]),
        answer("sends a text as data", data, Kind::Protocol, ["busy here", "base URL"]),
        answer("sends nothing", nothing, Kind::StreamCut, ["no answer", "ask again"]),
        answer("only says done", done, Kind::StreamCut, ["no answer", "ask again"]),
    ]
}

/// A stream that begins well.
fn streams(wire: Wire) -> Vec<Fault> {
    let hello = wire.hello;
    let begun = |rest: &str| Reply::Bytes(sse(&format!("{hello}{rest}")));
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n400\r\n";
    let chunked = Reply::Bytes(format!("{chunked}{hello}").into_bytes());
    let overloaded = Kind::Overloaded;
    vec![
        answer(
            "has a broken event",
            begun("data: {\"ty\n\n"),
            Kind::Protocol,
            ["JSON", "base URL"],
        ),
        answer(
            "makes calls without end",
            wire.calling(&[Called {
                index: 0,
                id: "c",
                name: "x",
                arguments: &r#"{"n":1}"#.repeat(8_000),
            }]),
            Kind::Protocol,
            ["more than 1024 calls", "limit the tokens"],
        ),
        answer(
            "says that it broke",
            begun(&wire.odd_stop.replace("odd", "insufficient_system_resource")),
            Kind::StreamCut,
            ["insufficient_system_resource", "ask again"],
        ),
        answer("has an error", begun(wire.error), overloaded, ["overloaded", "ask again"]),
        answer(
            "ends in a text",
            begun("502 Bad Gateway\n"),
            Kind::StreamCut,
            ["502 Bad Gateway", "ask again"],
        ),
        answer("ends between events", begun(""), Kind::StreamCut, ["early", "ask again"]),
        answer("ends in an event", begun("data: {\"ty"), Kind::StreamCut, ["early", "ask again"]),
        answer("ends in a chunk", chunked, Kind::StreamCut, ["broke", "ask again"]),
        answer("falls silent", Reply::Hang(sse(hello)), Kind::Timeout, ["silent", "more time"]),
    ]
}

/// A stream that is cut, on a connection that seems good for another request and is not.
fn kept(wire: Wire) -> Vec<Fault> {
    let cut = |name, parting, events: &str, word| {
        let reply = Reply::Kept(sse_kept(events), parting);
        answer(name, reply, Kind::StreamCut, [word, "ask again"])
    };
    vec![
        cut("says nothing and closes late", Parting::Close, "", "no answer"),
        cut("says nothing and resets late", Parting::Reset, "", "no answer"),
        cut("cuts and closes late", Parting::Close, wire.hello, "early"),
        cut("cuts and resets late", Parting::Reset, wire.hello, "early"),
        cut("cuts and leaves garbage", Parting::Garbage, wire.hello, "early"),
    ]
}

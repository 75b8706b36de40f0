//! The terminal chat as a real process, against a real server on loopback.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, OnceLock},
    thread,
    time::Duration,
};

/// What the server does with one request.
enum Answer {
    /// Streams these pieces of JSON and the last line of a stream.
    Stream(Vec<String>),
    /// Streams these and breaks off.
    Cut(Vec<String>),
    /// Streams these and then says nothing more.
    Hang(Vec<String>),
    /// A page of another kind of server.
    Html,
}

fn text(text: &str) -> String {
    serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}}]}).to_string()
}

fn stop() -> String {
    serde_json::json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}).to_string()
}

fn call(name: &str, arguments: &str) -> String {
    let function = serde_json::json!({"name": name, "arguments": arguments});
    let call =
        serde_json::json!([{"index": 0, "id": "c1", "type": "function", "function": function}]);
    serde_json::json!({"choices": [{"index": 0, "delta": {"tool_calls": call}, "finish_reason": "tool_calls"}]}).to_string()
}

fn says(what: &str) -> Answer {
    Answer::Stream(vec![text(what), stop()])
}

/// Serves `answers`, one a request, and returns the base URL and the bodies that came.
fn serve(answers: Vec<Answer>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let bodies: Arc<Mutex<Vec<String>>> = Arc::default();
    let record = Arc::clone(&bodies);
    thread::spawn(move || {
        let mut kept = Vec::new();
        for answer in answers {
            let Ok((mut stream, _)) = listener.accept() else { return };
            record.lock().unwrap().push(read_body(&mut stream));
            respond(&mut stream, &answer);
            if matches!(answer, Answer::Hang(_)) {
                kept.push(stream);
            }
        }
        // Connections that hang stay open until the test is over.
        thread::sleep(Duration::from_secs(30));
        drop(kept);
    });
    (address, bodies)
}

fn read_body(stream: &mut TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

fn respond(stream: &mut TcpStream, answer: &Answer) {
    let (pieces, kind) = match answer {
        Answer::Stream(pieces) | Answer::Cut(pieces) | Answer::Hang(pieces) => {
            (pieces.clone(), "text/event-stream")
        }
        Answer::Html => {
            (vec!["<html><body>Welcome to nginx!</body></html>".to_owned()], "text/html")
        }
    };
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
    let mut body: String = match answer {
        Answer::Html => pieces.concat(),
        _ => pieces.iter().map(|it| ["data: ", it, "\n\n"].concat()).collect(),
    };
    if matches!(answer, Answer::Stream(_)) {
        body.push_str("data: [DONE]\n\n");
    }
    // A client that has gone away is no concern of the server.
    let _ = stream.write_all([head, body].concat().as_bytes());
    let _ = stream.flush();
}

/// Returns the program, built anew if need be: cargo builds examples only with all tests.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let tests = std::env::current_exe().unwrap();
        let profile = tests.parent().and_then(Path::parent).unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "-q", "-p", "hermes-examples", "--example", "chat", "--target-dir"]);
        build.arg(profile.parent().unwrap());
        if profile.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success(), "the chat cannot be built");
        profile.join("examples/chat")
    })
}

fn start(home: &Path, address: &str, more: &[&str]) -> Child {
    Command::new(program())
        .args(["--base-url", address, "--model", "scripted", "--home"])
        .arg(home)
        .args(more)
        .env_remove("OPENAI_API_KEY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Types `input`, ends it, and returns all that the program wrote.
fn finish(mut child: Child, input: impl AsRef<[u8]>) -> String {
    child.stdin.take().unwrap().write_all(input.as_ref()).unwrap();
    let output = child.wait_with_output().unwrap();
    let all = [output.stdout, output.stderr].concat();
    let all = String::from_utf8(all).unwrap();
    assert!(output.status.success(), "{all}");
    all
}

#[test]
fn an_answer_streams_and_a_fact_is_kept_and_reviewed() {
    let home = tempfile::tempdir().unwrap();
    let fact = r#"{"action":"add","target":"memory","content":"The registry is at reg.test."}"#;
    let (address, bodies) = serve(vec![
        Answer::Stream(vec![call("memory", fact)]),
        says("Noted."),
        Answer::Stream(vec![call(
            "memory",
            r#"{"action":"add","target":"user","content":"Runs a registry."}"#,
        )]),
        says("Saved one fact."),
    ]);

    // The first turn writes memory itself, so nothing is due; skills are, after one round.
    let child = start(home.path(), &address, &["--tool-choice", "memory", "--skill-rounds", "1"]);
    let shown = finish(child, "Our registry is at reg.test.\n");

    assert!(shown.contains("Noted."), "{shown}");
    assert!(shown.contains("[Memory: created]"), "{shown}");
    assert!(shown.contains("[review: "), "{shown}");
    let kept = std::fs::read_to_string(home.path().join("memories/MEMORY.md")).unwrap();
    assert_eq!(kept, "The registry is at reg.test.");
    let first: serde_json::Value = serde_json::from_str(&bodies.lock().unwrap()[0]).unwrap();
    assert_eq!(first["tool_choice"]["function"]["name"], "memory");

    let (address, bodies) = serve(vec![says("Hello again.")]);
    finish(start(home.path(), &address, &[]), "Hello.\n");
    assert!(bodies.lock().unwrap()[0].contains("The registry is at reg.test."));
}

#[test]
fn errors_are_shown_and_the_chat_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let (address, bodies) =
        serve(vec![Answer::Html, Answer::Cut(vec![text("half an ans")]), says("All is well.")]);

    let shown = finish(start(home.path(), &address, &[]), "one\ntwo\nthree\n");

    assert_eq!(shown.matches("[error: the model could not be asked").count(), 2, "{shown}");
    assert!(shown.contains("half an ans") && shown.contains("All is well."), "{shown}");
    let last = bodies.lock().unwrap()[2].clone();
    assert!(
        last.contains("one") && last.contains("half an ans") && last.contains("three"),
        "{last}"
    );
}

#[test]
fn an_endpoint_that_is_down_is_named() {
    let home = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();

    let shown =
        finish(start(home.path(), &format!("http://{free}/v1"), &["--retries", "0"]), "one\n");

    assert!(shown.contains("connection refused"), "{shown}");
    assert!(shown.contains(&free.to_string()), "{shown}");
}

#[test]
fn an_interrupt_cancels_the_answer_and_keeps_the_conversation() {
    let home = tempfile::tempdir().unwrap();
    let (address, bodies) = serve(vec![Answer::Hang(vec![text("I was about to")]), says("Go on.")]);
    let mut child = start(home.path(), &address, &[]);
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();

    input.write_all(b"one\n").unwrap();
    read_until(&mut output, "I was about to");
    interrupt(&child);
    read_until(&mut output, "[cancelled");
    input.write_all(b"two\n").unwrap();
    read_until(&mut output, "Go on.");
    drop(input);

    assert!(child.wait().unwrap().success());
    assert!(bodies.lock().unwrap()[1].contains("I was about to"));
}

#[test]
fn a_second_interrupt_ends_the_chat() {
    let home = tempfile::tempdir().unwrap();
    let (address, _) = serve(vec![Answer::Hang(vec![text("I was about to")])]);
    let mut child = start(home.path(), &address, &[]);
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();

    input.write_all(b"one\n").unwrap();
    read_until(&mut output, "I was about to");
    interrupt(&child);
    read_until(&mut output, "[cancelled");
    interrupt(&child);

    assert!(child.wait().unwrap().success());
}

#[test]
fn a_line_that_is_no_text_is_told_and_the_chat_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let (address, _) = serve(vec![says("Hello.")]);

    let shown = finish(start(home.path(), &address, &[]), b"\xff\xfe\none\n");

    assert!(shown.contains("[error: the line cannot be read"), "{shown}");
    assert!(shown.contains("Hello."), "{shown}");
}

#[test]
fn a_preset_that_is_not_known_names_those_that_are() {
    let home = tempfile::tempdir().unwrap();

    let child = start(home.path(), "http://127.0.0.1:1/v1", &["--preset", "nobody"]);
    let output = child.wait_with_output().unwrap();

    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("llama-cpp-python, llama.cpp"));
}

fn interrupt(child: &Child) {
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
}

/// Reads until `wanted` has been written.
fn read_until(output: &mut impl Read, wanted: &str) {
    let mut shown = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&shown).contains(wanted) {
        assert_eq!(output.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&shown));
        shown.extend(byte);
    }
}

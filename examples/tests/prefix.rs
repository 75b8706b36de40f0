//! What reaches an endpoint: every request begins with the bytes of the one before, review included,
//! so that the endpoint's cache of the prefix is warm.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::sync::{Arc, Mutex};

use hermes_core::{Agent, tool};
use hermes_memory::{FileMemory, Memory};
use hermes_providers::OpenAiChat;
use hermes_review::{Intervals, NudgePolicy};
use hermes_skills::{FsSkills, Skills};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Answers requests with `replies`, one after the other, as streams.
async fn serve(listener: TcpListener, replies: Vec<Value>, bodies: Arc<Mutex<Vec<Vec<u8>>>>) {
    for reply in replies {
        let (mut stream, _) = listener.accept().await.unwrap();
        let body = read_body(&mut stream).await;
        bodies.lock().unwrap().push(body);
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
             data: {reply}\n\ndata: [DONE]\n\n"
        );
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
    }
}

async fn read_body(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = vec![0; 8192];
        let count = stream.read(&mut chunk).await.unwrap();
        bytes.extend_from_slice(&chunk[..count]);
        let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|it| it.strip_prefix("content-length:")).unwrap();
        if bytes.len() == end + 4 + length.trim().parse::<usize>().unwrap() {
            return bytes.split_off(end + 4);
        }
    }
}

fn says(text: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]})
}

fn calls(id: &str, name: &str, arguments: &Value) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let call = json!({"index": 0, "id": id, "type": "function", "function": function});
    let delta = json!({"tool_calls": [call]});
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]})
}

/// Returns the bytes of a body up to the end of its messages, without what closes the list.
fn shared_part(body: &[u8]) -> &[u8] {
    body.strip_suffix(b"]}").unwrap()
}

#[tokio::test]
async fn requests_share_their_bytes_to_the_end_of_the_history() {
    let home = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let bodies = Arc::default();
    let fact = json!({"action": "add", "content": "Kilometres are preferred."});
    let replies = vec![
        calls("c1", "distance", &json!({"to": "Oslo"})),
        says("It is 500 km."),
        says("You are welcome."),
        calls("r1", "memory", &fact),
        says("Saved one fact."),
    ];
    let server = tokio::task::spawn_blocking({
        let (runtime, bodies) = (tokio::runtime::Handle::current(), Arc::clone(&bodies));
        move || runtime.block_on(serve(listener, replies, bodies))
    });
    let distance =
        tool::from_fn("distance", "Tells a distance.", |_: Value, _| async { Ok("500") });
    let agent = Agent::builder(OpenAiChat::builder(address).build().unwrap())
        .model("scripted")
        .identity("You plan trips — auch auf Deutsch.")
        .tool(distance)
        .memory(Memory::new(FileMemory::new(home.path())))
        .skills(Skills::new(FsSkills::new(home.path())))
        .review(NudgePolicy::new(Intervals::new(2, 0)))
        .build()
        .unwrap();
    let session = agent.session();

    session.send("How far is Oslo?").await.unwrap();
    let second = session.send("Thank you, I prefer kilometres.").await.unwrap();
    let report = second.review.unwrap().await.unwrap();
    server.await.unwrap();

    assert_eq!(report.lines(), ["Memory: created"]);
    let bodies = bodies.lock().unwrap();
    assert_eq!(bodies.len(), 5);
    for (earlier, later) in bodies.iter().zip(bodies.iter().skip(1)) {
        let earlier = shared_part(earlier);
        assert!(later.starts_with(earlier), "{}", String::from_utf8_lossy(later));
        assert!(earlier.len() < later.len());
    }
    let review: Value = serde_json::from_slice(&bodies[3]).unwrap();
    assert_eq!(review["messages"].as_array().unwrap().len(), 8);
}

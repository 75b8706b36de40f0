//! A server on loopback that answers as it is told and keeps what it was asked.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// One answer: status, headers and body.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    /// Creates a stream of events, one for each text of `data`.
    pub(crate) fn events<'a>(data: impl IntoIterator<Item = &'a str>) -> Self {
        let mut body = String::new();
        for data in data {
            write!(body, "data: {data}\n\n").unwrap();
        }
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        Self { status: 200, headers, body }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} Answer\r\n", self.status);
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        let length = self.body.len();
        write!(head, "content-length: {length}\r\nconnection: close\r\n\r\n").unwrap();
        [head.as_bytes(), self.body.as_bytes()].concat()
    }
}

/// The server. It ends with the runtime.
pub(crate) struct Server {
    address: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    /// Answers one request after the other with `answers`, and the rest with the last of them.
    pub(crate) async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Value>>> = Arc::default();
        let record = Arc::clone(&requests);
        drop(tokio::task::spawn_blocking({
            let runtime = tokio::runtime::Handle::current();
            move || runtime.block_on(accept(listener, answers, record))
        }));
        Self { address, requests }
    }

    /// Returns the base URL.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns the bodies of the requests so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

async fn accept(listener: TcpListener, answers: Vec<Answer>, record: Arc<Mutex<Vec<Value>>>) {
    let mut number = 0;
    loop {
        let Ok((mut stream, _)) = listener.accept().await else { return };
        let Some(body) = read_body(&mut stream).await else { continue };
        record.lock().unwrap().push(serde_json::from_slice(&body).unwrap_or_default());
        let Some(answer) = answers.get(number).or(answers.last()) else { return };
        number += 1;
        // A client that has gone away is no concern of the server.
        let _ = stream.write_all(&answer.bytes()).await;
        let _ = stream.shutdown().await;
    }
}

async fn read_body(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await.ok()?;
        if count == 0 {
            return None;
        }
        bytes.extend_from_slice(chunk.get(..count)?);
        let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(bytes.get(..end)?).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"))?;
        let length: usize = length.trim().parse().ok()?;
        if bytes.len() == end + 4 + length {
            return bytes.get(end + 4..).map(<[u8]>::to_vec);
        }
    }
}

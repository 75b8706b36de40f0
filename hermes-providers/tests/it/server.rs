//! A raw server: it answers with exactly the bytes it is given.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, mpsc::Sender},
    time::Duration,
};

/// What a connection gets for its request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// These bytes; then the connection is closed.
    Bytes(Vec<u8>),
    /// These bytes; then nothing, until the client goes away.
    Hang(Vec<u8>),
    /// As `Hang`, and a note when the client has gone.
    Watched(Vec<u8>, Sender<()>),
    /// These bytes, then a piece again and again, so many times, then the rest.
    Drip(Vec<u8>, Drip),
    /// These bytes on a connection that the client may keep, until it uses it again.
    Kept(Vec<u8>, Parting),
}

/// What comes in small pieces, one every 40 milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct Drip {
    pub(crate) piece: &'static str,
    pub(crate) times: usize,
    pub(crate) rest: String,
}

/// How a server leaves a connection that it said it would keep.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parting {
    /// It closes it while the next request comes.
    Close,
    /// It resets it while the next request comes.
    Reset,
    /// It writes something that no answer begins with.
    Garbage,
}

/// A server on loopback, one reply per connection; the last one repeats.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        Self::start_at(TcpListener::bind("127.0.0.1:0").unwrap(), replies)
    }

    pub(crate) fn start_at(listener: TcpListener, replies: Vec<Reply>) -> Self {
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        // It ends with the process; tests have nothing to wait for.
        std::thread::spawn(move || {
            for nth in 0.. {
                let Ok((stream, _)) = listener.accept() else { return };
                let last = replies.len() - 1;
                let reply = replies.get(nth.min(last)).cloned();
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || serve(stream, reply, &seen));
            }
        });
        Self { address, requests }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the requests so far, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, reply: Option<Reply>, seen: &Mutex<Vec<String>>) {
    let Some(request) = read_request(&stream) else { return };
    seen.lock().unwrap().push(request);
    // A client that went away is what some tests are about.
    let _ = match reply {
        None => Ok(()),
        Some(Reply::Bytes(bytes)) => stream.write_all(&bytes),
        Some(Reply::Hang(bytes)) => {
            let _ = stream.write_all(&bytes);
            stream.read(&mut [0]).map(|_| ())
        }
        Some(Reply::Watched(bytes, gone)) => {
            let _ = stream.write_all(&bytes);
            let _ = stream.read(&mut [0]);
            let _ = gone.send(());
            Ok(())
        }
        Some(Reply::Drip(bytes, drip)) => {
            let _ = stream.write_all(&bytes);
            for _ in 0..drip.times {
                std::thread::sleep(Duration::from_millis(40));
                if stream.write_all(drip.piece.as_bytes()).is_err() {
                    return;
                }
            }
            stream.write_all(drip.rest.as_bytes())
        }
        Some(Reply::Kept(bytes, parting)) => {
            let _ = stream.write_all(&bytes);
            part(stream, parting)
        }
    };
}

fn part(mut stream: TcpStream, parting: Parting) -> std::io::Result<()> {
    match parting {
        Parting::Close => {
            read_request(&stream);
        }
        // What is left unread makes closing a reset.
        Parting::Reset => {
            stream.read_exact(&mut [0])?;
        }
        Parting::Garbage => {
            read_request(&stream);
            stream.write_all(b"0\r\n\r\n")?;
        }
    }
    Ok(())
}

fn read_request(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(format!("{head}{}", String::from_utf8_lossy(&body)))
}

/// Returns an answer with status, headers and a body whose length is told.
pub(crate) fn http(status: &str, headers: &str, body: &str) -> Reply {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    Reply::Bytes(text.into_bytes())
}

/// Returns an answer in JSON.
pub(crate) fn json(status: &str, body: &str) -> Reply {
    http(status, "content-type: application/json\r\n", body)
}

/// Returns a stream of events that ends where the connection does.
pub(crate) fn sse(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}")
        .into_bytes()
}

/// Returns a stream of events that ends by itself, so that the connection can be kept.
pub(crate) fn sse_kept(body: &str) -> Vec<u8> {
    let chunk =
        if body.is_empty() { String::new() } else { format!("{:x}\r\n{body}\r\n", body.len()) };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked";
    format!("{head}\r\n\r\n{chunk}0\r\n\r\n").into_bytes()
}

/// Returns an answer of status 200 in gzip that ends before its data does.
pub(crate) fn gzip_that_is_cut(body: &str) -> Reply {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                content-encoding: gzip\r\nconnection: close\r\n\r\n";
    let mut bytes = head.as_bytes().to_vec();
    bytes.extend([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
    // One block that is stored as it is, and says that it is longer.
    let length = u16::try_from(body.len()).unwrap() + 100;
    bytes.push(1);
    bytes.extend(length.to_le_bytes());
    bytes.extend((!length).to_le_bytes());
    bytes.extend(body.as_bytes());
    Reply::Bytes(bytes)
}

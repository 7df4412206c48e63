//! A server on loopback with scripted bad answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A server; it answers until the tests end.
pub(crate) struct Server {
    pub(crate) host: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers each connection, by its number from 0 and by its request, then closes it.
    pub(crate) fn new(play: impl Fn(usize, &str, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, play) = (Arc::clone(&requests), Arc::new(play));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (seen, play) = (Arc::clone(&seen), Arc::clone(&play));
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    stream.set_nodelay(true).unwrap();
                    let request = request(&stream);
                    let number = {
                        let mut seen = seen.lock().unwrap();
                        seen.push(request.clone());
                        seen.len() - 1
                    };
                    play(number, &request, &mut stream);
                });
            }
        });
        Self { host, requests }
    }

    /// Sends the same bytes to every connection.
    pub(crate) fn with_response(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self::new(move |_, _, stream| say(stream, &bytes))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.host)
    }

    /// The requests: head and body of each.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Writes; the client may be gone already.
pub(crate) fn say(stream: &mut TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

/// Keeps silent until the other side has gone.
pub(crate) fn hang(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0; 1]);
}

/// A response with a body and its length.
pub(crate) fn response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or(0) > 0 {}
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase()
            .strip_prefix("content-length: ")?
            .parse()
            .ok()
    });
    let mut body = vec![0; length.unwrap_or(0)];
    // A client that was killed during a request has sent a part.
    let _ = reader.read_exact(&mut body);
    head + &String::from_utf8(body).unwrap()
}

//! Messages over standard input and output, one thread each way. A message that is none is answered with an error and
//! passed over; only the end of the input ends the connection.

use super::dispatch::{Ended, serve};
use lsp_server::{Connection, Message};
use serde_json::json;
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A message longer than this is none: 256 MiB.
const LONGEST: u64 = 256 << 20;

/// Serves the client at the other end of the process's input and output. What was asked before it closed its end is answered.
pub fn serve_stdio() -> Ended {
    let (connection, writer) = stdio();
    let ended = serve(&connection);
    // The writer ends when nothing more can come and all is written, or when nobody is there to read it.
    drop(connection);
    let _ = writer.join();
    ended
}

/// Connects a server to the process's input and output; with the thread that writes.
fn stdio() -> (Connection, JoinHandle<()>) {
    let (server, client) = Connection::memory();
    let out = Arc::new(Mutex::new(io::stdout()));
    let shared = Arc::clone(&out);
    let Connection { sender, receiver } = client;
    let writer = std::thread::spawn(move || {
        for message in receiver {
            let mut out = shared.lock().unwrap_or_else(PoisonError::into_inner);
            // Who has gone away reads nothing; the reader sees the end of the input.
            if message.write(&mut *out).is_err() {
                break;
            }
        }
    });
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            match read(&mut input) {
                Ok(Some(Ok(message))) => {
                    if sender.send(message).is_err() {
                        break;
                    }
                }
                Ok(Some(Err(why))) => refuse(&mut *out.lock().unwrap_or_else(PoisonError::into_inner), &why),
                Ok(None) | Err(_) => break,
            }
        }
    });
    (server, writer)
}

/// The next message, or why it is none; `None` at the end of the input.
fn read(input: &mut impl BufRead) -> io::Result<Option<Result<Message, String>>> {
    let mut length = None;
    let mut seen = false;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(1 << 16).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_ascii();
        if line.is_empty() {
            if seen {
                break;
            }
            continue;
        }
        seen = true;
        length = content_length(line).or(length);
    }
    let Some(length) = length else { return Ok(Some(Err("a message without a content length".to_owned()))) };
    if length > LONGEST {
        io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
        return Ok(Some(Err(format!("a message of {length} bytes; at most {LONGEST} are taken"))));
    }
    let mut body = Vec::new();
    if input.by_ref().take(length).read_to_end(&mut body)? < length as usize {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&body).map_err(|error| format!("a message that is none: {error}"))))
}

/// The length that a line of a header gives. It is looked for anywhere in the line: behind a damaged header its body is taken for
/// lines too, and the next message begins on the last of them.
fn content_length(line: &[u8]) -> Option<u64> {
    const KEY: &str = "content-length:";
    let line = String::from_utf8_lossy(line).to_ascii_lowercase();
    let at = line.rfind(KEY)?;
    line.get(at + KEY.len()..)?.trim().parse().ok()
}

/// Answers what could not be read.
fn refuse(out: &mut impl Write, why: &str) {
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": why}}).to_string();
    // As with every answer: who has gone away reads nothing.
    let _ = write!(out, "Content-Length: {}\r\n\r\n{body}", body.len()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::{Message, read, refuse};

    #[test]
    fn what_is_no_message_is_passed_over() {
        let good = r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#;
        let framed = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let input = [framed("{nonsense"), "Content-Type: x\r\n\r\n".to_owned(), framed("[]"), framed(good)].concat();
        let mut input = input.as_bytes();
        let mut refused = 0;
        loop {
            match read(&mut input).unwrap() {
                Some(Ok(message)) => assert!(matches!(message, Message::Request(_))),
                Some(Err(_)) => refused += 1,
                None => break,
            }
        }
        assert_eq!(refused, 3);
    }

    #[test]
    fn a_refusal_is_a_message_with_no_id() {
        let mut out = Vec::new();
        refuse(&mut out, "no");
        let text = String::from_utf8(out).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert_eq!(head, format!("Content-Length: {}", body.len()));
        assert!(body.contains("\"id\":null") && body.contains("-32700"));
    }
}

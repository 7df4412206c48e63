//! Messages over standard input and output, one thread each way. A message that is none is answered with an error and
//! passed over; only the end of the input ends the connection.

use super::dispatch::{Ended, serve};
use lsp_server::{Connection, ErrorCode, Message, RequestId};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
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

/// Why something is no message, and the number of the request that it may be: who asked waits for an answer.
#[derive(Debug)]
struct NoMessage {
    why: String,
    id: Value,
}

impl NoMessage {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), id: Value::Null }
    }
}

/// The next message, or why it is none; `None` at the end of the input.
fn read(input: &mut impl BufRead) -> io::Result<Option<Result<Message, NoMessage>>> {
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
    let Some(length) = length else { return Ok(Some(Err(NoMessage::new("a message without a content length")))) };
    if length > LONGEST {
        // So many may never come: what comes is passed over line by line, as behind any damaged header.
        return Ok(Some(Err(NoMessage::new(format!("a message of {length} bytes; at most {LONGEST} are taken")))));
    }
    let mut body = Vec::new();
    if input.by_ref().take(length).read_to_end(&mut body)? < length as usize {
        return Ok(None);
    }
    Ok(Some(message(&body)))
}

/// What a body says of a request before it is known to be one.
#[derive(Default, Deserialize)]
struct Head {
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<IgnoredAny>,
}

/// A value that is there, `null` too.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// The message of a body. A request with an id that the protocol does not have would be taken for a notification, and never answered.
fn message(body: &[u8]) -> Result<Message, NoMessage> {
    let head = serde_json::from_slice::<Head>(body).unwrap_or_default();
    let id = head.id.filter(|_| head.method.is_some());
    if let Some(id) = id.as_ref().filter(|id| RequestId::deserialize(*id).is_err()) {
        let why = format!("the id `{id}`; expected a whole number of 32 bits, or a string");
        return Err(NoMessage { why, id: if id.is_number() { id.clone() } else { Value::Null } });
    }
    let no_message = |error| NoMessage { why: format!("a message that is none: {error}"), id: id.unwrap_or_default() };
    serde_json::from_slice(body).map_err(no_message)
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
fn refuse(out: &mut impl Write, NoMessage { why, id }: &NoMessage) {
    let code = if id.is_null() { ErrorCode::ParseError } else { ErrorCode::InvalidRequest } as i32;
    let body = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}}).to_string();
    // As with every answer: who has gone away reads nothing.
    let _ = write!(out, "Content-Length: {}\r\n\r\n{body}", body.len()).and_then(|()| out.flush());
}

#[cfg(test)]
#[path = "../../tests/unit/lsp/transport.rs"]
mod tests;

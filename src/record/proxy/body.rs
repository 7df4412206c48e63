//! Response bodies: as forwarded bytes, as text for the recording, and errors in the vendors'
//! formats, which the program's client library can read.

use flate2::write::GzDecoder;
use http_body_util::channel::Channel;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use serde_json::{Value, json};
use std::error::Error;
use std::io::Write;

pub(super) type BodyError = Box<dyn Error + Send + Sync>;
/// A body on its way to the program.
pub(super) type ResponseStream = BoxBody<Bytes, BodyError>;

/// The maximum number of unpacked bytes, more than any answer has.
const MAX_UNPACKED_BYTES: usize = 256 << 20;

/// Returns a complete body.
pub(super) fn full_body(bytes: impl Into<Bytes>) -> ResponseStream {
    Full::new(bytes.into())
        .map_err(|never| match never {})
        .boxed()
}

/// Returns a body that is sent in these parts.
pub(super) fn body_of_parts(parts: Vec<String>) -> ResponseStream {
    let (mut sender, channel) = Channel::<Bytes, BodyError>::new(1);
    tokio::spawn(async move {
        for part in parts {
            if sender.send_data(part.into()).await.is_err() {
                return;
            }
        }
    });
    channel.boxed()
}

/// Joins the parts of a body to text. Returns the text and the offset at which each part ends.
///
/// # Errors
/// The body is not text: a lower-case fragment.
pub(super) fn decode_text(
    parts: &[(u64, Bytes)],
    encoding: Option<&str>,
) -> Result<(String, Vec<usize>), String> {
    let mut ends = Vec::new();
    let mut bytes = Vec::new();
    match encoding.unwrap_or("identity") {
        "identity" | "" => {
            for (_, part) in parts {
                bytes.extend_from_slice(part);
                ends.push(bytes.len());
            }
        }
        "gzip" | "x-gzip" => {
            let mut decoder = GzDecoder::new(Vec::new());
            for (_, part) in parts {
                let written = decoder.write_all(part).and_then(|()| decoder.flush());
                // Of a cut body, the readable beginning is kept.
                ends.push(decoder.get_ref().len());
                if written.is_err() && decoder.get_ref().is_empty() {
                    return Err("it is declared as gzip, but is not".to_owned());
                }
                if decoder.get_ref().len() > MAX_UNPACKED_BYTES {
                    return Err(format!("it has more than {MAX_UNPACKED_BYTES} bytes"));
                }
            }
            bytes.clone_from(decoder.get_ref());
        }
        other => {
            return Err(format!(
                "it is compressed with `{other}`, which ctxc does not read"
            ));
        }
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        // The text ends inside a character.
        Err(fault) if fault.utf8_error().error_len().is_none() => {
            String::from_utf8_lossy(fault.as_bytes()).into_owned()
        }
        Err(_) => return Err("it is no text".to_owned()),
    };
    let ends = ends
        .into_iter()
        .map(|end| text.floor_char_boundary(end))
        .collect();
    Ok((text, ends))
}

/// Returns the body of an error in a dialect. `kind` is its code, for vendors that have one.
pub(super) fn error_body(dialect: &str, status: u16, kind: &str, message: &str) -> String {
    let word = match status {
        400..=499 => "invalid_request_error",
        _ => "api_error",
    };
    let body: Value = match dialect {
        "anthropic" => {
            json!({"type": "error", "error": {"type": word, "message": message}, "request_id": null})
        }
        "gemini" => {
            let status_word = if status < 500 {
                "INVALID_ARGUMENT"
            } else {
                "UNAVAILABLE"
            };
            json!({"error": {"code": status, "message": message, "status": status_word}})
        }
        "ollama" => json!({"error": message}),
        _ => json!({"error": {"message": message, "type": word, "param": null, "code": kind}}),
    };
    body.to_string()
}

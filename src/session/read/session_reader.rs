//! Recognises the format of a session, and reads its lines one by one.

use super::claude_code::ClaudeCodeReader;
use super::codex::CodexReader;
use super::content::text_at;
use super::gemini_cli::GeminiReader;
use super::pi::PiReader;
use super::recording::RecordingReader;
use crate::session::session_event::{RowCounts, RowKind, SessionEvent, SessionFormat};
use serde::Deserialize;
use serde_json::Value;
use std::io::{self, BufRead, Read};

/// The maximum length of a line in bytes.
const MAX_LINE_BYTES: u64 = 256 << 20;
/// The number of lines in which a format must show.
const FORMAT_LINES: usize = 20;

/// Returns the format of a session by its first lines; `None` for another file.
pub fn detect_format(head: &str) -> Option<SessionFormat> {
    head.lines()
        .take(FORMAT_LINES)
        .filter_map(|line| serde_json::from_str(line).ok())
        .find_map(|row: Value| format_of_row(&row))
}

fn format_of_row(row: &Value) -> Option<SessionFormat> {
    let has = |key: &str| row.get(key).is_some();
    let kind = text_at(row, "type");
    let is_claude = has("sessionId") && (has("uuid") || kind == "queue-operation")
        || kind == "file-history-snapshot" && has("messageId")
        || kind == "summary" && has("leafUuid");
    let is_codex = has("payload") && has("timestamp");
    let is_pi = kind == "session" && has("timestamp");
    let is_gemini = has("sessionId") && has("projectHash");
    let is_recording = text_at(row, "schema").starts_with("ctxc/request/");
    [
        (is_recording, SessionFormat::Recording),
        (is_gemini, SessionFormat::GeminiCli),
        (is_claude, SessionFormat::ClaudeCode),
        (is_codex, SessionFormat::Codex),
        (is_pi, SessionFormat::Pi),
    ]
    .into_iter()
    .find_map(|(is_own, format)| is_own.then_some(format))
}

/// A reader of one format.
#[derive(Debug)]
enum RowReader {
    ClaudeCode(Box<ClaudeCodeReader>),
    Codex(Box<CodexReader>),
    Pi(Box<PiReader>),
    Gemini(Box<GeminiReader>),
    Recording(Box<RecordingReader>),
}

impl RowReader {
    fn new(format: SessionFormat) -> Self {
        match format {
            SessionFormat::ClaudeCode => Self::ClaudeCode(Box::default()),
            SessionFormat::Codex => Self::Codex(Box::default()),
            SessionFormat::Pi => Self::Pi(Box::default()),
            SessionFormat::GeminiCli => Self::Gemini(Box::default()),
            SessionFormat::Recording => Self::Recording(Box::default()),
        }
    }

    fn read_row(&mut self, row: &Value, line: usize, events: &mut Vec<SessionEvent>) -> RowKind {
        match self {
            Self::ClaudeCode(reader) => reader.read_row(row, line, events),
            Self::Codex(reader) => reader.read_row(row, line, events),
            Self::Pi(reader) => reader.read_row(row, line, events),
            Self::Gemini(reader) => reader.read_row(row, line, events),
            Self::Recording(reader) => reader.read_row(row, line, events),
        }
    }

    fn finish(&mut self, events: &mut Vec<SessionEvent>) {
        match self {
            Self::ClaudeCode(reader) => reader.end_pending(events),
            Self::Gemini(reader) => reader.end_row(events),
            Self::Codex(_) | Self::Pi(_) | Self::Recording(_) => {}
        }
    }
}

/// The kind of a row.
#[derive(Deserialize)]
struct RowHead<'r> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'r str>,
}

/// Returns true for a row of progress, which most of the bytes of a session belong to. It is never
/// read as a whole.
fn is_progress(text: &str) -> bool {
    text.contains("\"progress\"")
        && serde_json::from_str::<RowHead<'_>>(text).is_ok_and(|head| head.kind == Some("progress"))
}

/// Reads a session line by line, and passes on its events. Lines that are not JSON are counted;
/// bytes that are not UTF-8 are replaced.
///
/// # Errors
/// The lines cannot be read, or one is too long.
pub fn read_session(
    mut lines: impl BufRead,
    format: SessionFormat,
    mut take: impl FnMut(SessionEvent),
) -> io::Result<RowCounts> {
    let mut counts = RowCounts::default();
    let mut reader = RowReader::new(format);
    let (mut bytes, mut events) = (Vec::new(), Vec::new());
    let mut line = 0;
    loop {
        bytes.clear();
        line += 1;
        let read = (&mut lines)
            .take(MAX_LINE_BYTES + 1)
            .read_until(b'\n', &mut bytes)?;
        if read == 0 {
            break;
        }
        if read as u64 > MAX_LINE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            continue;
        }
        counts.rows += 1;
        if is_progress(text) {
            continue;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(row) => {
                if let RowKind::Unknown(kind) = reader.read_row(&row, line, &mut events) {
                    *counts.unknown.entry(kind).or_default() += 1;
                }
                events.drain(..).for_each(&mut take);
            }
            Err(_) if !bytes.ends_with(b"\n") => counts.is_cut = true,
            Err(_) => counts.unreadable.push(line),
        }
    }
    reader.finish(&mut events);
    events.drain(..).for_each(&mut take);
    Ok(counts)
}

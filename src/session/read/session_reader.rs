//! Recognises the format of a session, and reads its lines one by one.

use super::claude_code::ClaudeCodeReader;
use super::codex::CodexReader;
use super::content::{RowReader, text_at};
use super::gemini_cli::GeminiReader;
use super::pi::PiReader;
use super::recording::RecordingReader;
use crate::session::sentences::one_line;
use crate::session::session_event::{RowCounts, RowKind, SessionEvent, SessionFormat, UnknownRows};
use serde::Deserialize;
use serde_json::Value;
use std::io::{self, BufRead, Read};

/// The maximum length of a line in bytes.
const MAX_LINE_BYTES: u64 = 32 << 20;
/// The number of lines in which a format must show.
const FORMAT_LINES: usize = 20;
/// The maximum number of unreadable lines that are listed, and of unknown kinds.
const MAX_LISTED: usize = 20;
/// The maximum number of characters of an unknown kind: more than a report shows, so that it can be
/// masked first.
const MAX_KIND_CHARS: usize = 1_000;

/// The name of rows that have no kind.
const NO_KIND: &str = "(no type)";

/// Returns the format of a session by its first lines; `None` for another file.
///
/// # Errors
/// The lines cannot be read.
pub fn detect_format(mut lines: impl BufRead) -> io::Result<Option<SessionFormat>> {
    let mut bytes = Vec::new();
    for _ in 0..FORMAT_LINES {
        if read_line(&mut lines, &mut bytes)? == LineEnd::File {
            break;
        }
        let row = serde_json::from_slice::<Value>(&bytes).ok();
        if let Some(format) = row.as_ref().and_then(format_of_row) {
            return Ok(Some(format));
        }
    }
    Ok(None)
}

/// The end of a line that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnd {
    /// A line break.
    Break,
    /// The maximum length; the rest of the line is passed over.
    Length,
    /// The end of the file, without a line.
    File,
}

/// Reads the next line.
fn read_line(lines: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<LineEnd> {
    bytes.clear();
    let mut part = lines.take(MAX_LINE_BYTES);
    let read = part.read_until(b'\n', bytes)?;
    if read == 0 {
        return Ok(LineEnd::File);
    }
    if part.limit() > 0 || bytes.ends_with(b"\n") {
        return Ok(LineEnd::Break);
    }
    lines.skip_until(b'\n')?;
    Ok(LineEnd::Length)
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

/// Returns a reader of a format.
fn new_reader(format: SessionFormat) -> Box<dyn RowReader> {
    match format {
        SessionFormat::ClaudeCode => Box::<ClaudeCodeReader>::default(),
        SessionFormat::Codex => Box::<CodexReader>::default(),
        SessionFormat::Pi => Box::<PiReader>::default(),
        SessionFormat::GeminiCli => Box::<GeminiReader>::default(),
        SessionFormat::Recording => Box::<RecordingReader>::default(),
    }
}

impl RowCounts {
    fn add_unreadable(&mut self, line: usize) {
        self.unreadable_rows += 1;
        if self.unreadable_lines.len() < MAX_LISTED {
            self.unreadable_lines.push(line);
        }
    }

    fn add_unknown(&mut self, mut kind: String) {
        if kind.is_empty() {
            NO_KIND.clone_into(&mut kind);
        }
        let listed = self.unknown_rows.len();
        let own = |rows: &UnknownRows, kind: &str| rows.kind == kind;
        if listed >= MAX_LISTED && !self.unknown_rows.iter().any(|rows| own(rows, &kind)) {
            "…".clone_into(&mut kind);
        }
        match self.unknown_rows.iter_mut().find(|rows| own(rows, &kind)) {
            Some(known) => known.rows += 1,
            None => self.unknown_rows.push(UnknownRows { kind, rows: 1 }),
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
/// The lines cannot be read.
pub fn read_session(
    mut lines: impl BufRead,
    format: SessionFormat,
    mut take: impl FnMut(SessionEvent),
) -> io::Result<RowCounts> {
    let mut counts = RowCounts::default();
    let mut reader = new_reader(format);
    let (mut bytes, mut events) = (Vec::new(), Vec::new());
    let mut line = 0;
    loop {
        line += 1;
        match read_line(&mut lines, &mut bytes)? {
            LineEnd::File => break,
            LineEnd::Length => {
                counts.add_unreadable(line);
                continue;
            }
            LineEnd::Break => {}
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            continue;
        }
        if is_progress(text) {
            continue;
        }
        // Two writers can leave two rows on one line.
        for row in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            match row {
                Ok(row) => {
                    if let RowKind::Unknown(kind) = reader.read_row(row, line, &mut events) {
                        counts.add_unknown(one_line(&kind, MAX_KIND_CHARS));
                    }
                    events.drain(..).for_each(&mut take);
                }
                Err(_) if !bytes.ends_with(b"\n") => counts.is_cut = true,
                Err(_) => counts.add_unreadable(line),
            }
        }
    }
    reader.end_rows(&mut events);
    events.drain(..).for_each(&mut take);
    Ok(counts)
}

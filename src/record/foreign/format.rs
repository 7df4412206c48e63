//! Detects the tool that wrote a file, by the file's beginning.

use super::super::recording::Recording;
use super::foreign_call::ForeignFault;
use super::{otlp, vcr};
use crate::schema::json::names::{REQUEST, RUN};

/// The format of a file with calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingFormat {
    /// Lines of ctxc's own format.
    Ctxc,
    /// A VCR cassette, as YAML or JSON.
    Vcr,
    /// `OpenTelemetry` traces and logs as OTLP JSON.
    Otlp,
}

/// Detects the format of a file by its first few thousand bytes; `None` for another file.
pub fn detect_format(head: &str) -> Option<RecordingFormat> {
    if [REQUEST, RUN]
        .iter()
        .any(|schema| head.contains(schema.trim_end_matches(char::is_numeric)))
    {
        return Some(RecordingFormat::Ctxc);
    }
    let text = head.trim_start_matches(|c: char| c == '\u{feff}' || c.is_whitespace());
    if text.starts_with(['{', '[']) {
        let has = |keys: &[&str]| keys.iter().any(|key| text.contains(&format!("\"{key}\"")));
        return if has(&[
            "resourceSpans",
            "resourceLogs",
            "resource_spans",
            "resource_logs",
        ]) {
            Some(RecordingFormat::Otlp)
        } else if has(&["interactions", "http_interactions"]) && has(&["request"]) {
            Some(RecordingFormat::Vcr)
        } else {
            None
        };
    }
    let lists = ["interactions:", "http_interactions:"];
    let is_list = |line: &str| lists.iter().any(|list| line.starts_with(list));
    text.lines().any(is_list).then_some(RecordingFormat::Vcr)
}

/// Reads the calls of another tool, each as a recorded call. Calls to other servers get the dialect
/// `other`, to keep the numbering.
///
/// # Errors
/// The text contains no call to a model.
pub fn read_calls(format: RecordingFormat, text: &str) -> Result<Vec<Recording>, ForeignFault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let calls = match format {
        RecordingFormat::Ctxc => Vec::new(),
        RecordingFormat::Vcr => vcr::read_calls(text)?,
        RecordingFormat::Otlp => otlp::read_calls(text)?,
    };
    match calls.len() {
        0 => Err(ForeignFault::Empty),
        count
            if calls
                .iter()
                .all(|call| call.dialect == super::foreign_call::OTHER_DIALECT) =>
        {
            Err(ForeignFault::NoCall(count))
        }
        _ => Ok(calls),
    }
}

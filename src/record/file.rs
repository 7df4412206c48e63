//! Files of calls, one call a line. Only whole lines are written.

use super::recording::{LineFault, Recording};
#[cfg(feature = "fs")]
use crate::base::fs;
#[cfg(feature = "fs")]
use std::io::{self, BufRead, Read};
#[cfg(feature = "fs")]
use std::path::Path;

/// The calls of a file.
#[derive(Clone, Debug, Default)]
pub struct RecordingFile {
    /// The calls in the order of their lines.
    pub calls: Vec<Recording>,
    /// The line number of each call, from 1.
    pub lines: Vec<usize>,
    /// True if the last line is cut, as a program leaves it that is killed while writing.
    pub is_cut: bool,
}

/// The reason why a file cannot be read as calls.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct RecordingFileFault {
    /// The line, from 1.
    pub line: usize,
    /// Its fault.
    #[source]
    pub fault: LineFault,
}

impl RecordingFile {
    /// Parses the text of a file. Skips blank lines and a byte order mark.
    ///
    /// # Errors
    /// A line that is not a call, unless it is a cut last line.
    pub fn parse(text: &str) -> Result<Self, RecordingFileFault> {
        let mut found = Self::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (at, line) in text.split_inclusive('\n').enumerate() {
            match Recording::parse_line(line) {
                _ if line.trim().is_empty() => {}
                Err(LineFault::Trace) => {}
                Ok(call) => {
                    found.calls.push(call);
                    found.lines.push(at + 1);
                }
                Err(LineFault::NoJson(_)) if !line.ends_with('\n') => found.is_cut = true,
                Err(fault) => {
                    return Err(RecordingFileFault {
                        line: at + 1,
                        fault,
                    });
                }
            }
        }
        Ok(found)
    }
}

/// Reads the calls of a file one by one, each with its line: a long recording is never in memory as
/// a whole. Returns the number of the last line if that is cut.
///
/// # Errors
/// The file cannot be read, or a line is not a call.
#[cfg(feature = "fs")]
pub fn each_call(
    path: &Path,
    mut take: impl FnMut(Recording, RecordingLine),
) -> Result<Option<usize>, RecordingReadFault> {
    let mut reader = fs::open_lines(path).map_err(RecordingReadFault::Unreadable)?;
    let mut bytes = Vec::new();
    let mut place = RecordingLine {
        line: 0,
        offset: 0,
        len: 0,
    };
    loop {
        bytes.clear();
        place.offset += place.len;
        place.line += 1;
        let read = (&mut reader)
            .take(MAX_LINE_BYTES + 1)
            .read_until(b'\n', &mut bytes)
            .map_err(RecordingReadFault::Unreadable)?;
        place.len = read as u64;
        if read == 0 {
            return Ok(None);
        }
        if place.len > MAX_LINE_BYTES {
            return Err(RecordingReadFault::Unreadable(
                io::ErrorKind::FileTooLarge.into(),
            ));
        }
        let is_whole = bytes.last() == Some(&b'\n');
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) => text,
            Err(_) if !is_whole && place.line > 1 => return Ok(Some(place.line)),
            Err(_) => {
                return Err(RecordingReadFault::Unreadable(io::Error::other(
                    "it is not UTF-8",
                )));
            }
        };
        let text = if place.line == 1 {
            text.strip_prefix('\u{feff}').unwrap_or(text)
        } else {
            text
        };
        match Recording::parse_line(text) {
            _ if text.trim().is_empty() => {}
            Err(LineFault::Trace) => {}
            Ok(call) => take(call, place),
            Err(LineFault::NoJson(_)) if !is_whole => return Ok(Some(place.line)),
            Err(fault) => {
                return Err(RecordingReadFault::Line(RecordingFileFault {
                    line: place.line,
                    fault,
                }));
            }
        }
    }
}

/// Reads the call at a line found earlier; `None` if the file has changed since.
#[cfg(feature = "fs")]
pub fn read_call(path: &Path, place: RecordingLine) -> Option<Recording> {
    let bytes = fs::read_range(path, place.offset, place.len).ok()?;
    Recording::parse_line(std::str::from_utf8(&bytes).ok()?).ok()
}

/// The place of a line.
#[cfg(feature = "fs")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingLine {
    /// Its number, from 1.
    pub line: usize,
    /// The byte offset of its start.
    pub offset: u64,
    /// Its length in bytes, line end included.
    pub len: u64,
}

/// The reason why the calls of a file cannot be read.
#[cfg(feature = "fs")]
#[derive(Debug)]
pub enum RecordingReadFault {
    /// The file is unreadable.
    Unreadable(io::Error),
    /// A line is not a call.
    Line(RecordingFileFault),
}

/// The maximum length in bytes of a line.
#[cfg(feature = "fs")]
const MAX_LINE_BYTES: u64 = 1 << 30;

/// Appends a call to a file as one line, which is on disk when this returns. Removes a cut line at
/// the end, left by a program that was killed.
///
/// # Errors
/// The file cannot be written.
#[cfg(feature = "fs")]
pub fn append_call(path: &Path, call: &Recording) -> io::Result<()> {
    fs::append_line(path, call.to_line().as_bytes(), |last| {
        std::str::from_utf8(last)
            .is_ok_and(|last| !matches!(Recording::parse_line(last), Err(LineFault::NoJson(_))))
    })
}

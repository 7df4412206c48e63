//! Files of calls: read as a whole, written a whole line at a time.

use super::recording::{LineFault, Recording};
#[cfg(feature = "fs")]
use crate::base::fs;
#[cfg(feature = "fs")]
use std::io::{self, BufRead, Read};
#[cfg(feature = "fs")]
use std::path::Path;

/// The calls of a file.
#[derive(Clone, Debug, Default)]
pub struct Recordings {
    /// In the order of their lines.
    pub calls: Vec<Recording>,
    /// The number of the line of each, from 1.
    pub lines: Vec<usize>,
    /// Whether the last line is cut, as a program leaves it that was killed while it wrote.
    pub is_cut: bool,
}

/// Why a file holds no calls.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct FileFault {
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong with it.
    #[source]
    pub fault: LineFault,
}

impl Recordings {
    /// Reads the text of a file. Blank lines are none, and neither is the mark that some editors put in front.
    ///
    /// # Errors
    /// A line is no call; the last one may be cut.
    pub fn read(text: &str) -> Result<Self, FileFault> {
        let mut found = Self::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (at, line) in text.split_inclusive('\n').enumerate() {
            match Recording::read(line) {
                _ if line.trim().is_empty() => {}
                Err(LineFault::Trace) => {}
                Ok(call) => {
                    found.calls.push(call);
                    found.lines.push(at + 1);
                }
                Err(LineFault::NoJson(_)) if !line.ends_with('\n') => found.is_cut = true,
                Err(fault) => return Err(FileFault { line: at + 1, fault }),
            }
        }
        Ok(found)
    }
}

/// Reads the calls of a file one by one, each with its place: the whole of a long recording is never in memory. Returns the number of
/// the last line where it is cut.
///
/// # Errors
/// The file cannot be read, or a line is no call.
#[cfg(feature = "fs")]
pub fn each(path: &Path, mut take: impl FnMut(Recording, LinePlace)) -> Result<Option<usize>, ReadFault> {
    let mut reader = fs::open_lines(path).map_err(ReadFault::Unreadable)?;
    let mut bytes = Vec::new();
    let mut place = LinePlace { line: 0, offset: 0, len: 0 };
    loop {
        bytes.clear();
        place.offset += place.len;
        place.line += 1;
        let read = (&mut reader).take(LONGEST + 1).read_until(b'\n', &mut bytes).map_err(ReadFault::Unreadable)?;
        place.len = read as u64;
        if read == 0 {
            return Ok(None);
        }
        if place.len > LONGEST {
            return Err(ReadFault::Unreadable(io::ErrorKind::FileTooLarge.into()));
        }
        let is_whole = bytes.last() == Some(&b'\n');
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) => text,
            Err(_) if !is_whole && place.line > 1 => return Ok(Some(place.line)),
            Err(_) => return Err(ReadFault::Unreadable(io::Error::other("it is not UTF-8"))),
        };
        let text = if place.line == 1 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        match Recording::read(text) {
            _ if text.trim().is_empty() => {}
            Err(LineFault::Trace) => {}
            Ok(call) => take(call, place),
            Err(LineFault::NoJson(_)) if !is_whole => return Ok(Some(place.line)),
            Err(fault) => return Err(ReadFault::Line(FileFault { line: place.line, fault })),
        }
    }
}

/// The call at a place of a file that was read; `None` where the file has changed since.
#[cfg(feature = "fs")]
pub fn at(path: &Path, place: LinePlace) -> Option<Recording> {
    let bytes = fs::read_at(path, place.offset, place.len).ok()?;
    Recording::read(std::str::from_utf8(&bytes).ok()?).ok()
}

/// Where a line stands.
#[cfg(feature = "fs")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePlace {
    /// Its number, from 1.
    pub line: usize,
    /// The byte that it begins with.
    pub offset: u64,
    /// Its bytes, its end included.
    pub len: u64,
}

/// Why the calls of a file cannot be read.
#[cfg(feature = "fs")]
#[derive(Debug)]
pub enum ReadFault {
    /// The file itself.
    Unreadable(io::Error),
    /// A line of it.
    Line(FileFault),
}

/// More than any line.
#[cfg(feature = "fs")]
const LONGEST: u64 = 1 << 30;

/// Adds a call to a file, as a line that is whole and on the disk when this returns. A line before that a killed program left cut is taken out.
///
/// # Errors
/// The file cannot be written.
#[cfg(feature = "fs")]
pub fn append(path: &Path, call: &Recording) -> io::Result<()> {
    fs::append_line(path, call.line().as_bytes(), |last| {
        std::str::from_utf8(last).is_ok_and(|last| !matches!(Recording::read(last), Err(LineFault::NoJson(_))))
    })
}

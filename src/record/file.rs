//! Files of calls: read as a whole, written a whole line at a time.

use super::recording::{LineFault, Recording};
#[cfg(feature = "fs")]
use crate::base::fs;
#[cfg(feature = "fs")]
use std::io;
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

//! What a verb works in: the resolved options and the one buffered writer of results.

use super::error::{CliError, Result};
use super::options::Options;
use super::render::wrap::wrap;
use std::io::{self, BufWriter, Stdout, Write};

/// Options and output of a run.
#[derive(Debug)]
pub(crate) struct Cx {
    /// Resolved options.
    pub(crate) options: Options,
    out: BufWriter<Stdout>,
    /// Whether whoever read the results has gone away: nothing more is written, and what is found counts all the same.
    is_unread: bool,
}

impl Cx {
    /// Writes to standard output.
    pub(crate) fn new(options: Options) -> Self {
        Self { options, out: BufWriter::with_capacity(1 << 16, io::stdout()), is_unread: false }
    }

    /// Writes results, as long as somebody reads them.
    pub(crate) fn print(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        if self.is_unread {
            return Ok(());
        }
        let written = write(&mut self.out);
        self.heard(written)
    }

    /// A reader that has gone away is no error, and changes no verdict.
    fn heard(&mut self, written: io::Result<()>) -> Result<()> {
        match written {
            Err(err) if err.kind() == io::ErrorKind::BrokenPipe => {
                self.is_unread = true;
                Ok(())
            }
            written => written.map_err(|err| CliError::stdout(&err)),
        }
    }

    /// Whether nobody reads the results any more: what would go on for ever ends.
    pub(crate) const fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// Writes a line for people. What a narrow screen breaks goes on under its first word.
    pub(crate) fn line(&mut self, line: &str) -> Result<()> {
        self.hanging(line, line.len() - line.trim_start_matches(' ').len())
    }

    /// Writes a line for people, continued in the column `hang` where the screen is too narrow.
    pub(crate) fn hanging(&mut self, line: &str, hang: usize) -> Result<()> {
        let line = wrap(line, self.options.screen.width, hang);
        self.print(|out| writeln!(out, "{line}"))
    }

    /// Writes one JSON document.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> Result<()> {
        self.print(|out| {
            serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
            out.write_all(b"\n")
        })
    }

    /// Says something beside the results, on standard error, after the results so far. Nobody is told when that fails.
    pub(crate) fn note(&mut self, line: &str) {
        // What cannot be written stays buffered, and the last flush says why; a reader that has gone away wants no note.
        if self.options.is_chatty() && self.out.flush().is_ok() {
            let _ = writeln!(io::stderr(), "{}", wrap(line, self.options.stderr_width, 0));
        }
    }

    /// Sends what is still buffered. The verdict counts only after this.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.is_unread {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.heard(flushed)
    }
}

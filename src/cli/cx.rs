//! The environment of a verb: the resolved options and the one buffered writer of results.

use super::args::{FormatArgs, OutputArgs, OutputFormat, Report, Sign};
use super::error::{CliError, Result};
use super::options::{Options, Volume};
use super::overwrite;
use super::render::screen::Screen;
use super::render::wrap::wrap;
use super::secret_check::SecretCheck;
use crate::base::fs;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

/// The destination of results.
#[derive(Debug)]
enum Out {
    Stdout(BufWriter<Stdout>),
    /// A file, which is written as a whole at the end.
    File(fs::Draft),
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File(out) => out.write(bytes),
        }
    }

    // A JSON document is written in many small pieces.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.write_all(bytes),
            Self::File(out) => out.write_all(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(out) => out.flush(),
        }
    }
}

/// A result that is not in its file yet.
#[derive(Debug)]
struct Made {
    draft: fs::Draft,
    /// The mark that an existing file must contain to be overwritten.
    sign: Option<Sign>,
}

/// Bytes at the head of a file that are searched for its mark.
const HEAD: usize = 512;
/// Extensions of the files that ctxc reads, and of its artifacts. No text for people overwrites
/// such a file.
const NO_TEXT: [&str; 5] = ["json", "toml", "xml", "yaml", "yml"];

/// Options and output of a run.
#[derive(Debug)]
pub(crate) struct Cx {
    pub(crate) options: Options,
    out: Out,
    /// True once the reader of standard output has closed it. Nothing more is printed, but findings
    /// still count.
    is_unread: bool,
}

impl Cx {
    /// Creates an environment that writes to standard output.
    pub(crate) fn new(options: Options) -> Self {
        Self {
            options,
            out: Out::Stdout(BufWriter::with_capacity(1 << 16, io::stdout())),
            is_unread: false,
        }
    }

    /// Writes a result as `args` demand: in their format to their file or standard output, and in
    /// the format of each report to the report's file.
    pub(crate) fn emit<F: OutputFormat>(
        &mut self,
        args: &OutputArgs<F>,
        mut write: impl FnMut(F, &mut Self) -> Result<()>,
    ) -> Result<()> {
        let format = args.format.resolve();
        let own = self.draft(args.output.as_deref(), format.sign(), |cx| {
            write(format, cx)
        })?;
        self.reports(own, &args.format, write)
    }

    /// Writes a result to standard output, and the reports; for a verb whose `-o` is not the file
    /// of its result.
    pub(crate) fn emit_formats<F: OutputFormat>(
        &mut self,
        args: &FormatArgs<F>,
        mut write: impl FnMut(F, &mut Self) -> Result<()>,
    ) -> Result<()> {
        write(args.resolve(), self)?;
        self.reports(None, args, write)
    }

    /// Writes only the files of `--report`.
    pub(crate) fn emit_reports<F: OutputFormat>(
        &mut self,
        args: &FormatArgs<F>,
        write: impl FnMut(F, &mut Self) -> Result<()>,
    ) -> Result<()> {
        self.reports(None, args, write)
    }

    /// Writes the reports, and the result if it goes to a file: all of them or none.
    fn reports<F: OutputFormat>(
        &mut self,
        own: Option<Made>,
        args: &FormatArgs<F>,
        mut write: impl FnMut(F, &mut Self) -> Result<()>,
    ) -> Result<()> {
        let mut all: Vec<Made> = own.into_iter().collect();
        for Report { format, path } in args.reports() {
            all.extend(self.draft(Some(path), format.sign(), |cx| write(*format, cx))?);
        }
        self.keep(all)
    }

    /// Returns an error if a result cannot be written to its place. Called before anything else is
    /// written.
    pub(crate) fn ensure_places<F: OutputFormat>(
        format: &FormatArgs<F>,
        output: Option<&Path>,
    ) -> Result<()> {
        let own = output
            .filter(|path| *path != Path::new("-"))
            .map(|path| (format.resolve(), path));
        for (format, path) in own.into_iter().chain(
            format
                .reports()
                .iter()
                .map(|report| (report.format, &*report.path)),
        ) {
            place(path, format.sign())?;
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            if folder.is_some_and(|folder| !fs::is_dir(folder)) {
                return Err(CliError::write(path, &io::ErrorKind::NotFound.into()));
            }
        }
        Ok(())
    }

    /// Writes the output of `write` to standard output (no path, or `-`) or to a file, completely
    /// or not at all. An existing file is overwritten only if it is empty or of the same kind: an
    /// artifact of the same schema with `sign` near its head, or a text.
    pub(crate) fn write(
        &mut self,
        path: Option<&Path>,
        sign: Option<Sign>,
        write: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let made = self.draft(path, sign, write)?;
        self.keep(made.into_iter().collect())
    }

    /// Returns the output of `write` as a file that is not written yet; `None` if it was printed to
    /// standard output.
    fn draft(
        &mut self,
        path: Option<&Path>,
        sign: Option<Sign>,
        write: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<Option<Made>> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return write(self).map(|()| None);
        };
        place(path, sign)?;
        let screen = std::mem::replace(&mut self.options.screen, Screen::PLAIN);
        let stdout = std::mem::replace(&mut self.out, Out::File(fs::Draft::of(path)));
        let is_unread = std::mem::replace(&mut self.is_unread, false);
        // `--quiet` applies to the terminal only: a file contains the whole result.
        let volume = self.options.volume;
        if volume == Volume::Quiet {
            self.options.volume = Volume::Usual;
        }
        let printed = write(self);
        self.options.volume = volume;
        let out = std::mem::replace(&mut self.out, stdout);
        self.options.screen = screen;
        self.is_unread = is_unread;
        printed?;
        let Out::File(draft) = out else {
            return Ok(None);
        };
        Ok(Some(Made { draft, sign }))
    }

    /// Writes results to their files. If one file must not be written, none is.
    fn keep(&self, mut all: Vec<Made>) -> Result<()> {
        if all.is_empty() {
            return Ok(());
        }
        let check = SecretCheck::of_run(&self.options);
        all.iter_mut()
            .try_for_each(|made| check.draft(&mut made.draft))?;
        for Made { mut draft, sign } in all {
            let path = draft.path.clone();
            let failed = |err: io::Error| CliError::write(&path, &err);
            let before = place(&path, sign)?;
            let head = draft.head(HEAD as u64).map_err(failed)?;
            if let (Some(old), Some(new)) = (before.as_deref().and_then(schema), schema(&head))
                && old != new
            {
                overwrite::refuse_others(
                    &path,
                    &format!("result of the schema {}", String::from_utf8_lossy(new)),
                    false,
                )?;
            }
            draft.write_atomic().map_err(failed)?;
        }
        Ok(())
    }

    /// Prints results, until their reader closes the output.
    pub(crate) fn print(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        if self.is_unread {
            return Ok(());
        }
        let written = write(&mut self.out);
        self.unless_closed(written)
    }

    /// Turns a closed output into success: it is no error and changes no verdict.
    fn unless_closed(&mut self, written: io::Result<()>) -> Result<()> {
        match written {
            Err(err) if err.kind() == io::ErrorKind::BrokenPipe => {
                self.is_unread = true;
                Ok(())
            }
            written => written.map_err(|err| match &self.out {
                Out::Stdout(_) => CliError::stdout(&err),
                Out::File(draft) => CliError::write(&draft.path, &err),
            }),
        }
    }

    /// Returns true if results go to a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self.out, Out::Stdout(_)) && io::stdout().is_terminal()
    }

    /// Returns true if the reader of the results has closed the output. Endless work ends then.
    pub(crate) const fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// Prints a line for people. If it is broken, the next lines start in the column of its first
    /// word.
    pub(crate) fn line(&mut self, line: &str) -> Result<()> {
        self.hanging(line, line.len() - line.trim_start_matches(' ').len())
    }

    /// Prints a line for people. If it is broken, the next lines start in the column `hang`.
    pub(crate) fn hanging(&mut self, line: &str, hang: usize) -> Result<()> {
        let line = wrap(line, self.options.screen.width, hang);
        self.print(|out| writeln!(out, "{line}"))
    }

    /// Prints a value as one JSON document.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> Result<()> {
        self.print(|out| {
            serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
            out.write_all(b"\n")
        })
    }

    /// Prints a note on standard error, after the results so far. Write errors are ignored.
    pub(crate) fn note(&mut self, line: &str) {
        // Unwritten results stay buffered, and the last flush reports the error. If the output is
        // closed, no note is printed.
        if self.options.is_chatty() && self.out.flush().is_ok() {
            let _ = writeln!(io::stderr(), "{}", wrap(line, self.options.stderr_width, 0));
        }
    }

    /// Writes everything that is still buffered. The verdict counts only after this call.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.is_unread {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.unless_closed(flushed)
    }
}

/// Returns the head of the file at `path`; `None` if there is no file. Returns an error if the file
/// must not be overwritten.
fn place(path: &Path, sign: Option<Sign>) -> Result<Option<Vec<u8>>> {
    let before = fs::head(path, HEAD as u64).unwrap_or_default();
    if let Some(head) = &before {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_one = match sign {
            Some(sign) => memchr::memmem::find(head, sign.text.as_bytes()).is_some(),
            None => ending.is_none_or(|ending| !NO_TEXT.contains(&ending)),
        };
        overwrite::refuse_others(
            path,
            sign.map_or("text of ctxc", |sign| sign.artifact),
            is_one,
        )?;
    }
    Ok(before)
}

/// Returns the name of the schema that an artifact declares near its head, without its version.
fn schema(bytes: &[u8]) -> Option<&[u8]> {
    let name = bytes.get(memchr::memmem::find(bytes, b"\"ctxc/")? + 1..)?;
    name.get(..memchr::memrchr(b'/', name.get(..memchr::memchr(b'"', name)?)?)?)
}

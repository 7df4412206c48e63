//! The environment of a verb: the resolved options and the one buffered writer of results.

use super::error::{CliError, Result};
use super::options::{GlobalOptions, Volume};
use super::overwrite;
use super::render::escape::wrap_line;
use super::render::screen::Screen;
use super::secret_check::SecretCheck;
use super::shared_args::{FileMark, FormatArgs, OutputArgs, OutputFormat, ReportFile};
use crate::base::fs;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

/// The destination of results.
#[derive(Debug)]
enum ResultWriter {
    Stdout(BufWriter<Stdout>),
    /// A file, which is written as a whole at the end.
    File(fs::FileDraft),
}

impl Write for ResultWriter {
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
struct UnwrittenResult {
    draft: fs::FileDraft,
    /// The mark that an existing file must contain to be overwritten.
    sign: Option<FileMark>,
}

/// Bytes at the head of a file that are searched for its mark.
const HEAD_BYTES: usize = 512;
/// Extensions of the files that ctxc reads, and of its artifacts. No text for people overwrites
/// such a file.
const NON_TEXT_EXTENSIONS: [&str; 5] = ["json", "toml", "xml", "yaml", "yml"];

/// Options and output of a run.
#[derive(Debug)]
pub(crate) struct Cx {
    pub(crate) options: GlobalOptions,
    out: ResultWriter,
    /// True once the reader of standard output has closed it. Nothing more is printed, but findings
    /// still count.
    is_closed: bool,
}

impl Cx {
    /// Creates an environment that writes to standard output.
    pub(crate) fn new(options: GlobalOptions) -> Self {
        Self {
            options,
            out: ResultWriter::Stdout(BufWriter::with_capacity(1 << 16, io::stdout())),
            is_closed: false,
        }
    }

    /// Writes a result as `args` demand: in their format to their file or standard output, and in
    /// the format of each report to the report's file.
    pub(crate) fn emit_result<F: OutputFormat>(
        &mut self,
        args: &OutputArgs<F>,
        mut write: impl FnMut(F, &mut Self) -> Result<()>,
    ) -> Result<()> {
        let format = args.format.result_format();
        let own = self.draft_result(args.output.as_deref(), format.file_mark(), |cx| {
            write(format, cx)
        })?;
        self.write_reports(own, &args.format, write)
    }

    /// Writes a result to standard output, and the reports; for a verb whose `-o` is not the file
    /// of its result.
    pub(crate) fn emit_formats<F: OutputFormat>(
        &mut self,
        args: &FormatArgs<F>,
        mut write: impl FnMut(F, &mut Self) -> Result<()>,
    ) -> Result<()> {
        write(args.result_format(), self)?;
        self.write_reports(None, args, write)
    }

    /// Writes only the files of `--report`.
    pub(crate) fn emit_reports<F: OutputFormat>(
        &mut self,
        args: &FormatArgs<F>,
        write: impl FnMut(F, &mut Self) -> Result<()>,
    ) -> Result<()> {
        self.write_reports(None, args, write)
    }

    /// Writes the reports, and the result if it goes to a file: all of them or none.
    fn write_reports<F: OutputFormat>(
        &mut self,
        own: Option<UnwrittenResult>,
        args: &FormatArgs<F>,
        mut write: impl FnMut(F, &mut Self) -> Result<()>,
    ) -> Result<()> {
        let mut all: Vec<UnwrittenResult> = own.into_iter().collect();
        for ReportFile { format, path } in args.reports() {
            all.extend(self.draft_result(Some(path), format.file_mark(), |cx| write(*format, cx))?);
        }
        self.write_files(all)
    }

    /// Returns an error if a result cannot be written to its place. Called before anything else is
    /// written.
    pub(crate) fn check_output_paths<F: OutputFormat>(
        format: &FormatArgs<F>,
        output: Option<&Path>,
    ) -> Result<()> {
        let own = output
            .filter(|path| *path != Path::new("-"))
            .map(|path| (format.result_format(), path));
        for (format, path) in own.into_iter().chain(
            format
                .reports()
                .iter()
                .map(|report| (report.format, &*report.path)),
        ) {
            check_destination(path, format.file_mark())?;
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            if folder.is_some_and(|folder| !fs::is_dir(folder)) {
                return Err(CliError::write_failed(
                    path,
                    &io::ErrorKind::NotFound.into(),
                ));
            }
        }
        Ok(())
    }

    /// Writes the output of `write` to standard output (no path, or `-`) or to a file, completely
    /// or not at all. An existing file is overwritten only if it is empty or of the same kind: an
    /// artifact of the same schema with `sign` near its head, or a text.
    pub(crate) fn write_to(
        &mut self,
        path: Option<&Path>,
        sign: Option<FileMark>,
        write: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let output = self.draft_result(path, sign, write)?;
        self.write_files(output.into_iter().collect())
    }

    /// Returns the output of `write` as a file that is not written yet; `None` if it was printed to
    /// standard output.
    fn draft_result(
        &mut self,
        path: Option<&Path>,
        sign: Option<FileMark>,
        write: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<Option<UnwrittenResult>> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return write(self).map(|()| None);
        };
        check_destination(path, sign)?;
        let screen = std::mem::replace(&mut self.options.screen, Screen::PLAIN);
        let stdout = std::mem::replace(&mut self.out, ResultWriter::File(fs::FileDraft::new(path)));
        let is_unread = std::mem::replace(&mut self.is_closed, false);
        // `--quiet` applies to the terminal only: a file contains the whole result.
        let volume = self.options.volume;
        if volume == Volume::Quiet {
            self.options.volume = Volume::Usual;
        }
        let printed = write(self);
        self.options.volume = volume;
        let out = std::mem::replace(&mut self.out, stdout);
        self.options.screen = screen;
        self.is_closed = is_unread;
        printed?;
        let ResultWriter::File(draft) = out else {
            return Ok(None);
        };
        Ok(Some(UnwrittenResult { draft, sign }))
    }

    /// Writes results to their files. If one file must not be written, none is.
    fn write_files(&self, mut all: Vec<UnwrittenResult>) -> Result<()> {
        if all.is_empty() {
            return Ok(());
        }
        let check = SecretCheck::for_run(&self.options);
        all.iter_mut()
            .try_for_each(|made| check.check_draft(&mut made.draft))?;
        for UnwrittenResult { mut draft, sign } in all {
            let path = draft.path.clone();
            let failed = |err: io::Error| CliError::write_failed(&path, &err);
            let before = check_destination(&path, sign)?;
            let head = draft.read_head(HEAD_BYTES as u64).map_err(failed)?;
            if let (Some(old), Some(new)) =
                (before.as_deref().and_then(schema_name), schema_name(&head))
                && old != new
            {
                overwrite::check_foreign_file(
                    &path,
                    &format!("result of the schema {}", String::from_utf8_lossy(new)),
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
        if self.is_closed {
            return Ok(());
        }
        let written = write(&mut self.out);
        self.ignore_closed_output(written)
    }

    /// Turns a closed output into success: it is no error and changes no verdict.
    fn ignore_closed_output(&mut self, written: io::Result<()>) -> Result<()> {
        match written {
            Err(err) if err.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(())
            }
            written => written.map_err(|err| match &self.out {
                ResultWriter::Stdout(_) => CliError::stdout_failed(&err),
                ResultWriter::File(draft) => CliError::write_failed(&draft.path, &err),
            }),
        }
    }

    /// Returns true if results go to a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self.out, ResultWriter::Stdout(_)) && io::stdout().is_terminal()
    }

    /// Returns true if the reader of the results has closed the output. Endless work ends then.
    pub(crate) const fn is_output_closed(&self) -> bool {
        self.is_closed
    }

    /// Prints a line for people. If it is broken, the next lines start in the column of its first
    /// word.
    pub(crate) fn print_line(&mut self, line: &str) -> Result<()> {
        self.print_hanging(line, line.len() - line.trim_start_matches(' ').len())
    }

    /// Prints a line for people. If the line is wrapped, its continuation lines start in column
    /// `hang`.
    pub(crate) fn print_hanging(&mut self, line: &str, hang: usize) -> Result<()> {
        let line = wrap_line(line, self.options.screen.width, hang);
        self.print(|out| writeln!(out, "{line}"))
    }

    /// Prints a value as one JSON document.
    pub(crate) fn print_json(&mut self, value: &impl serde::Serialize) -> Result<()> {
        self.print(|out| {
            serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
            out.write_all(b"\n")
        })
    }

    /// Asks the user a question on the terminal; returns true if the answer is yes.
    pub(crate) fn confirm(&mut self, question: &str) -> Result<bool> {
        self.flush()?;
        // Only a user who can read the question can answer it, so a failed write is ignored.
        _ = write!(io::stderr(), "{question} [y/N] ");
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer);
        Ok(read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }

    /// Prints a note on standard error, after the results so far. Write errors are ignored.
    pub(crate) fn print_note(&mut self, line: &str) {
        // Unwritten results stay buffered, and the last flush reports the error. If the output is
        // closed, no note is printed.
        if self.options.prints_notes() && self.out.flush().is_ok() {
            let _ = writeln!(
                io::stderr(),
                "{}",
                wrap_line(line, self.options.stderr_width, 0)
            );
        }
    }

    /// Writes everything that is still buffered. The verdict counts only after this call.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.ignore_closed_output(flushed)
    }
}

/// Returns the head of the file at `path`; `None` if there is no file. Returns an error if the file
/// must not be overwritten.
fn check_destination(path: &Path, sign: Option<FileMark>) -> Result<Option<Vec<u8>>> {
    let before = fs::read_head(path, HEAD_BYTES as u64).unwrap_or_default();
    if let Some(head) = &before {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_artifact = match sign {
            Some(sign) => memchr::memmem::find(head, sign.text.as_bytes()).is_some(),
            None => ending.is_none_or(|ending| !NON_TEXT_EXTENSIONS.contains(&ending)),
        };
        if !is_artifact {
            overwrite::check_foreign_file(path, sign.map_or("text of ctxc", |sign| sign.artifact))?;
        }
    }
    Ok(before)
}

/// Returns the name of the schema that an artifact declares near its head, without its version.
fn schema_name(bytes: &[u8]) -> Option<&[u8]> {
    let name = bytes.get(memchr::memmem::find(bytes, b"\"ctxc/")? + 1..)?;
    name.get(..memchr::memrchr(b'/', name.get(..memchr::memchr(b'"', name)?)?)?)
}

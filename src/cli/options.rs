//! The command line as resolved: nothing left to decide from environment or terminal.

use super::args::{GlobalArgs, LimitArgs};
use super::render::report::Shown;
use super::render::screen::Screen;
use crate::syntax::limits::Limits;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Volume {
    /// Results only.
    Quiet,
    /// Results and closing lines.
    Usual,
    /// Everything.
    Verbose,
}

/// Whether files are written that hold secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrets {
    /// Such a file is refused.
    Refused,
    /// The user allows it.
    Allowed,
}

/// What every verb works with.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The project folder, when one was named.
    pub(crate) project: Option<PathBuf>,
    /// How much is said.
    pub(crate) volume: Volume,
    /// Threads, when a number was given.
    pub(crate) threads: Option<NonZeroUsize>,
    /// Whether files are written that hold secrets.
    pub(crate) secrets: Secrets,
    /// What standard output shows.
    pub(crate) screen: Screen,
    /// Whether standard error takes colour.
    pub(crate) stderr_color: bool,
    /// Columns to wrap at on standard error; `None` where it is no terminal.
    pub(crate) stderr_width: Option<usize>,
}

impl Options {
    /// Resolves the flags that every verb takes.
    pub(crate) fn resolve(raw: &GlobalArgs) -> Self {
        let volume = match (raw.quiet, raw.verbose) {
            (true, _) => Volume::Quiet,
            (false, true) => Volume::Verbose,
            (false, false) => Volume::Usual,
        };
        Self {
            project: raw.project.clone(),
            volume,
            threads: raw.threads,
            secrets: if raw.allow_secrets { Secrets::Allowed } else { Secrets::Refused },
            screen: Screen::stdout(raw.color),
            stderr_color: Screen::stderr_color(raw.color),
            stderr_width: Screen::stderr_width(),
        }
    }

    /// What formats for people show.
    pub(crate) const fn shown(&self) -> Shown {
        match self.volume {
            Volume::Verbose => Shown::VERBOSE,
            Volume::Quiet | Volume::Usual => Shown::USUAL,
        }
    }

    /// Whether closing lines and advice are printed.
    pub(crate) fn is_chatty(&self) -> bool {
        self.volume != Volume::Quiet
    }
}

impl LimitArgs {
    /// A project's limits with what the command line raises or lowers.
    pub(crate) fn resolve(&self, project: &Limits) -> Limits {
        Limits {
            depth: self.max_depth.unwrap_or(project.depth),
            attributes: self.max_attributes.unwrap_or(project.attributes),
            namespaces: self.max_namespaces.unwrap_or(project.namespaces),
            // Spans count in 32 bits.
            file: self.max_file_size.unwrap_or(project.file).min(u64::from(u32::MAX - 1)),
            text: self.max_text_size.map_or(project.text, |size| u32::try_from(size).unwrap_or(u32::MAX)),
            name: self.max_name.unwrap_or(project.name),
            nodes: self.max_nodes.unwrap_or(project.nodes),
            diagnostics: self.max_diagnostics.unwrap_or(project.diagnostics),
        }
    }
}

//! The resolved command line: nothing depends on the environment or the terminal any more.

use super::render::report::ShownFindings;
use super::render::screen::Screen;
use super::shared_args::{GlobalArgs, LimitArgs};
use crate::syntax::limits::XmlLimits;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The amount of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Volume {
    /// Results only.
    Quiet,
    /// Results and closing lines.
    Usual,
    /// Everything.
    Verbose,
}

/// The policy for output files that contain secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecretPolicy {
    /// The file is not written.
    Refused,
    /// The file is written: the user allows it.
    Allowed,
}

/// The options that every verb uses.
#[derive(Clone, Debug)]
pub(crate) struct GlobalOptions {
    /// The project folder, if `--project` is given.
    pub(crate) project: Option<PathBuf>,
    /// The name of a member of the workspace, until its folder is found.
    pub(crate) member: Option<String>,
    pub(crate) volume: Volume,
    /// The number of threads, if given.
    pub(crate) threads: Option<NonZeroUsize>,
    pub(crate) secrets: SecretPolicy,
    /// True if the run fails unless its packages are those of `ctxc.lock`.
    pub(crate) is_locked: bool,
    /// The properties of standard output.
    pub(crate) screen: Screen,
    /// True if standard error is coloured.
    pub(crate) stderr_color: bool,
    /// Columns of standard error, where lines are wrapped; `None` if it is no terminal.
    pub(crate) stderr_width: Option<usize>,
}

impl GlobalOptions {
    /// Resolves the flags that every verb takes.
    pub(crate) fn resolve(raw: &GlobalArgs) -> Self {
        let volume = match (raw.quiet, raw.verbose) {
            (true, _) => Volume::Quiet,
            (false, true) => Volume::Verbose,
            (false, false) => Volume::Usual,
        };
        Self {
            project: raw.project.clone(),
            member: raw.member.clone(),
            volume,
            threads: raw.threads,
            secrets: if raw.allow_secrets {
                SecretPolicy::Allowed
            } else {
                SecretPolicy::Refused
            },
            is_locked: raw.locked,
            screen: Screen::of_stdout(raw.color),
            stderr_color: Screen::stderr_color(raw.color),
            stderr_width: Screen::stderr_width(),
        }
    }

    /// Returns the level of detail of the formats for people.
    pub(crate) const fn report_detail(&self) -> ShownFindings {
        match self.volume {
            Volume::Verbose => ShownFindings::VERBOSE,
            Volume::Quiet | Volume::Usual => ShownFindings::USUAL,
        }
    }

    /// Returns true if closing lines and advice are printed.
    pub(crate) fn prints_notes(&self) -> bool {
        self.volume != Volume::Quiet
    }
}

impl LimitArgs {
    /// Returns a project's limits, overridden by the limits of the command line.
    pub(crate) fn resolve(&self, project: &XmlLimits) -> XmlLimits {
        XmlLimits {
            depth: self.max_depth.unwrap_or(project.depth),
            attributes: self.max_attributes.unwrap_or(project.attributes),
            namespaces: self.max_namespaces.unwrap_or(project.namespaces),
            // Spans are 32 bits wide.
            file: self
                .max_file_size
                .unwrap_or(project.file)
                .min(u64::from(u32::MAX - 1)),
            text: self
                .max_text_size
                .map_or(project.text, |size| u32::try_from(size).unwrap_or(u32::MAX)),
            name: self.max_name.unwrap_or(project.name),
            nodes: self.max_nodes.unwrap_or(project.nodes),
            diagnostics: self.max_diagnostics.unwrap_or(project.diagnostics),
        }
    }
}

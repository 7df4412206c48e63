//! The part of a workspace that a command line is about, and the form of its result.

use super::shared_args::OutputFormat;
use std::path::{Path, PathBuf};

/// The part of a workspace that a command line is about.
#[derive(Clone, Debug)]
pub(crate) enum WorkspaceReach {
    /// All members, with what is printed for each.
    Members(PrintedForm),
    /// One member, which has to be named, with the reason.
    Member(&'static str),
    /// The member that contains these paths.
    Paths(Vec<PathBuf>),
    /// The folder of the run, member or not.
    Folder,
}

/// The form of a result on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrintedForm {
    /// A text for people.
    Text,
    /// A text for people, with headings in Markdown.
    Markdown,
    /// Lines for programs.
    Lines,
    /// One document for programs.
    Document,
    /// Nothing: the result goes to a file.
    Nothing,
}

impl WorkspaceReach {
    /// Returns the reach of a verb that runs in all members, by the form of its result and by the
    /// files that it writes.
    pub(crate) fn members<'p>(form: PrintedForm, outputs: impl Iterator<Item = &'p Path>) -> Self {
        let mut form = form;
        for path in outputs {
            if path == Path::new("-") {
                form = PrintedForm::Document;
            } else if path.is_absolute() {
                return Self::Member("each member would overwrite a file with an absolute path");
            }
        }
        Self::Members(form)
    }
}

impl PrintedForm {
    /// Returns the form of a result in a format, and in a file if there is one.
    pub(crate) fn new<F: OutputFormat>(format: F, output: Option<&Path>) -> Self {
        if output.is_some_and(|path| path != Path::new("-")) {
            Self::Nothing
        } else if format.file_mark().is_some() {
            Self::Document
        } else {
            Self::Text
        }
    }
}

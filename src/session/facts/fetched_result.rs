//! Results of tools: texts of files, outputs of commands, and texts that calls wrote.

use crate::base::words::words;
use serde::Serialize;

words! {
    /// The kind of a result.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum ResultKind {
        /// The text of a file, or a part of it.
        File = "file",
        /// The output of a command.
        Command = "command",
    }
}

/// The thing that a result belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResultSource {
    /// The kind.
    pub kind: ResultKind,
    /// The path of the file, or the line of the command, masked.
    pub name: String,
}

/// The work of a call on the thing that its result belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceUse {
    /// It fetched it.
    Fetch,
    /// It changed it.
    Change,
    /// It wrote it as a whole.
    Write,
    /// It was refused, as the file had not been read.
    Refusal,
}

/// A result of a tool.
#[derive(Clone, Debug)]
pub struct FetchedResult {
    /// The thing that it belongs to.
    pub source: ResultSource,
    /// The work of its call.
    pub source_use: SourceUse,
    /// The keys of the commands of a line.
    pub commands: Vec<String>,
    /// The text, not masked: the output, or the text that a change wrote.
    pub text: String,
    /// The numbers of the first and the last line of a file, if the tool printed them.
    pub numbers: Option<[usize; 2]>,
    /// The line of the session.
    pub line: usize,
    /// The number of its message.
    pub message: usize,
}

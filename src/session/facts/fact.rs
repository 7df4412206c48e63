//! A fact with its key, its place, and the part of the conversation that it comes from.

use crate::base::words::words;

words! {
    /// The class of a fact, the most important first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum FactClass {
        /// A rule that the agent was given.
        Instruction = "instruction",
        /// A file that a tool call named.
        File = "file",
        /// An error of a tool.
        Error = "error",
        /// A task that is not done.
        Todo = "todo",
        /// A decision with its reason.
        Decision = "decision",
        /// A command that was run.
        Command = "command",
        /// A version, commit, address, port or quantity.
        Value = "value",
    }
}

words! {
    /// The use of a file, the weakest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum FileUse {
        /// A call named it.
        Seen = "seen",
        /// It was read.
        Read = "read",
        /// It was changed.
        Modified = "modified",
        /// It was created.
        Created = "created",
    }
}

/// The part of the conversation that a fact comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactSource {
    /// A text of the user, of the model or of the system.
    Prose,
    /// A tool call of the agent.
    Call,
    /// The result of a tool.
    Result,
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its class.
    pub class: FactClass,
    /// The use of a file.
    pub file_use: Option<FileUse>,
    /// Its identity among the facts of its class.
    pub key: String,
    /// Its text for people, masked.
    pub text: String,
    /// The thing that a value belongs to, such as `version phoenix`.
    pub slot: String,
    /// The part of the conversation that it comes from.
    pub source: FactSource,
    /// The line of the file, from 1.
    pub line: usize,
    /// True if the agent's program sends it with every request.
    pub is_standing: bool,
}

//! A fact with its key, its place, and the part of the conversation that it comes from.

use crate::base::words::words;
use serde::ser::{SerializeStruct as _, Serializer};
use serde::{Deserialize, Serialize};

words! {
    /// The class of a fact, the most important first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
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
        /// A version, commit, address or port.
        Value = "value",
    }
}

words! {
    /// The use of a file, the weakest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
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

/// Programs with verbs that every project uses.
const BUILD_TOOLS: [&str; 6] = ["go", "cargo", "npm", "pnpm", "yarn", "mix"];
const BUILD_VERBS: [&str; 10] = [
    "test", "run", "build", "vet", "install", "fmt", "format", "check", "compile", "mod tidy",
];

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Fact {
    /// Its class; files by their uses: `file.created`.
    #[cfg_attr(feature = "cli", schemars(with = "String"))]
    pub class: FactClass,
    /// The use of a file.
    #[cfg_attr(feature = "cli", schemars(skip))]
    pub file_use: Option<FileUse>,
    /// Its identity among the facts of its class.
    #[cfg_attr(feature = "cli", schemars(skip))]
    pub key: String,
    /// The fact, with secrets and personal data masked.
    pub text: String,
    /// The thing that a value belongs to, such as `version phoenix`.
    #[cfg_attr(feature = "cli", schemars(skip))]
    pub slot: String,
    /// The part of the conversation that it comes from.
    #[cfg_attr(feature = "cli", schemars(skip))]
    pub source: FactSource,
    /// The line of the file where it first occurs.
    pub line: usize,
    /// The number of the message that contains it.
    #[cfg_attr(feature = "cli", schemars(skip))]
    pub message: usize,
    /// True if the agent's program sends it with every request.
    #[cfg_attr(feature = "cli", schemars(skip))]
    pub is_standing: bool,
}

impl Fact {
    /// Returns true for a fact without content of its own, unless it is needed again: a value that a
    /// command printed, or a verb of a build tool such as `go test`.
    pub fn is_weak(&self) -> bool {
        match self.class {
            FactClass::Value => self.source == FactSource::Result,
            FactClass::Command => self.key.split_once(' ').is_some_and(|(program, verb)| {
                BUILD_TOOLS.contains(&program) && BUILD_VERBS.contains(&verb)
            }),
            FactClass::Instruction
            | FactClass::File
            | FactClass::Error
            | FactClass::Todo
            | FactClass::Decision => false,
        }
    }

    /// Returns the name of its class: `file.created`, `error`.
    pub fn class_name(&self) -> String {
        let uses = self.file_use.map(|own| format!(".{}", own.word()));
        self.class.word().to_owned() + &uses.unwrap_or_default()
    }
}

impl Serialize for Fact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Fact", 3)?;
        out.serialize_field("class", &self.class_name())?;
        out.serialize_field("text", &self.text)?;
        out.serialize_field("line", &self.line)?;
        out.end()
    }
}

//! What is to be said about a prompt that was carried over, or could not be: each with its file and line.

use crate::base::words::words;
use std::fmt;

/// Something to know about a prompt.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: u32,
    /// What it is.
    pub kind: NoteKind,
}

words! {
    /// How much a note weighs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, schemars::JsonSchema, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Weight {
        /// Good to know.
        Info = "info",
        /// Something of the original is not in the template, or means something else.
        Warning = "warning",
        /// The prompt is not carried over.
        Error = "error",
    }
}

/// The kinds of notes. Each words itself: a lower-case fragment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum NoteKind {
    /// Why the text is written into the template.
    #[error("the text was copied into the template: {why}; from now on edit it there")]
    Inlined {
        /// Why it cannot stay where it is.
        why: String,
    },
    /// A construct that the language does not have.
    #[error("{what} cannot be carried over: {why}")]
    Unsupported {
        /// What stands there.
        what: String,
        /// Why not, or what to do.
        why: String,
    },
    /// Something that will not be as it was.
    #[error("{what}: {difference}")]
    Differs {
        /// What stands there.
        what: String,
        /// What is different.
        difference: String,
    },
    /// A file that another prompt takes in.
    #[error("`{name}` is not found beside the prompt or in a folder above it")]
    MissingPart {
        /// As it is written.
        name: String,
    },
    /// A file that another prompt takes in cannot be read.
    #[error("`{name}` cannot be read: {reason}")]
    UnreadablePart {
        /// As it is written.
        name: String,
        /// Why not.
        reason: String,
    },
    /// Files that take in each other.
    #[error("`{name}` includes itself: {chain}")]
    Cycle {
        /// The file.
        name: String,
        /// The way round.
        chain: String,
    },
    /// What the parts make together is more than a text may be.
    #[error("with everything that it includes, the text has more than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The text is no template of its own language.
    #[error("{0}")]
    Broken(String),
    /// A model, and settings that a template has no word for.
    #[error("not part of a template: {what}; see the suggestion for ctxc.toml")]
    ModelSettings {
        /// All of it, on one line.
        what: String,
    },
    /// What the front matter says and the language has no place for.
    #[error("`{key}` of the front matter is not carried over{}", hint(why))]
    Ignored {
        /// The key.
        key: String,
        /// What to do instead, or nothing.
        why: String,
    },
    /// Something that the prompt is carried over without.
    #[error("{what} is not carried over: {why}")]
    LeftOut {
        /// What.
        what: String,
        /// Why not, or what to do.
        why: String,
    },
    /// A variable that nothing declares.
    #[error("`{name}` is used by the text but not declared in the front matter: it became a required parameter")]
    Undeclared {
        /// The variable.
        name: String,
    },
    /// A declared input that no text uses.
    #[error("input `{name}` is declared but not used: it was left out")]
    Unused {
        /// The input.
        name: String,
    },
}

/// A reason behind a colon.
fn hint(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}

impl NoteKind {
    /// How much it weighs.
    pub const fn weight(&self) -> Weight {
        match self {
            Self::Inlined { .. } => Weight::Info,
            Self::Differs { .. }
            | Self::ModelSettings { .. }
            | Self::Ignored { .. }
            | Self::LeftOut { .. }
            | Self::Undeclared { .. }
            | Self::Unused { .. } => Weight::Warning,
            Self::Unsupported { .. }
            | Self::MissingPart { .. }
            | Self::UnreadablePart { .. }
            | Self::Cycle { .. }
            | Self::TooLarge { .. }
            | Self::Broken(_) => Weight::Error,
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.kind),
            line => write!(f, "{}:{line}: {}", self.path, self.kind),
        }
    }
}

//! Notes on a prompt that was converted, or could not be: each with its file and line.

use crate::base::words::words;
use std::fmt;

/// A note on a prompt.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImportNote {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: u32,
    /// Its kind.
    pub kind: ImportNoteKind,
}

words! {
    /// Severities of a note.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, schemars::JsonSchema, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    #[schemars(rename = "Weight")]
    pub enum NoteWeight {
        /// Good to know.
        Info = "info",
        /// A part of the original is missing in the template, or has another meaning there.
        Warning = "warning",
        /// The prompt is not carried over.
        Error = "error",
    }
}

/// The kinds of notes. The message of each is a lower-case fragment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum ImportNoteKind {
    /// The text was copied into the template.
    #[error("the text was copied into the template: {why}; from now on edit it there")]
    Inlined {
        /// The reason why it cannot stay in its file.
        why: String,
    },
    /// A construct without an equivalent in the language.
    #[error("{what} cannot be carried over: {why}")]
    Unsupported {
        /// The construct.
        what: String,
        /// The reason, or advice.
        why: String,
    },
    /// A construct that behaves differently.
    #[error("{what}: {difference}")]
    Differs {
        /// The construct.
        what: String,
        /// The difference.
        difference: String,
    },
    /// An included file that does not exist.
    #[error("`{name}` is not found beside the prompt or in a folder above it")]
    MissingPart {
        /// Its name, as written.
        name: String,
    },
    /// An included file that cannot be read.
    #[error("`{name}` cannot be read: {reason}")]
    UnreadablePart {
        /// Its name, as written.
        name: String,
        /// The reason.
        reason: String,
    },
    /// Files that include each other.
    #[error("`{name}` includes itself: {chain}")]
    Cycle {
        /// The file.
        name: String,
        /// The chain of includes.
        chain: String,
    },
    /// The text with all includes exceeds the limit.
    #[error("with everything that it includes, the text has more than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The text is not valid in its own format.
    #[error("{0}")]
    Broken(String),
    /// A model, and settings that a template cannot express.
    #[error("not part of a template: {what}; see the suggestion for ctxc.toml")]
    ModelSettings {
        /// All of them, on one line.
        what: String,
    },
    /// A key of the front matter without an equivalent.
    #[error("`{key}` of the front matter is not carried over{}", colon_reason(why))]
    Ignored {
        /// The key.
        key: String,
        /// Advice, or empty.
        why: String,
    },
    /// A part that was left out.
    #[error("{what} is not carried over: {why}")]
    LeftOut {
        /// The part.
        what: String,
        /// The reason, or advice.
        why: String,
    },
    /// A variable that nothing declares.
    #[error(
        "`{name}` is used by the text but not declared in the front matter: it became a required parameter"
    )]
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

/// A colon with the reason, unless it is empty.
fn colon_reason(why: &str) -> String {
    if why.is_empty() {
        String::new()
    } else {
        format!(": {why}")
    }
}

impl ImportNoteKind {
    /// The weight of the note.
    pub const fn weight(&self) -> NoteWeight {
        match self {
            Self::Inlined { .. } => NoteWeight::Info,
            Self::Differs { .. }
            | Self::ModelSettings { .. }
            | Self::Ignored { .. }
            | Self::LeftOut { .. }
            | Self::Undeclared { .. }
            | Self::Unused { .. } => NoteWeight::Warning,
            Self::Unsupported { .. }
            | Self::MissingPart { .. }
            | Self::UnreadablePart { .. }
            | Self::Cycle { .. }
            | Self::TooLarge { .. }
            | Self::Broken(_) => NoteWeight::Error,
        }
    }
}

impl fmt::Display for ImportNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.kind),
            line => write!(f, "{}:{line}: {}", self.path, self.kind),
        }
    }
}

//! Changes that could happen by mistake, which scenarios are tried with.

use crate::template::setting::{SettingName, Word};

/// Something that could change by mistake.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// A segment is left out.
    Drop(String),
    /// The second half of a segment's text is gone.
    Halve(String),
    /// A segment stands before all others that it can stand before.
    Move(String),
    /// The first word of a segment is gone.
    Reword(String),
    /// An untrusted segment is shown as if it were its author's own.
    Unfence(String),
    /// A setting resolves to another value, of the agent or of a node around it.
    Set(SettingName, &'static str, Option<String>),
    /// A tool is taken away.
    Tool(String),
    /// A tool more is allowed.
    AddTool,
    /// A path is no longer protected.
    Path(String),
    /// Another model is called.
    Model,
    /// The model's name stands for another id of its provider.
    ModelId,
}

impl Change {
    /// The expectation of `expect_context` that would notice it.
    pub const fn noticed_by(&self) -> &'static str {
        match self {
            Self::Drop(_) | Self::Move(_) => "segments",
            Self::Halve(_) | Self::Reword(_) => "snapshot",
            Self::Unfence(_) => "trust",
            Self::Set(..) => "setting",
            Self::Tool(_) | Self::AddTool => "tools",
            Self::Path(_) => "protected_paths",
            Self::Model | Self::ModelId => "model",
        }
    }

    /// The change in words.
    pub fn words(&self) -> String {
        match self {
            Self::Drop(id) => format!("segment `{id}` dropped"),
            Self::Halve(id) => format!("segment `{id}` loses the second half of its text"),
            Self::Move(id) => format!("segment `{id}` moved to the front"),
            Self::Reword(id) => format!("segment `{id}` loses its first word"),
            Self::Unfence(id) => format!("segment `{id}` shown without its fence"),
            Self::Set(name, value, None) => format!("{} set to {value}", name.word()),
            Self::Set(name, value, Some(node)) => format!("{} of {node} set to {value}", name.word()),
            Self::Tool(name) => format!("tool `{name}` taken away"),
            Self::Path(path) => format!("`{path}` no longer protected"),
            Self::AddTool => "a tool more allowed".to_owned(),
            Self::Model => "another model called".to_owned(),
            Self::ModelId => "another id behind the model's name".to_owned(),
        }
    }
}

//! Accidental changes of a project, which mutation testing tries on scenarios.

use crate::template::setting::{SettingName, Word};

/// A change that can happen by accident.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mutation {
    /// A segment is dropped.
    Drop(String),
    /// A segment loses the second half of its text.
    Halve(String),
    /// A segment is moved in front of all others.
    Move(String),
    /// A segment loses its first word.
    Reword(String),
    /// An untrusted segment is rendered without its fence.
    Unfence(String),
    /// A setting of the agent or of a node around it resolves to another value.
    Set(SettingName, &'static str, Option<String>),
    /// A tool is removed.
    Tool(String),
    /// A tool is added.
    AddTool,
    /// A path is no longer protected.
    Path(String),
    /// Another model is called.
    Model,
    /// The model's name refers to another id of its provider.
    ModelId,
    /// A fact is dropped from a summary: its class and its text.
    Fact(String),
}

impl Mutation {
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
            Self::Fact(_) => "survives",
        }
    }

    /// Describes the change.
    pub fn describe(&self) -> String {
        match self {
            Self::Drop(id) => format!("segment `{id}` dropped"),
            Self::Halve(id) => format!("segment `{id}` loses the second half of its text"),
            Self::Move(id) => format!("segment `{id}` moved to the front"),
            Self::Reword(id) => format!("segment `{id}` loses its first word"),
            Self::Unfence(id) => format!("segment `{id}` shown without its fence"),
            Self::Set(name, value, None) => format!("{} set to {value}", name.word()),
            Self::Set(name, value, Some(node)) => {
                format!("{} of {node} set to {value}", name.word())
            }
            Self::Tool(name) => format!("tool `{name}` taken away"),
            Self::Path(path) => format!("`{path}` no longer protected"),
            Self::AddTool => "a tool more allowed".to_owned(),
            Self::Model => "another model called".to_owned(),
            Self::Fact(fact) => format!("{fact} dropped from the summary"),
            Self::ModelId => "another id behind the model's name".to_owned(),
        }
    }
}

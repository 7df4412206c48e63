//! The `body` of a node: the content of a task, call or choice, as data.

mod data;
mod text;

pub use data::{
    AgentFiles, BodyCommand, CommandEnv, DeclaredParameter, EnvVariable, Example, HistoryLimit,
    Input, InputContent, NodeBody, OutputFormat, Relevance, ResultOrigin, SchemaContent,
    VerbatimElement,
};
pub use text::{AuthorText, Text, TextPart};

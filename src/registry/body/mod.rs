//! The `body` of a node: the content of a task, call or choice, as data.

mod body_text;
mod data;

pub use body_text::{AuthorText, Text, TextPart};
pub use data::{
    AgentFiles, BodyCommand, CommandEnv, DeclaredParameter, EnvVariable, Example, HistoryLimit,
    Input, InputContent, NodeBody, OutputFormat, Relevance, ResultOrigin, SchemaContent,
    VerbatimElement,
};

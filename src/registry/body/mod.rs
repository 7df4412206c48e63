//! The `body` of a node: the content of a task, call or choice, as data.

mod data;
mod text;

pub use data::{
    Body, Command, Content, Env, Example, Files, History, Input, Inside, Kept, OutputFormat,
    Parameter, Relevance, Value, Var,
};
pub use text::{Part, Text, Word};

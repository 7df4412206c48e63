//! The `body` of a node: what a task, call or choice says itself, as data and from the model.

mod canonical;
mod data;
mod from_model;
mod text;

pub(super) use canonical::{Sources, canonical};
#[cfg(feature = "assemble")]
pub(crate) use canonical::{is_use, preserves};
pub use data::{
    Body, Command, Content, Env, Example, Files, History, Input, Inside, Kept, OutputFormat, Parameter, Relevance, Value, Var,
};
pub(super) use from_model::Bodies;
pub use text::{Part, Text, Word};

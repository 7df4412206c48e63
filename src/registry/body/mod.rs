//! The `body` of a node: what a task, call or choice says itself, as data and from the model.

#[cfg(feature = "compile")]
mod canonical;
mod data;
#[cfg(feature = "compile")]
mod from_model;
mod text;

#[cfg(feature = "compile")]
pub(super) use canonical::{Sources, canonical};
#[cfg(all(feature = "assemble", feature = "compile"))]
pub(crate) use canonical::{is_use, preserves};
pub use data::{
    Body, Command, Content, Env, Example, Files, History, Input, Inside, Kept, OutputFormat, Parameter, Relevance, Value, Var,
};
#[cfg(feature = "compile")]
pub(super) use from_model::Bodies;
pub use text::{Part, Text, Word};

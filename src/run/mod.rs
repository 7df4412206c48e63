//! Compiled tasks run: a task as a graph of stages, its agents asked, its commands and tools run, everything traced.
//!
//! Reads the settings that the registry stores and resolves none. Asks nobody and starts nothing by itself: who answers, who runs commands and
//! tools, and where the trace goes are handed in.

mod agent;
pub mod answers;
pub mod commands;
pub mod condition;
pub mod conversation;
#[cfg(feature = "cli")]
pub mod drawing;
mod drive;
pub mod flow;
#[cfg(feature = "cli")]
pub mod mcp;
pub mod output;
pub mod plan;
#[cfg(feature = "cli")]
pub mod process;
mod requested_files;
pub mod runner;
pub mod script;
pub mod situation;
#[cfg(feature = "cli")]
pub mod spans;
mod subtask;
pub mod subtask_compiler;
pub mod tools;
pub mod trace;
pub mod wire;

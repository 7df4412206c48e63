//! Runs compiled tasks: a task as a stage graph, its agents, commands and tools, and the trace of
//! everything.
//!
//! Reads the settings stored in the registry and resolves none. Never calls a model and never
//! starts a program by itself: answer sources, runners of commands and tools, and the trace are
//! passed in.

mod agent;
pub mod answers;
pub mod commands;
pub mod condition;
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
pub mod runner;
pub mod script;
pub mod situation;
#[cfg(feature = "cli")]
pub mod spans;
mod subtask;
pub mod tools;
pub mod trace;
pub mod wire;

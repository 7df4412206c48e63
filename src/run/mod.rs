//! Compiled tasks run: a task as a graph of stages, its agents asked, its commands and tools run, everything traced.
//!
//! Reads the settings that the registry stores and resolves none. Asks nobody and starts nothing by itself: who answers, who runs commands and
//! tools, and where the trace goes are handed in.

mod agent;
pub mod answers;
pub mod condition;
pub mod conversation;
#[cfg(feature = "cli")]
pub mod drawing;
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
pub mod subtask;
pub mod tools;
pub mod trace;
pub mod wire;

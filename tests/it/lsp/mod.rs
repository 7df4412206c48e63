//! The language server, driven over a connection in memory.

mod answers;
mod bad;
mod client;
mod diagnostics;
mod edits;
mod figures;
mod fixes;
mod histories;
mod large;
mod meanings;
mod process;
mod projects;
mod same;
mod scenarios;
mod variables;
mod watching;

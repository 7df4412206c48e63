//! The language server, driven over a connection in memory.

mod answers;
mod bad;
mod beside;
mod cleared;
mod client;
mod completion;
mod data_files;
mod diagnostics;
mod edit_histories;
mod edits;
mod figures;
mod fixes;
mod histories;
mod large;
mod meanings;
mod moves;
mod named_beside;
mod process;
mod projects;
mod renames;
mod same;
mod scenarios;
mod variables;
mod watching;
mod ways_out;

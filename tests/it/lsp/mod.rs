//! The language server, driven over a connection in memory.

mod answers;
mod bad_input;
mod cleared;
mod client;
mod completion;
mod data_files;
mod diagnostics;
mod edit_histories;
mod edits;
mod figures;
mod fix_choices;
mod fixes;
mod histories;
mod hover_texts;
mod large;
mod linked_texts;
mod moves;
mod named_beside;
mod packages;
mod process;
mod projects;
mod renames;
mod same_findings;
mod scenarios;
mod variables;
mod watching;

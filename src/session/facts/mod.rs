//! Facts of a conversation: files, commands, errors, values, instructions, decisions and open tasks.

pub mod command;
pub mod error_line;
pub mod fact;
pub mod fact_reader;
pub mod fetched_result;
pub mod file_path;
pub mod outline;
pub mod prose;
pub mod value;

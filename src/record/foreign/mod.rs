//! Calls that other tools recorded: what is in their files, as calls of ours. Reads text alone, and never writes one of their formats.

pub mod call;
mod fault;
mod format;
mod otlp;
mod otlp_messages;
mod vcr;

pub use fault::ForeignFault;
pub use format::{Format, format_of, read};

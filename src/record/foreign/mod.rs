//! Calls that other tools recorded: what is in their files, as calls of ours. Reads text alone, and never writes one of their formats.

mod base64;
mod call;
mod format;
mod otlp;
mod otlp_messages;
mod vcr;

pub use format::{ForeignFault, Format, format_of, read};

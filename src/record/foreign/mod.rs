//! Converts the recordings of other tools to recorded calls. Reads text only, and never writes one
//! of their formats.

pub mod foreign_call;
mod format;
mod otlp;
mod otlp_messages;
mod vcr;

pub use foreign_call::ForeignFault;
pub use format::{RecordingFormat, detect_format, read_calls};

//! Recorded calls: their lines and files, what finds them again, and what is replaced before one is kept.

pub(crate) mod file;
mod redact;

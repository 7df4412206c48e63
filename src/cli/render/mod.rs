//! Findings for people and for programs, all made from the same struct.
//!
//! Nothing here decides what is checked or which exit code follows. The formats for people read the lines they
//! show once more; the formats for machines never touch a file.

pub(crate) mod concise;
pub(crate) mod escape;
mod excerpt;
pub(crate) mod full;
pub(crate) mod json;
pub(crate) mod jsonl;
pub(crate) mod report;
pub(crate) mod screen;
pub(crate) mod sources;
pub(crate) mod summary;
#[cfg(test)]
mod tests;

//! Findings for people and for programs, all from the same struct.
//!
//! Decides neither the checks nor the exit code. Formats that show source lines, or convert the
//! fixes to lines and columns, read the files again; a file that no longer exists only loses its
//! own lines.

pub(crate) mod checkstyle;
pub(crate) mod concise;
mod drawing;
pub(crate) mod escape;
mod excerpt;
pub(crate) mod full;
pub(crate) mod github;
pub(crate) mod gitlab;
pub(crate) mod json;
pub(crate) mod jsonl;
pub(crate) mod junit;
pub(crate) mod markup;
pub(crate) mod plain_finding;
pub(crate) mod rdjson;
pub(crate) mod report;
pub(crate) mod sarif;
pub(crate) mod screen;
pub(crate) mod sources;
pub(crate) mod summary;
#[cfg(test)]
#[path = "../../../tests/unit/cli/render/formats.rs"]
mod tests;
pub(crate) mod unified;

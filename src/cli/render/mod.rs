//! Findings for people and for programs, all made from the same struct.
//!
//! Nothing here decides what is checked or which exit code follows. Formats that show lines, or say in lines and
//! columns what a fix changes, read the files once more; a file that is gone by then takes nothing else with it.

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
mod message;
pub(crate) mod place;
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
pub(crate) mod wrap;

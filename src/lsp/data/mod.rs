//! Completion and hover in scenarios and the project file. Keys come from the tables of their
//! readers, names from the project.

pub(super) mod completion;
mod config;
mod offer;
mod scenario;
mod spot;
pub(super) mod toml_spot;

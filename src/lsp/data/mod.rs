//! Scenarios and the project file as they are being written: keys from the tables that their readers use, names of the project.

pub(super) mod completion;
mod config;
mod offer;
mod scenario;
mod spot;
mod toml_spot;

//! Schemas for other programs: fresh, well made, and equal to what the compiler says and writes.

pub(crate) mod cells;
mod config;
mod files;
mod json;
pub(crate) mod mutants;
mod scenario;
mod scenario_page;

//! Schemas for other programs: fresh, well made, and equal to the compiler's rules and output.

pub(crate) mod cells;
mod config;
mod files;
mod json;
pub(crate) mod mutants;
mod scenario;
mod scenario_page;

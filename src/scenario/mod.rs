//! Floor 2: scenarios and suites as written. Converts a text to data with places, and reports all
//! its faults in one pass.

mod case_tables;
mod check_keys;
pub mod compaction;
pub mod csv;
pub mod date;
pub mod expect;
pub mod json_schema;
pub mod keys;
#[cfg(feature = "fs")]
pub mod load;
mod lower;
pub mod message_keys;
pub mod messages;
pub mod model;
pub mod named_things;
pub mod paths;
pub mod pattern;
mod read;
pub mod request_source;
pub mod rubric;
mod scalars;
pub mod scenario_fault;
pub mod table;
pub mod values;

pub use read::{ScenarioReadOptions, TableTextFn, read_script, read_suite, read_suite_with};
pub use scenario_fault::{ScenarioFault, ScenarioFaultKind};

//! Floor 2: scenarios and suites as written. Text to data with places, and all faults of a text in one run.

mod check;
mod conversation;
pub mod csv;
pub mod date;
pub mod expect;
pub mod fault;
pub mod frozen;
pub mod json_schema;
pub mod keys;
pub mod keys_chat;
#[cfg(feature = "fs")]
pub mod load;
mod lower;
pub mod model;
pub mod paths;
pub mod pattern;
mod read;
pub mod request_body;
mod rows;
mod scalars;
mod sink;
mod slips;
pub mod table;
mod values;
pub mod words;

pub use fault::{Fault, FaultKind};
pub use read::{Options, Tables, read, read_with};

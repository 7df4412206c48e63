//! Requests and their answers as they went over the wire: kept, read, and found again by what was asked.
//!
//! Sends nothing and starts no program. No value of a secret reaches a line that is written.

pub mod comparison;
pub mod difference;
pub mod file;
pub mod fixed_mask;
pub mod foreign;
pub mod json_text;
pub mod json_tree;
pub mod key;
pub mod mask;
#[cfg(feature = "fs")]
pub mod places;
#[cfg(feature = "serve")]
pub mod proxy;
pub mod recorded_calls;
pub mod recording;
pub mod redact;
mod remask;
pub(crate) mod response_body;
pub mod secret_names;
#[cfg(feature = "fs")]
pub mod secret_scan;
pub mod turns;
pub mod volatile;

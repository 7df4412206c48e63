//! Requests and their responses as they went over the wire: recorded, read, and matched with later
//! requests.
//!
//! Sends nothing and starts no program. No secret's value is ever written.

mod addresses;
pub mod comparison;
#[cfg(feature = "fs")]
pub mod environment_files;
mod escapes;
pub mod file;
pub mod fixed_mask;
pub mod foreign;
pub mod json_text;
pub mod json_tree;
pub mod mask;
mod nameless_forms;
mod persons;
#[cfg(feature = "fs")]
pub mod places;
#[cfg(feature = "serve")]
pub mod proxy;
pub mod recorded_calls;
pub mod recording;
pub mod redact;
pub mod remask;
pub(crate) mod response_body;
#[cfg(feature = "fs")]
pub mod secret_scan;
mod secrets;
pub mod turns;
pub mod volatile;

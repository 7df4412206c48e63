//! Recorded calls: their lines and files, the keys by which they are found again, and the values
//! masked before one is stored.

mod assigned;
pub(crate) mod client;
mod comparing;
mod example;
pub(crate) mod file;
mod foreign;
mod json_text;
mod keys;
mod known_forms;
mod notations;
mod passing;
mod places;
pub(crate) mod planted_secrets;
mod redact;
mod refusing;
mod replaying;
mod rerun_agents;
mod running;
mod secret_names;
mod security;
mod stored_calls;
mod vendor;

//! Scenarios and suites: their values, their findings, and the positions of both.

pub(crate) mod examples;
mod fault_messages;
mod files;
mod hostile;
mod reading;
mod rows;

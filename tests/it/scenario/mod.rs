//! Scenarios and suites: what is read of them, what is told of them, and where.

pub(crate) mod examples;
mod files;
mod hostile;
mod reading;
mod rows;
mod told;

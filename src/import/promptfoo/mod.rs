//! Configurations of promptfoo: their prompts become templates, and their tests the scenarios of each.

mod assertion;
mod config;
mod prompts;
mod providers;
mod source;
mod tests;

pub(super) use config::FORMAT;

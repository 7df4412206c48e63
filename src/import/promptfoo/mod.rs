//! Configurations of promptfoo: prompts become templates, and tests become the scenarios of each.

mod assertion;
mod config;
mod prompts;
mod providers;
mod source;
mod tests;

pub(super) use config::FORMAT;

//! Prompts in Jinja: read tag by tag, never rendered.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "what is not looked for among the many statements and expressions of minijinja is let be"
)]

mod flatten;
mod imports;
mod page;
mod pieces;
mod read;
mod usage;
mod uses;

pub(super) use read::{FORMAT, adapt_text, find_inputs, read_jinja};

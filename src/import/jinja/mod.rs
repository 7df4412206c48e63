//! Prompts written in Jinja: read tag by tag, never rendered.

mod adapt;
mod bodies;
mod flatten;
mod imports;
mod late;
mod layout;
mod modules;
mod page;
mod read;
mod scan;
mod unset;
mod usage;
mod uses;
mod words;

pub(super) use read::{inputs, others, read, text};

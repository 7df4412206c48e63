//! The layout of templates: how it looks, and what it never changes.

pub(crate) mod generate;
mod layout;
mod promises;
mod scramble;

//! The layout of templates: its form, and the parts of a template that it never changes.

pub(crate) mod generate;
mod guarantees;
mod layout;
mod scramble;

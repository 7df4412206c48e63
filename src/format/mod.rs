//! The formatter: white space between elements and inside tags, and nothing else.
//!
//! Never changes a text for the agent, a comment, the order of attributes, or what a compiler makes of the file; changes the order of
//! the settings in a `<context_management>`. What is not well-formed is not formatted. Formatting twice gives what formatting once does.

mod layout;
mod tag;

pub use layout::{Broken, Options, format};

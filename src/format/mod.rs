//! The formatter of templates: one element a line, settings in the order of the language's table,
//! long tags wrapped.
//!
//! Changes white space without meaning, the order of the four settings, quotes around values, and
//! `<a></a>` to `<a/>` if the element must be empty. Never changes a text, a comment, or the order
//! of attributes or other elements, so the registry's content hash stays the same. Independent of
//! files and projects.

mod element;
mod items;
mod options;
mod printer;
mod tag;
mod text;

pub use options::{FormatOptions, Indent};
pub use printer::{FormatError, format};

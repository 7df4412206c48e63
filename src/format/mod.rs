//! Templates laid out: one element a line, settings in the order of the language's table, long tags wrapped.
//!
//! Changes white space that means nothing, the order of the four settings, quotes around values, and `<a></a>` into
//! `<a/>` where nothing can stand between. Never a text, a comment, the order of attributes or of anything else, so the
//! registry's content hash stays. Knows no file and no project.

mod element;
mod items;
mod options;
mod printer;
mod tag;
mod text;

pub use options::{Indent, Options};
pub use printer::{Broken, format};

//! Floor 1: text to tree. Never fails, never does I/O, never words a diagnostic, knows no element of the language.

mod cursor;
pub mod fault;
pub mod limits;
pub mod tree;
mod value;

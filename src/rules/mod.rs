//! Floor 5: the findings. One file, one diagnostic: its why, its check, its fix, its examples.
//!
//! Nothing here reads files or decides what is shown; what higher floors know comes in as data.

pub mod input;
pub mod rule;
pub mod syntax;

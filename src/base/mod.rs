//! Floor 0: plain data and the only door to the outside world.
//!
//! No XML, no templates and no terminal.

#[cfg(feature = "compile")]
pub mod base64;
pub mod contained_path;
pub mod diagnostic;
pub mod expansion;
pub mod fix;
#[cfg(feature = "fs")]
pub mod folders;
pub mod fs;
pub mod hash;
pub mod hidden_text;
pub mod json;
#[cfg(feature = "compile")]
pub mod lines;
mod memory;
pub mod number;
#[cfg(any(feature = "compile", feature = "assemble"))]
pub mod package_name;
pub mod parallel;
#[cfg(feature = "fs")]
pub mod patterns;
#[cfg(any(feature = "cli", feature = "lsp"))]
pub mod percent;
pub mod quoted;
pub mod rule_meta;
#[cfg(any(feature = "fs", feature = "eval"))]
pub mod secrets;
#[cfg(feature = "fs")]
pub mod sha256;
pub mod source;
pub mod span;
pub mod suggest;
pub(crate) mod words;
#[cfg(feature = "fs")]
mod write;

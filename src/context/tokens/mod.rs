//! Token counters by name: tables of tokenizers that are public, exact; estimates for vendors that publish none.
//!
//! Nothing is downloaded. A table is part of the program (feature `tokens`) and is read when something is counted by it.

#[cfg(feature = "tokens")]
mod bpe;
mod counters;
#[cfg(feature = "tokens")]
mod merge;
#[cfg(feature = "tokens")]
mod split;
#[cfg(feature = "tokens")]
mod table;

pub use counters::{DEFAULT, counter, names, nearest};

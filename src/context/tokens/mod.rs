//! Token counters by name: exact tables of public tokenizers, and estimates for vendors that
//! publish none.
//!
//! Downloads nothing. A table is part of the program (feature `tokens`) and is read on its first
//! use.

#[cfg(feature = "tokens")]
mod bpe;
mod counters;
#[cfg(feature = "tokens")]
mod merge;
#[cfg(feature = "tokens")]
mod split;
#[cfg(feature = "tokens")]
mod table;

pub use counters::{DEFAULT_COUNTER, counter, counter_names, nearest_name};

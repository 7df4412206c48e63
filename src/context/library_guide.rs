//! The examples of `docs/LIBRARY.md`, compiled and run by `cargo test --doc`. Contains no library
//! code.
#![doc = include_str!("../../docs/LIBRARY.md")]

//! The example of `docs/KERNEL.md`, compiled and run by `cargo test --doc`. Contains no code of the
//! library.
#![doc = include_str!("../../docs/KERNEL.md")]

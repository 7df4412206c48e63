//! The example of `docs/KERNEL.md`, compiled and run by `cargo test --doc`. Nothing of the library is in here.
#![doc = include_str!("../../docs/KERNEL.md")]

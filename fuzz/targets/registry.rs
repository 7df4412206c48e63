//! `cargo +nightly fuzz run registry`
#![no_main]

#[path = "../checks/registry.rs"]
mod registry;

libfuzzer_sys::fuzz_target!(|data: &[u8]| registry::check(data));

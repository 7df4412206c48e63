//! `cargo +nightly fuzz run assembler`
#![no_main]

#[path = "../checks/assembler.rs"]
mod assembler;

libfuzzer_sys::fuzz_target!(|data: &[u8]| assembler::check(data));

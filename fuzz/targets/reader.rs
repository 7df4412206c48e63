//! `cargo +nightly fuzz run reader`
#![no_main]

#[path = "../checks/reader.rs"]
mod reader;

libfuzzer_sys::fuzz_target!(|data: &[u8]| reader::check(data));

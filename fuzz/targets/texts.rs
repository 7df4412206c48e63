//! `cargo +nightly fuzz run texts`
#![no_main]

#[path = "../checks/texts.rs"]
mod texts;

libfuzzer_sys::fuzz_target!(|data: &[u8]| texts::check(data));

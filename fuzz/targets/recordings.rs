//! `cargo +nightly fuzz run recordings`
#![no_main]

#[path = "../checks/recordings.rs"]
mod recordings;

libfuzzer_sys::fuzz_target!(|data: &[u8]| recordings::check(data));

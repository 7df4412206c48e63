//! `cargo +nightly fuzz run pipeline`
#![no_main]

#[path = "../checks/pipeline.rs"]
mod pipeline;

libfuzzer_sys::fuzz_target!(|data: &[u8]| pipeline::check(data));

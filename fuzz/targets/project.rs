//! `cargo +nightly fuzz run project`
#![no_main]

#[path = "../checks/project.rs"]
mod project;

libfuzzer_sys::fuzz_target!(|data: &[u8]| project::check(data));

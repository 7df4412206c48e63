//! `cargo +nightly fuzz run proxy`
#![no_main]

#[path = "../checks/proxy.rs"]
mod proxy;

libfuzzer_sys::fuzz_target!(|data: &[u8]| proxy::check(data));

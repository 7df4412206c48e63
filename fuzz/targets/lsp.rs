//! `cargo +nightly fuzz run lsp`
#![no_main]

#[path = "../checks/lsp.rs"]
mod lsp;

libfuzzer_sys::fuzz_target!(|data: &[u8]| lsp::check(data));

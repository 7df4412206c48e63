//! Starts and ends: what any Rust process costs.
fn main() {}

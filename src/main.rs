//! The `ctxc` program.
fn main() {}

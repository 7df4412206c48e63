//! The `ctxc` program. Everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ctxc::internals::cli::main()
}

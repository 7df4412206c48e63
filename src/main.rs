//! The `ctxc` program. All its code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ctxc::internals::cli::main()
}

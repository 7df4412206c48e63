//! Ctrl-C: exit 130, no file left half written.

use super::exit::Exit;
use crate::base::fs;

/// From now on an interrupt waits for a write in progress (a rename away from whole), then ends the program.
pub(super) fn install() {
    // Without a handler the system ends the program, with the same code in the shell.
    let _ = ctrlc::set_handler(|| {
        let _quiet = fs::hold_writes();
        #[allow(clippy::exit, reason = "an interrupt ends the program from another thread")]
        std::process::exit(i32::from(Exit::Interrupted.code()));
    });
}

//! Ctrl-C: exit 130, no file left half written.
//!
//! Installed only by runs that take long enough to be interrupted, so that a check of one file starts no thread.

use super::exit::Exit;
use crate::base::fs;
use std::sync::Once;

static INSTALLED: Once = Once::new();

/// From now on an interrupt waits for a write in progress (a rename away from whole), then ends the program.
pub(crate) fn install() {
    INSTALLED.call_once(|| {
        // Without a handler the system ends the program, with the same code in the shell.
        let _ = ctrlc::set_handler(|| {
            let _quiet = fs::hold_writes();
            #[allow(clippy::exit, reason = "an interrupt ends the program from another thread")]
            std::process::exit(i32::from(Exit::Interrupted.code()));
        });
    });
}

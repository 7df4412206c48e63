//! Ctrl-C: exit 130, no file left half written. Who runs a command or a server takes it over.

use super::exit::Exit;
use crate::base::fs;
use std::sync::{Mutex, PoisonError};

type Handler = Box<dyn FnMut() + Send>;

/// What is done instead of ending the program.
static INSTEAD: Mutex<Option<Handler>> = Mutex::new(None);

/// What is done before an interrupt ends the program.
static BEFORE: Mutex<Vec<Handler>> = Mutex::new(Vec::new());

/// From now on an interrupt waits for a write in progress (a rename away from whole), then ends the program.
pub(super) fn install() {
    // Without a handler the system ends the program, with the same code in the shell.
    let _ = ctrlc::set_handler(|| {
        if let Some(instead) = INSTEAD.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            instead();
            return;
        }
        for before in BEFORE.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            before();
        }
        let _quiet = fs::hold_writes();
        #[allow(clippy::exit, reason = "an interrupt ends the program from another thread")]
        std::process::exit(i32::from(Exit::Interrupted.code()));
    });
}

/// From now on this is done before an interrupt ends the program.
pub(super) fn before(ending: impl FnMut() + Send + 'static) {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(ending));
}

/// From now on an interrupt, a request to end (SIGTERM) or a closed terminal does this alone.
pub(super) fn instead(handler: impl FnMut() + Send + 'static) {
    *INSTEAD.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(handler));
}

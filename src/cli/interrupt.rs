//! Ctrl-C: exit 130, no file left half written. A verb that runs a command or a server replaces the
//! handler.

use super::exit::Exit;
use crate::base::fs;
use std::sync::{Mutex, PoisonError};

type InterruptHandler = Box<dyn FnMut() + Send>;

/// The handler that replaces the end of the program.
static REPLACEMENT_HANDLER: Mutex<Option<InterruptHandler>> = Mutex::new(None);

/// The handlers that are called before an interrupt ends the program.
static EXIT_HANDLERS: Mutex<Vec<InterruptHandler>> = Mutex::new(Vec::new());

/// Installs the handler: from now on an interrupt waits for a file write in progress, then ends the
/// program.
pub(super) fn install_handler() {
    // Without a handler the system ends the program, with the same exit code in the shell.
    let _ = ctrlc::set_handler(|| {
        if let Some(instead) = REPLACEMENT_HANDLER
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_mut()
        {
            instead();
            return;
        }
        for before in EXIT_HANDLERS
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter_mut()
        {
            before();
        }
        let _quiet = fs::hold_writes();
        #[allow(
            clippy::exit,
            reason = "an interrupt ends the program from another thread"
        )]
        std::process::exit(i32::from(Exit::Interrupted.code()));
    });
}

/// Adds a handler that is called before an interrupt ends the program.
pub(super) fn add_exit_handler(ending: impl FnMut() + Send + 'static) {
    EXIT_HANDLERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(Box::new(ending));
}

/// Replaces the end of the program: from now on an interrupt, a SIGTERM or a closed terminal only
/// calls this handler.
pub(super) fn replace_handler(handler: impl FnMut() + Send + 'static) {
    *REPLACEMENT_HANDLER
        .lock()
        .unwrap_or_else(PoisonError::into_inner) = Some(Box::new(handler));
}

//! Reports a panic as a bug in ctxc, with the details that a bug report needs; never raw, and never
//! blamed on the input.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write;
use std::panic::PanicHookInfo;

/// Installs the panic hook. [`super::main`] returns the exit code.
pub(crate) fn install_hook() {
    std::panic::set_hook(Box::new(|info| {
        // If standard error is closed too, the report is lost.
        let _ = std::io::stderr().write_all(bug_message(info).as_bytes());
    }));
}

fn bug_message(info: &PanicHookInfo<'_>) -> String {
    let what = info.payload_as_str().unwrap_or("no message");
    let place = info.location().map_or_else(
        || "an unknown place".to_string(),
        |at| format!("{}:{}", at.file(), at.line()),
    );
    let backtrace = Backtrace::capture();
    let trace = if backtrace.status() == BacktraceStatus::Captured {
        format!("{backtrace}\n")
    } else {
        "  with RUST_BACKTRACE=1 set, the same command says where it happened\n".to_string()
    };
    format!(
        "error: ctxc has a bug; your files are not at fault and none was left half written\n\
         \x20 what: {what}\n\
         \x20 where: {place}, ctxc {}\n\
         \x20 please report these lines with the command and the file that caused it\n{trace}",
        env!("CARGO_PKG_VERSION"),
    )
}

//! Runs the command of `record` and `replay`, and waits for it, even if signals arrive.

use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::cli::interrupt;
use crate::rules::input::read_fault::describe_io_error;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::{Command, ExitStatus};

/// Runs a command to its end, and returns its exit code: 128 plus the signal if a signal ended it.
#[allow(
    clippy::disallowed_methods,
    reason = "the user names the command on the command line"
)]
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else the machine says"
)]
pub(super) fn run_command(words: &[OsString], variables: &[(String, String)]) -> Result<u8> {
    let Some((program, args)) = words.split_first() else {
        return Ok(0);
    };
    let mut command = Command::new(program);
    command
        .args(args)
        .envs(variables.iter().map(|(name, value)| (name, value)));
    let shown = program.to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|why| match why.kind() {
        io::ErrorKind::NotFound => CliError::usage(format!("the command `{shown}` was not found"))
            .with_hint("the command stands behind `--`, as you would type it: `ctxc record -- pytest tests/`"),
        io::ErrorKind::PermissionDenied => CliError::usage(format!("the command `{shown}` may not be run: {}", describe_io_error(&why))),
        _ => CliError::new(CliErrorKind::Infrastructure, format!("the command `{shown}` could not be started: {}", describe_io_error(&why))),
    })?;
    let pid = child.id();
    let mut signals = 0;
    // A terminal sends Ctrl-C to the command as well. Without a terminal, and from the second time
    // on, the signal is forwarded.
    let is_handed_on = io::stdin().is_terminal();
    interrupt::replace_handler(move || {
        signals += 1;
        if signals > 1 || !is_handed_on {
            signal_child(pid, signals);
        }
    });
    let status = child.wait().map_err(|why| {
        CliError::new(
            CliErrorKind::Infrastructure,
            format!(
                "the command `{shown}` could not be waited for: {}",
                describe_io_error(&why)
            ),
        )
    })?;
    Ok(exit_code(status))
}

#[cfg(unix)]
fn signal_child(pid: u32, times: u32) {
    use rustix::process::{Pid, Signal, kill_process};
    let signal = if times < 3 { Signal::INT } else { Signal::TERM };
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // The command may have ended already.
        let _ = kill_process(pid, signal);
    }
}

#[cfg(not(unix))]
const fn signal_child(_pid: u32, _times: u32) {}

fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    status
        .code()
        .map_or(1, |code| u8::try_from(code).unwrap_or(1))
}

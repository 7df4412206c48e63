//! `ctxc record`, `ctxc replay` and `ctxc proxy`: run a command, and wait for it, even if signals
//! arrive.

use super::args::{AnswerArgs, ProxyArgs, RecordArgs, ReplayArgs};
use super::report::{CallTreatment, ProxyOutcome, print_tally};
use super::setup::{ProxyRequest, ProxySetup, remove_old_recordings, set_up_proxy};
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::cli::interrupt;
use crate::cli::prelude::*;
use crate::record::proxy::call_recorder::ProxyTally;
use crate::rules::input::read_fault::describe_io_error;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::{Command, ExitStatus};
use std::sync::mpsc;

/// Runs a command behind a proxy that records.
pub(crate) fn run_record(args: &RecordArgs, cx: &mut Cx) -> Result<Exit> {
    let wanted = ProxyRequest {
        destination: &args.destination,
        always: true,
        answer: &args.answer,
        replay: None,
        port: 0,
        command: Some(&args.command),
    };
    run_behind_proxy(&wanted, &args.command, CallTreatment::Recorded, cx)
}

/// Runs a command behind a proxy that answers from a recording.
pub(crate) fn run_replay(args: &ReplayArgs, cx: &mut Cx) -> Result<Exit> {
    let answer = AnswerArgs {
        lenient: args.lenient,
        timeout: 600,
        ..AnswerArgs::default()
    };
    let wanted = ProxyRequest {
        destination: &args.destination,
        always: false,
        answer: &answer,
        replay: Some((&args.recording, args.by.into())),
        port: 0,
        command: Some(&args.command),
    };
    run_behind_proxy(&wanted, &args.command, CallTreatment::Answered, cx)
}

fn run_behind_proxy(
    wanted: &ProxyRequest<'_>,
    command: &[OsString],
    done: CallTreatment,
    cx: &mut Cx,
) -> Result<Exit> {
    let ProxySetup {
        server,
        variables,
        shown,
        project,
    } = set_up_proxy(wanted, cx)?;
    let ended = run_command(command, &variables);
    let tally = server.shut_down();
    let code = ended?;
    let reported = print_tally(
        &ProxyOutcome {
            tally: &tally,
            done,
            command,
            shown: shown.as_deref(),
        },
        cx,
    );
    if shown.is_some() {
        remove_old_recordings(&project, wanted.destination.ttl);
    }
    reported?;
    Ok(exit_of_tally(&tally, Exit::Command(code)))
}

/// Answers calls until an interrupt.
pub(crate) fn run_proxy(args: &ProxyArgs, cx: &mut Cx) -> Result<Exit> {
    let wanted = ProxyRequest {
        destination: &args.destination,
        always: args.replay.is_none(),
        answer: &args.answer,
        replay: args
            .replay
            .as_deref()
            .map(|recording| (recording, args.by.into())),
        port: args.port,
        command: None,
    };
    let ProxySetup {
        server,
        variables,
        shown,
        project,
    } = set_up_proxy(&wanted, cx)?;
    let (sender, interrupted) = mpsc::channel();
    interrupt::replace_handler(move || {
        // A second interrupt finds the receiver closed.
        let _ = sender.send(());
    });
    for (name, value) in &variables {
        cx.print(|out| writeln!(out, "export {name}='{}'", value.replace('\'', "'\\''")))?;
    }
    cx.flush()?;
    cx.print_note(&format!(
        "listening on port {} of this machine until Ctrl-C; the lines above lead programs here",
        server.port()
    ));
    interrupted.recv().map_err(|_| {
        CliError::new(
            CliErrorKind::Infrastructure,
            "interrupts cannot be waited for",
        )
    })?;
    let tally = server.shut_down();
    let done = if args.replay.is_none() {
        CallTreatment::Recorded
    } else {
        CallTreatment::Answered
    };
    let reported = print_tally(
        &ProxyOutcome {
            tally: &tally,
            done,
            command: &[],
            shown: shown.as_deref(),
        },
        cx,
    );
    if shown.is_some() {
        remove_old_recordings(&project, args.destination.ttl);
    }
    reported?;
    Ok(exit_of_tally(&tally, Exit::Success))
}

/// Returns the exit: an unanswered call takes precedence over the exit code of the command.
fn exit_of_tally(tally: &ProxyTally, own: Exit) -> Exit {
    if tally.misses.is_empty() {
        own
    } else {
        Exit::Stale
    }
}

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

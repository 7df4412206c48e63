//! `ctxc record`, `ctxc replay` and `ctxc proxy`.

use super::args::{AnswerArgs, ProxyArgs, RecordArgs, ReplayArgs};
use super::child;
use super::report::{CallTreatment, print_tally};
use super::setup::{ProxyRequest, ProxySetup, remove_old_recordings, set_up_proxy};
use crate::cli::interrupt;
use crate::cli::prelude::*;
use crate::record::proxy::keeper::ProxyTally;
use std::ffi::OsString;
use std::sync::mpsc;

/// Runs a command behind a proxy that records.
pub(crate) fn run_record(args: &RecordArgs, cx: &mut Cx) -> Result<Exit> {
    let wanted = ProxyRequest {
        keep: &args.keep,
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
        keep: &args.keep,
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
    let ended = child::run_command(command, &variables);
    let tally = server.shut_down();
    let code = ended?;
    let reported = print_tally(&tally, done, (command, shown.as_deref()), cx);
    if shown.is_some() {
        remove_old_recordings(&project, wanted.keep.ttl);
    }
    reported?;
    Ok(exit_of_tally(&tally, Exit::Command(code)))
}

/// Answers calls until an interrupt.
pub(crate) fn run_proxy(args: &ProxyArgs, cx: &mut Cx) -> Result<Exit> {
    let wanted = ProxyRequest {
        keep: &args.keep,
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
    let reported = print_tally(&tally, done, (&[], shown.as_deref()), cx);
    if shown.is_some() {
        remove_old_recordings(&project, args.keep.ttl);
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

//! `ctxc record`, `ctxc replay` and `ctxc proxy`.

use super::args::{AnswerArgs, ProxyArgs, RecordArgs, ReplayArgs};
use super::child;
use super::report::{Done, report};
use super::setup::{Setup, Wanted, setup, sweep};
use crate::cli::interrupt;
use crate::cli::prelude::*;
use crate::record::proxy::keeper::Tally;
use std::ffi::OsString;
use std::sync::mpsc;

/// Runs a command behind a proxy that records.
pub(crate) fn record(args: &RecordArgs, cx: &mut Cx) -> Result<Exit> {
    let wanted = Wanted {
        keep: &args.keep,
        always: true,
        answer: &args.answer,
        replay: None,
        port: 0,
        command: Some(&args.command),
    };
    behind(&wanted, &args.command, Done::Recorded, cx)
}

/// Runs a command behind a proxy that answers from a recording.
pub(crate) fn replay(args: &ReplayArgs, cx: &mut Cx) -> Result<Exit> {
    let answer = AnswerArgs {
        lenient: args.lenient,
        timeout: 600,
        ..AnswerArgs::default()
    };
    let wanted = Wanted {
        keep: &args.keep,
        always: false,
        answer: &answer,
        replay: Some((&args.recording, args.by.into())),
        port: 0,
        command: Some(&args.command),
    };
    behind(&wanted, &args.command, Done::Answered, cx)
}

fn behind(wanted: &Wanted<'_>, command: &[OsString], done: Done, cx: &mut Cx) -> Result<Exit> {
    let Setup {
        server,
        variables,
        shown,
        project,
    } = setup(wanted, cx)?;
    let ended = child::run(command, &variables);
    let tally = server.end();
    let code = ended?;
    let reported = report(&tally, done, (command, shown.as_deref()), cx);
    if shown.is_some() {
        sweep(&project, wanted.keep.ttl);
    }
    reported?;
    Ok(verdict(&tally, Exit::Command(code)))
}

/// Answers calls until an interrupt.
pub(crate) fn proxy(args: &ProxyArgs, cx: &mut Cx) -> Result<Exit> {
    let wanted = Wanted {
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
    let Setup {
        server,
        variables,
        shown,
        project,
    } = setup(&wanted, cx)?;
    let (sender, interrupted) = mpsc::channel();
    interrupt::instead(move || {
        // A second interrupt finds the receiver closed.
        let _ = sender.send(());
    });
    for (name, value) in &variables {
        cx.print(|out| writeln!(out, "export {name}='{}'", value.replace('\'', "'\\''")))?;
    }
    cx.flush()?;
    cx.note(&format!(
        "listening on port {} of this machine until Ctrl-C; the lines above lead programs here",
        server.port()
    ));
    interrupted
        .recv()
        .map_err(|_| CliError::new(Kind::Infrastructure, "interrupts cannot be waited for"))?;
    let tally = server.end();
    let done = if args.replay.is_none() {
        Done::Recorded
    } else {
        Done::Answered
    };
    let reported = report(&tally, done, (&[], shown.as_deref()), cx);
    if shown.is_some() {
        sweep(&project, args.keep.ttl);
    }
    reported?;
    Ok(verdict(&tally, Exit::Success))
}

/// Returns the exit: an unanswered call takes precedence over the exit code of the command.
fn verdict(tally: &Tally, own: Exit) -> Exit {
    if tally.misses.is_empty() {
        own
    } else {
        Exit::Stale
    }
}

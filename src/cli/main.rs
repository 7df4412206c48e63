//! The entry point of the program: command line in, exit code out. Nothing imports it.

use super::options::GlobalOptions;
use super::shared_args::GlobalArgs;
use super::verbs::Verb;
use super::{interrupt, panic, workspace};
use crate::base::parallel::spawn_deep;
use crate::cli::prelude::*;
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

/// The context compiler: checks task templates and their context settings, and builds the resolved registry.
#[derive(Debug, Parser)]
#[command(
    name = "ctxc",
    version,
    about = "The context compiler: checks task templates and their context settings, and builds the resolved registry",
    arg_required_else_help = true,
    propagate_version = true,
    after_help = "Start with `ctxc init`, then `ctxc check`. Exit codes: 0 fine, 1 findings, 2 usage or project file, \
                  3 a system error, 5 nothing selected, 130 interrupted."
)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    verb: Verb,
}

/// Returns the description of the whole command line.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the program on the arguments of the process. Returns its exit code; never panics.
pub fn main() -> ExitCode {
    panic::install_hook();
    // A main thread has 1 MB of stack on some systems.
    let exit = std::thread::scope(|scope| spawn_deep(scope, run_program).join())
        .unwrap_or(Exit::Infrastructure);
    ExitCode::from(exit.code())
}

fn run_program() -> Exit {
    let args: Vec<OsString> = std::env::args_os().collect();
    let raw = match parse_command_line(&args) {
        Ok(raw) => raw,
        Err(err) => {
            let printed = err.print().and_then(|()| io::stdout().flush());
            return if err.use_stderr() {
                Exit::Usage
            } else {
                exit_after_print(printed)
            };
        }
    };
    let mut cx = Cx::new(GlobalOptions::resolve(&raw.global));
    interrupt::install_handler();
    interrupt::add_exit_handler(crate::run::process::kill_all);
    let verdict = workspace::run_verb(&raw.verb, command, &mut cx);
    // Results that were written before an error are still printed.
    let flushed = cx.flush();
    match verdict.and_then(|exit| flushed.map(|()| exit)) {
        Ok(exit) => exit,
        Err(err) => {
            err.print(
                &mut io::stderr(),
                cx.options.stderr_color,
                cx.options.stderr_width,
            );
            err.exit_code()
        }
    }
}

/// Returns the exit for printed help or version. A closed output pipe is a success.
fn exit_after_print(printed: io::Result<()>) -> Exit {
    match printed {
        Err(err) if err.kind() != io::ErrorKind::BrokenPipe => {
            let err = CliError::stdout_failed(&err);
            err.print(&mut io::stderr(), false, None);
            err.exit_code()
        }
        _ => Exit::Success,
    }
}

/// Parses the command line. `--color` is searched by hand, because clap colours its own messages
/// before any flag is read.
fn parse_command_line(args: &[OsString]) -> std::result::Result<Cli, clap::Error> {
    let chosen = |word: &str| {
        args.windows(2)
            .any(|pair| pair == [OsString::from("--color"), OsString::from(word)])
            || args.contains(&OsString::from(format!("--color={word}")))
    };
    let color = if chosen("never") {
        ColorChoice::Never
    } else if chosen("always") {
        ColorChoice::Always
    } else {
        ColorChoice::Auto
    };
    let mut command = command().color(color);
    let matches = command.try_get_matches_from_mut(args).map_err(|error| {
        // The advice includes flags of other verbs.
        command.build();
        super::usage::add_advice(error, &command, args)
    })?;
    // Not dropped, because the process ends soon.
    std::mem::forget(command);
    Cli::from_arg_matches(&matches)
}

#[cfg(test)]
#[path = "../../tests/unit/cli/main.rs"]
mod tests;

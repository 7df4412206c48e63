//! From the command line to an exit code.

use super::args::{Cli, Verb};
use super::cx::Cx;
use super::error::Result;
use super::exit::Exit;
use super::options::Options;
use super::panic;
use clap::{ColorChoice, CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program on the arguments of the process. Returns its exit code; never panics.
pub fn main() -> ExitCode {
    panic::install();
    let exit = std::panic::catch_unwind(run).unwrap_or(Exit::Infrastructure);
    ExitCode::from(exit.code())
}

fn run() -> Exit {
    let args: Vec<OsString> = std::env::args_os().collect();
    let raw = match parse(&args) {
        Ok(raw) => raw,
        Err(err) => {
            // Help and version are results; a reader that has gone away changes nothing.
            let _ = err.print();
            return if err.use_stderr() { Exit::Usage } else { Exit::Success };
        }
    };
    let mut cx = Cx::new(Options::resolve(&raw.global));
    let verdict = dispatch(raw.verb, &mut cx);
    // What was written before an error is still shown.
    let flushed = cx.flush();
    match verdict.and_then(|exit| flushed.map(|()| exit)) {
        Ok(exit) => exit,
        Err(err) => {
            err.print(&mut std::io::stderr(), cx.options.stderr_color, cx.options.stderr_width);
            err.exit()
        }
    }
}

/// clap colours its own messages before any flag is read, so the flag is looked for by hand.
fn parse(args: &[OsString]) -> std::result::Result<Cli, clap::Error> {
    let chosen = |word: &str| {
        args.windows(2).any(|pair| pair == [OsString::from("--color"), OsString::from(word)])
            || args.contains(&OsString::from(format!("--color={word}")))
    };
    let color = if chosen("never") {
        ColorChoice::Never
    } else if chosen("always") {
        ColorChoice::Always
    } else {
        ColorChoice::Auto
    };
    let mut command = Cli::command().color(color);
    let matches = command.try_get_matches_from_mut(args).map_err(|error| super::usage::advise(error, &command, args))?;
    Cli::from_arg_matches(&matches)
}

fn dispatch(verb: Verb, cx: &mut Cx) -> Result<Exit> {
    match verb {
        Verb::Init(args) => super::init::run(&args, cx),
        Verb::Import(args) => super::import::run(&args, cx),
        Verb::Check(args) => super::check::run(&args, cx),
        Verb::Fmt(args) => super::fmt::run(&args, cx),
        Verb::Watch(args) => super::watch::run(&args, cx),
        Verb::Build(args) => super::build::run(&args, cx),
        Verb::Diff(args) => super::diff::run(&args, cx),
        Verb::Show(args) => super::show::run(&args, cx),
        Verb::Render(args) => super::context::render::run(&args, cx),
        Verb::Manifest(args) => super::context::manifest::run(&args, cx),
        Verb::Search(args) => super::context::search::run(&args, cx),
        Verb::New(args) => super::context::new::run(&args, cx),
        Verb::Eval(args) => super::context::eval::run(&args, cx),
        Verb::Explain(args) => super::explain::run(&args, cx),
        Verb::Defaults(args) => super::defaults::run(&args, cx),
        Verb::Rules(args) => super::rules::run(&args, cx),
        Verb::Schema(args) => super::schema::run(&args, cx),
        Verb::Completions(args) => super::completions::run(&args, cx),
        Verb::Man(args) => super::man::run(&args, cx),
        #[cfg(feature = "lsp")]
        Verb::Lsp(args) => Ok(super::lsp::run(&args)),
        Verb::GenerateDocs(args) => super::generate_docs::run(&args, cx),
        #[cfg(debug_assertions)]
        #[allow(clippy::panic, reason = "shows what a bug looks like, in debug builds alone")]
        Verb::DebugPanic => panic!("asked for"),
    }
}

//! From the command line to an exit code. Holds the list of verbs, and nothing imports it.

use super::args::GlobalArgs;
use super::cx::Cx;
use super::error::Result;
use super::exit::Exit;
use super::options::Options;
use super::{panic, verbs};
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
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
                  3 the machine said no, 5 nothing selected, 130 interrupted."
)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    verb: Verb,
}

/// The verbs, in the order in which one meets them.
#[derive(Debug, Subcommand)]
enum Verb {
    Init(super::init::InitArgs),
    Import(super::import::ImportArgs),
    Check(verbs::check::CheckArgs),
    Fmt(verbs::fmt::FmtArgs),
    Watch(super::watch::WatchArgs),
    Build(verbs::build::BuildArgs),
    Diff(verbs::diff::DiffArgs),
    List(super::context::list::ListArgs),
    Show(verbs::show::ShowArgs),
    Render(super::context::render::RenderArgs),
    Manifest(super::context::manifest::ManifestArgs),
    Search(super::context::search::SearchArgs),
    New(super::context::new::NewArgs),
    Eval(super::context::eval::EvalArgs),
    Explain(verbs::explain::ExplainArgs),
    Defaults(verbs::defaults::DefaultsArgs),
    Rules(verbs::rules::RulesArgs),
    Schema(verbs::schema::SchemaArgs),
    Completions(verbs::completions::CompletionsArgs),
    Man(verbs::man::ManArgs),
    #[cfg(feature = "lsp")]
    Lsp(verbs::lsp::LspArgs),
    #[command(hide = true)]
    GenerateDocs(verbs::generate_docs::GenerateDocsArgs),
    #[cfg(debug_assertions)]
    #[command(hide = true)]
    DebugPanic,
}

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
        Verb::Check(args) => verbs::check::run(&args, cx),
        Verb::Fmt(args) => verbs::fmt::run(&args, cx),
        Verb::Watch(args) => super::watch::run(&args, cx),
        Verb::Build(args) => verbs::build::run(&args, cx),
        Verb::Diff(args) => verbs::diff::run(&args, cx),
        Verb::List(args) => super::context::list::run(&args, cx),
        Verb::Show(args) => verbs::show::run(&args, cx),
        Verb::Render(args) => super::context::render::run(&args, cx),
        Verb::Manifest(args) => super::context::manifest::run(&args, cx),
        Verb::Search(args) => super::context::search::run(&args, cx),
        Verb::New(args) => super::context::new::run(&args, cx),
        Verb::Eval(args) => super::context::eval::run(&args, cx),
        Verb::Explain(args) => verbs::explain::run(&args, cx),
        Verb::Defaults(args) => verbs::defaults::run(&args, cx),
        Verb::Rules(args) => verbs::rules::run(&args, cx),
        Verb::Schema(args) => verbs::schema::run(&args, cx),
        Verb::Completions(args) => verbs::completions::run(&args, &Cli::command(), cx),
        Verb::Man(args) => verbs::man::run(&args, Cli::command(), cx),
        #[cfg(feature = "lsp")]
        Verb::Lsp(args) => Ok(verbs::lsp::run(&args)),
        Verb::GenerateDocs(args) => verbs::generate_docs::run(&args, Cli::command(), cx),
        #[cfg(debug_assertions)]
        #[allow(clippy::panic, reason = "shows what a bug looks like, in debug builds alone")]
        Verb::DebugPanic => panic!("asked for"),
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use crate::cli::usage;
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_tip_names_a_command_that_exists() {
        let command = Cli::command();
        for (word, here) in usage::ELSEWHERE {
            assert!(command.find_subcommand(word).is_none(), "`{word}` is a command by now");
            let line = std::iter::once("ctxc").chain(here.split(' '));
            if let Err(error) = Cli::command().try_get_matches_from(line) {
                let expected = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion, ErrorKind::MissingRequiredArgument];
                assert!(expected.contains(&error.kind()), "{here}: {error}");
            }
        }
    }
}

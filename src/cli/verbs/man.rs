//! `ctxc man [VERB]`: manual pages, generated from the command line.

use crate::base::suggest;
use crate::cli::prelude::*;
use clap::{Args, Command};
use clap_mangen::Man;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc man > ctxc.1\n  ctxc man check > ctxc-check.1\n\n`man ./ctxc.1` shows it."
)]
pub(crate) struct ManArgs {
    /// A command, such as `check`
    #[arg(value_name = "COMMAND")]
    verb: Option<String>,
}

/// Prints the page of `command`, which is the whole command line, or of one of its verbs.
pub(crate) fn print_manual(args: &ManArgs, mut command: Command, cx: &mut Cx) -> Result<Exit> {
    command.build();
    let page = match &args.verb {
        None => command,
        Some(verb) => {
            let verbs = || {
                command
                    .get_subcommands()
                    .filter(|known| !known.is_hide_set())
            };
            let Some(found) = verbs().find(|known| known.get_name() == verb) else {
                let near = suggest::nearest_candidate(verb, verbs().map(Command::get_name));
                return Err(CliError::usage(format!("there is no command `{verb}`"))
                    .with_suggestion(near)
                    .with_hint("`ctxc --help` lists them"));
            };
            found.clone()
        }
    };
    let man = Man::new(page)
        .source(concat!("ctxc ", env!("CARGO_PKG_VERSION")))
        .manual("ctxc manual");
    cx.print(|out| man.render(out))?;
    Ok(Exit::Success)
}

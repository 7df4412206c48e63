//! `ctxc completions SHELL`: prints a shell's completion script, generated from the command line.

use crate::cli::prelude::*;
use clap::{Args, Command};
use clap_complete::Shell;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc completions bash > ctxc.bash\n  ctxc completions zsh > _ctxc\n  ctxc completions fish > ctxc.fish\n\n\
    Where to put them: ~/.local/share/bash-completion/completions/ctxc for bash, a folder of $fpath as _ctxc for zsh, \
    ~/.config/fish/completions/ctxc.fish for fish."
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints the script for `command`, which is the whole command line.
pub(crate) fn print_completions(
    args: &CompletionsArgs,
    command: &Command,
    cx: &mut Cx,
) -> Result<Exit> {
    // Into memory first: the generator panics if a write fails, and a pipe may close.
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut without_hidden_verbs(command),
        "ctxc",
        &mut script,
    );
    cx.print(|out| out.write_all(&script))?;
    Ok(Exit::Success)
}

/// Returns the command line without hidden verbs, because a script would complete them.
fn without_hidden_verbs(whole: &Command) -> Command {
    let verbs = whole
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .cloned();
    Command::new("ctxc")
        .version(env!("CARGO_PKG_VERSION"))
        .args(whole.get_arguments().cloned())
        .subcommands(verbs)
}

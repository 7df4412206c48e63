//! `ctxc lsp`: the language server on standard input and output.

use crate::cli::exit::Exit;
use crate::lsp;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Editors start it themselves: docs/EDITORS.md says how to tell them.\n\n\
    Exit codes: 0 the editor ended the session, 1 the editor went away without a word.")]
pub(crate) struct LspArgs {
    /// Speak over standard input and output; the only way there is, and named for editors that ask for it
    #[arg(long)]
    stdio: bool,
}

/// Serves until the client ends the session or goes away.
pub(crate) fn run(args: &LspArgs) -> Exit {
    let _ = args.stdio;
    match lsp::serve_stdio() {
        lsp::Ended::Asked => Exit::Success,
        lsp::Ended::Left => Exit::Findings,
    }
}

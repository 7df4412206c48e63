//! `ctxc lsp`: the language server on standard input and output.

use crate::cli::prelude::*;
use crate::lsp;

#[derive(Debug, Args)]
#[command(after_help = "Editors start it themselves: docs/EDITORS.md says how to tell them.\n\n\
    Exit codes: 0 the editor ended the session, 1 the editor went away without a word, 3 it sent something that is no message.")]
pub(crate) struct LspArgs {
    /// Speak over standard input and output; the only way there is, and named for editors that ask for it
    #[arg(long)]
    stdio: bool,
}

/// Serves until the client ends the session or goes away.
pub(crate) fn run(args: &LspArgs) -> Result<Exit> {
    let _ = args.stdio;
    match lsp::serve_stdio() {
        Ok(lsp::Ended::Asked) => Ok(Exit::Success),
        Ok(lsp::Ended::Left) => Ok(Exit::Findings),
        Err(error) => Err(CliError::new(Kind::Infrastructure, format!("the editor sent something that is no message: {error}"))),
    }
}

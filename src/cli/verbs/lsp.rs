//! `ctxc lsp`: the language server on standard input and output.

use crate::cli::prelude::*;
use crate::lsp;

#[derive(Debug, Args)]
#[command(
    after_help = "Editors start it themselves: docs/EDITORS.md describes their configuration.\n\n\
    Exit codes: 0 the editor ended the session, 1 the editor disconnected without ending it, 3 it sent an invalid message."
)]
pub(crate) struct LspArgs {
    /// Use standard input and output; this is the only way, and the flag exists for editors that pass it
    #[arg(long)]
    stdio: bool,
}

/// Serves until the client ends the session or disconnects.
pub(crate) fn run_server(args: &LspArgs) -> Result<Exit> {
    let _ = args.stdio;
    match lsp::serve_stdio() {
        Ok(lsp::SessionEnd::Requested) => Ok(Exit::Success),
        Ok(lsp::SessionEnd::Disconnected) => Ok(Exit::Findings),
        Err(error) => Err(CliError::new(
            CliErrorKind::Infrastructure,
            format!("the editor sent an invalid message: {error}"),
        )),
    }
}

//! The language server: `ctxc lsp` over standard input and output.
//!
//! A synchronous loop. Every request runs behind a panic guard, so that a bug gives an error answer
//! and the server continues. Unsaved text of the editor counts in every answer. LSP's own types
//! stay in this folder.

mod capabilities;
mod client;
mod data;
mod diagnostics;
mod dispatch;
mod documents;
mod encoding;
mod features;
mod place;
mod prelude;
mod quick_fixes;
mod rename_files;
mod server;
mod signature;
mod state;
mod tokens;
mod transport;
mod uri;
mod watch;
mod workspace_edit;

pub use dispatch::{SessionEnd, serve};
pub use transport::serve_stdio;

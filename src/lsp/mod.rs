//! The language server: `ctxc lsp` over standard input and output.
//!
//! A synchronous loop; every request stands behind a guard, so that a bug answers with an error and the server lives. Works from
//! memory: what an editor has not saved counts in every answer. LSP's own types stay in this folder.

mod across;
mod actions;
mod begun;
mod bound;
mod buffer;
mod changes;
mod client;
mod complete;
mod diagnostics;
mod documents;
mod encoding;
mod figures;
mod files;
mod folding;
mod hints;
mod hover;
mod look;
mod navigate;
mod offers;
mod pages;
mod parts;
mod place;
mod preview;
mod provenance;
mod refresh;
mod rename;
mod scenarios;
mod server;
mod shape;
mod snapshot;
mod symbols;
mod told;
mod told_figures;
mod transport;
mod trial;
mod uri;
mod variables;
mod world;
mod worlds;

pub use server::{Ended, serve};
pub use transport::serve_stdio;

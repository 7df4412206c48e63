//! Task sources and workspaces.

mod journal;
mod program;
mod webhook;
mod workspaces;

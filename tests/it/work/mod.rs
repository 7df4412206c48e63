//! Where tasks come from and where they are worked on.

mod journal;
mod program;
mod webhook;
mod workspaces;

//! A project as a git revision has it: read through the `git` program, compiled in memory, without touching the work tree.
//!
//! Only for a revision that the user named. No shell, no network, nothing written; no setting of the repository runs a
//! program.

mod git;
mod objects;
mod project_at_revision;
mod tree;

pub(crate) use project_at_revision::{Past, author, left, moved, range};

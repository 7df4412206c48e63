//! A project at a git revision: read through the `git` program, compiled in memory, without
//! touching the work tree.
//!
//! Only for a revision that the user named. Uses no shell and no network, writes nothing, and runs
//! no program that the repository's settings name.

mod base;
mod git;
mod objects;
mod owners;
mod place;
mod project_at_revision;
mod tree;

pub(crate) use base::{ChangeBase, NamedBy};
pub(crate) use git::SHALLOW;
pub(crate) use owners::{is_signed, owners};
pub(crate) use place::{Moved, Part, Place, Places};
pub(crate) use project_at_revision::{CommitFiles, Past, author, range};
pub(crate) use tree::Elsewhere;

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

pub(crate) use base::{BaseNaming, ChangeBase};
pub(crate) use git::SHALLOW_HINT;
pub(crate) use owners::{AddedLine, file_owners, is_line_signed};
pub(crate) use place::{ExternalPart, PlaceSearch, ProjectMove, ProjectPlace};
pub(crate) use project_at_revision::{CommitFiles, ProjectAtRevision, author_address, parse_range};
pub(crate) use tree::ExternalPartKind;

//! Where tasks come from and where they are worked on: task files, a webhook, folders and git worktrees of their own.
//!
//! What is claimed lasts as long as the program that claimed it, by locks that the system lets go of however the program ends.

pub mod beads;
mod git;
pub mod git_worktrees;
mod leases;
pub mod task_file;
pub mod task_journal;
pub mod temporary_folders;
#[cfg(feature = "serve")]
pub mod webhook;

pub use leases::{WORKSPACES, sweep};

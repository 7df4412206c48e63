//! Task sources and workspaces: task files, a webhook, temporary folders and git worktrees.
//!
//! A claim lasts as long as the program that made it, by locks that the system releases even if the
//! program is killed.

pub mod beads;
mod git;
pub mod git_worktrees;
mod leases;
pub mod task_file;
pub mod task_journal;
pub mod temporary_folders;
#[cfg(feature = "serve")]
pub mod webhook;

pub use leases::{WORKSPACES_FOLDER, sweep};

//! A software team on the kernel of ctxc: six roles over git worktrees, from an index of the repository to an archived result.
//!
//! The kernel knows none of this: stages, roles, tools and failure patterns are data and code of this package.

pub mod context;
pub mod org;
pub mod script;
pub mod stages;
pub mod tools;

//! Tasks and their sources, workspaces, budgets, and failures that repeat.
//!
//! Reads no clock: the time is passed in.

pub mod batch;
pub mod budget_policy;
pub mod failure;
pub mod task;
pub mod workspace;

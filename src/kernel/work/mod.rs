//! What is worked off and within which bounds: tasks and their sources, workspaces, budgets, failures that repeat.
//!
//! No clock is read here: the time is handed in.

pub mod batch;
pub mod budget_policy;
pub mod failure;
pub mod restart_intensity;
pub mod task;
pub mod workspace;

//! What is worked off and within which bounds: tasks and their sources, workspaces, budgets, failures that repeat.
//!
//! No clock is read here: the time is handed in.

pub mod budget_policy;
pub mod restart_intensity;

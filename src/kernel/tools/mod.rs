//! The tools of an organisation, the policy that limits them, and the gate that every action
//! passes.
//!
//! Runs nothing: the organisation runs approved actions.

pub mod tool_policy;
pub mod tool_registry;

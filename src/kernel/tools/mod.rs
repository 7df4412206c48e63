//! What agents may do: the tools of an organisation, the policy that bounds them, and the gate that every action passes.
//!
//! Runs nothing: an approved action is run by the organisation.

pub mod approval;
pub mod tool_loop;
pub mod tool_policy;
pub mod tool_registry;

//! The path of a task through its stages: the stage graph of an organisation, the state machine
//! that follows it, and the input and output of agents.
//!
//! No stage name is built in. Calls nothing and never waits: the host calls agents in its own way
//! and reports back.

pub mod agent;
pub mod machine;
pub mod outcome;
pub mod output;
pub mod stage_graph;

//! How a task moves through its stages: the graph of an organisation, the state machine that follows it, and what an agent is given and
//! gives back.
//!
//! No stage is known by name here, nothing is called and nothing waits: a host calls agents, in whatever way it does, and reports back.

pub mod agent;
pub mod history;
pub mod machine;
pub mod outcome;
pub mod output;
pub mod routing;
pub mod stage_graph;
pub mod state;
pub mod visit;

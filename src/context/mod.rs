//! The context that an agent of a compiled task receives: segments built by the resolved settings,
//! fitted into a budget, rendered and reported.
//!
//! Does no I/O: the caller passes in values, files and sources of fresh context. Reads the settings
//! that the registry stores and resolves none. The same inputs give the same bytes.

pub mod answer_format;
pub mod assemble;
mod bare;
mod blocks;
pub mod context_source;
mod dry_run;
pub mod fault;
pub mod fence_marker;
mod fill;
mod fill_jinja;
mod fit;
mod given_results;
#[cfg(doctest)]
mod library_guide;
#[cfg(feature = "compile")]
pub mod lines;
mod lookup_query;
pub mod manifest;
pub(crate) mod objective;
pub mod options;
pub mod render;
pub mod request;
pub mod role;
mod sampling;
mod scope;
pub mod segments;
mod strategy;
mod task_graph;
#[cfg(feature = "compile")]
mod text_lines;
pub mod tokens;
mod values;

pub use crate::kernel::agent_node::AgentNode;
pub use crate::kernel::assembler::{Deferred, SegmentReport, Speaker};
pub use crate::kernel::budget::{Counting, Disposition};
pub use crate::kernel::context::{Kind, Segment, Stability, Trust};
pub use crate::kernel::conversation::{
    Media, MediaSource, Part, Reasoning, ToolCall, ToolResult, Turn,
};
pub use crate::kernel::tokens::TokenCounter;
pub use assemble::{Assembly, Report, assemble, assemble_segments};
pub use context_source::{ContextSource, Fixtures, Match, NoSource};
pub use fault::{Fault, FaultKind, Refused};
pub use options::{ModelSettings, Options, TokenCounters};
pub use render::message::Message;
pub use render::profile::Profile;
pub use request::{CallerGoals, Files, Inputs, Request, StepResult};
#[cfg(feature = "eval")]
pub(crate) use scope::{CommandText, command_values, dependence, door, node_values};
pub use task_graph::TaskGraph;

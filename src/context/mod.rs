//! What an agent of a compiled task receives: segments by the resolved settings, fitted into a budget, rendered, accounted for.
//!
//! Does no I/O: values, files and sources of fresh context are handed in. Reads the settings that the registry stores and
//! resolves none. Same inputs, same bytes.

mod accumulated;
mod asked;
pub mod assemble;
mod blocks;
mod chain;
mod draft;
mod dry;
pub mod fault;
mod fill;
mod fill_jinja;
#[cfg(doctest)]
mod guide;
pub mod history;
mod inherited;
#[cfg(feature = "compile")]
pub mod lines;
pub mod manifest;
mod mark;
pub mod matcher;
pub(crate) mod objective;
pub mod options;
pub mod output;
mod own;
mod query;
pub mod render;
pub mod request;
pub mod role;
mod scope;
mod several;
mod strategy;
#[cfg(feature = "compile")]
mod text_lines;
pub mod tokens;
pub mod transcript;
mod values;

pub use crate::kernel::assembler::{Deferred, SegmentReport, Speaker};
pub use crate::kernel::context::{Kind, Segment, Stability, Trust};
pub use crate::kernel::fit::{Counting, Disposition};
pub use crate::kernel::tokens::TokenCounter;
pub use assemble::{Assembly, Report, assemble};
pub use chain::{Agent, TaskGraph};
pub use fault::{Fault, FaultKind, Refused};
pub use history::{Said, ToolCall};
pub use matcher::{ContextSource, Fixtures, Match};
pub use options::{Counters, ModelSettings, Options};
pub use render::message::Message;
pub use render::profile::Profile;
pub use request::{Asked, Files, Inputs, Request, StepResult};

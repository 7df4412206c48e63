//! The values that a node's texts may name, and which of them are untrusted.

mod binder;
mod chain_memo;
#[cfg(feature = "eval")]
pub(crate) mod command_values;
#[cfg(feature = "eval")]
pub(crate) mod dependence;
pub(crate) mod door;
#[cfg(feature = "eval")]
pub(crate) mod node_values;
mod rounds;
mod trust;

pub(super) use binder::{Binder, content_text, place_at_agent, place_in, produced_input};
pub(super) use chain_memo::{ChainMemo, NodeContext};
#[cfg(feature = "eval")]
pub(crate) use door::CommandText;
pub(super) use door::{Destination, refusals};

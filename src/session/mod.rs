//! Sessions of coding agents, and the facts of a conversation that survive its compactions.
//!
//! Readers take lines and return typed messages; nothing here opens a file, prints or calls a model.

pub mod analysis;
pub mod calls;
pub mod facts;
pub mod method;
pub mod probe;
pub mod read;
pub mod refetch;
pub mod sentences;
pub mod session_event;
pub mod summary_index;
pub mod verdict;

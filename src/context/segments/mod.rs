//! Segments by where their text comes from: the task, the caller, the context around, earlier steps, the conversation.

pub(super) mod caller_segments;
pub(super) mod draft;
pub mod history;
pub(super) mod inherited;
pub(super) mod joined_texts;
pub(super) mod sequence_steps;
pub(super) mod step_results;
pub(super) mod task_segments;

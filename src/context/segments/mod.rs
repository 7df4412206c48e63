//! Segments by the origin of their text: the task, the caller, the surrounding context, earlier
//! steps, the conversation.

pub(super) mod caller_segments;
pub(super) mod draft;
pub mod history;
pub(super) mod inherited;
pub(super) mod joined_texts;
pub(super) mod sequence_steps;
pub(super) mod step_results;
pub(super) mod task_segments;

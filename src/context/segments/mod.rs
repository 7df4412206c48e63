//! Segments by the origin of their text: the task, the caller, the surrounding context, earlier
//! steps, the conversation.

pub mod caller_segments;
pub(super) mod draft_segment;
pub(super) mod inherited;
pub(super) mod step_results;
pub(super) mod task_segments;

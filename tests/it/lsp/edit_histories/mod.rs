//! Random histories of edits: whatever gets another name or place in an editor, nothing but its own
//! names and paths follows, and `check` and `eval` are as before; what is deleted is reported as a
//! fresh program reports it.

mod project;
mod session;

//! Random histories of edits: an item that gets another name or path in an editor changes only its
//! own names and paths, and `check` and `eval` are as before; a deletion is reported as a fresh
//! program reports it.

mod project;
mod session;

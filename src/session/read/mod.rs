//! The formats of sessions, one file each.

mod claude_code;
mod codex;
mod content;
mod gemini_cli;
mod history;
mod pi;
mod recording;
pub mod session_reader;

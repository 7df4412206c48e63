//! Providers whose request bodies are written: one file each, in the order in which they are offered.

mod anthropic;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;
mod prelude;

use super::target::Target;

/// The form of a body where nobody says another: chat completions.
pub static DEFAULT: &Target = &openai_chat::TARGET;

/// Every target.
pub static TARGETS: &[&Target] =
    &[&openai_chat::TARGET, &openai_responses::TARGET, &anthropic::TARGET, &gemini::TARGET, &ollama::TARGET];

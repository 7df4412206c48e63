//! The providers whose request bodies can be rendered: one file each, in the order of the help.

mod anthropic;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;
mod prelude;

use super::target::RenderTarget;

/// The default target: chat completions.
pub static DEFAULT_TARGET: &RenderTarget = &openai_chat::TARGET;

/// Every target.
pub static TARGETS: &[&RenderTarget] = &[
    &openai_chat::TARGET,
    &openai_responses::TARGET,
    &anthropic::TARGET,
    &gemini::TARGET,
    &ollama::TARGET,
];

//! Readers of bodies: one file for each dialect.

pub(super) mod anthropic;
mod block;
pub(super) mod gemini;
pub(super) mod ollama;
pub(super) mod openai_chat;
pub(super) mod openai_responses;

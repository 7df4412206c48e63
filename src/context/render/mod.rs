//! From segments to the text an agent reads: profiles say how a segment looks, messages who says it and where it stands.

mod anthropic;
mod gemini;
pub mod message;
mod ollama;
mod openai_chat;
mod openai_responses;
pub mod profile;
mod schema;
pub mod target;

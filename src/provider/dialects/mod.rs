//! The dialects of responses: one file each, named after the target that renders its requests.

mod anthropic;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;

use super::dialect::ResponseDialect;

/// Every dialect.
pub(super) static DIALECTS: &[&ResponseDialect] = &[
    &openai_chat::DIALECT,
    &openai_responses::DIALECT,
    &anthropic::DIALECT,
    &gemini::DIALECT,
    &ollama::DIALECT,
];

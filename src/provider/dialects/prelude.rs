//! The imports that all dialects share.

pub(super) use crate::kernel::provider::{Stop, Usage};
pub(super) use crate::provider::dialect::{ResponseDialect, count_at, list_at, text_at};
pub(super) use crate::provider::draft::AnswerDraft;
pub(super) use serde_json::Value;

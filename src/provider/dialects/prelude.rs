//! The imports that all dialects share.

pub(super) use crate::kernel::provider::{Stop, Usage};
pub(super) use crate::provider::dialect::{Dialect, count, list, text};
pub(super) use crate::provider::draft::Draft;
pub(super) use serde_json::Value;

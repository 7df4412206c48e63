//! Common imports of the language server's features.

pub(super) use super::place;
pub(super) use super::server::{LspServer, RequestError, RequestResult, to_answer};
pub(super) use super::state::project::ProjectState;
pub(super) use crate::base::span::Span;
pub(super) use serde_json::{Value, json};
pub(super) use std::sync::Arc;

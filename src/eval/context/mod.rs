//! Expectations on contexts: always judged first, without a model or a recorded answer.

mod check;
mod frozen;
mod lookup;
pub mod own_text;
mod patterns;
mod policy;
mod rendered_context;
mod select;
mod stored_request;

pub(super) use check::judge;
pub(super) use lookup::found;
pub(super) use rendered_context::standing;
pub(super) use select::source;
#[cfg(feature = "cli")]
pub(crate) use stored_request::Document;
pub(super) use stored_request::partings;
pub use stored_request::{stored_request, stored_sent};

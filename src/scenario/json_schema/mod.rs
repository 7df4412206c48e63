//! JSON Schemas of users: what is wrong with one, and what it may cost to hold a value against it.

mod check;
#[cfg(feature = "eval")]
pub(crate) mod cost;
pub(crate) mod draft;
mod slip;

pub use check::{keywords, slips};
pub use slip::{Slip, SlipKind, steps};

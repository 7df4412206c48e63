//! JSON Schemas of users: what is wrong with one, and what it may cost to hold a value against it.

mod check;
#[cfg(feature = "eval")]
pub(crate) mod cost;
pub(crate) mod draft;
mod slip;
#[cfg(feature = "eval")]
mod violations;

pub use check::{keywords, slips};
pub(crate) use draft::looks_around;
pub use slip::{Slip, SlipKind, steps};
#[cfg(feature = "eval")]
pub(crate) use violations::violations;

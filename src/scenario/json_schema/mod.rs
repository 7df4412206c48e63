//! JSON Schemas of users: their faults, the cost of validation and the violations of a value.

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

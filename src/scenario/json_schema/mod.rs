//! JSON Schemas of users: their faults, the cost of validation and the violations of a value.

mod check;
#[cfg(feature = "eval")]
pub(crate) mod cost;
pub(crate) mod draft;
mod slip;
#[cfg(feature = "eval")]
mod violations;

pub use check::{handwritten_keywords, schema_faults};
pub(crate) use draft::uses_look_around;
pub use slip::{JsonSchemaFault, JsonSchemaFaultKind, pointer_steps};
#[cfg(feature = "eval")]
pub(crate) use violations::find_violations;

//! JSON Schemas of users: their faults, the cost of validation and the violations of a value.

#[cfg(feature = "eval")]
pub(crate) mod cost;
pub(crate) mod draft;
mod schema_faults;

#[cfg(feature = "eval")]
pub(crate) use draft::find_violations;
pub(crate) use draft::uses_look_around;
pub use draft::{JsonSchemaFault, JsonSchemaFaultKind, pointer_steps};
pub use schema_faults::{handwritten_keywords, schema_faults};

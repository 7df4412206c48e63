//! JSON Schemas of users: their faults, the cost of validation, the violations of a value, and
//! the containment of one schema in another.

#[cfg(feature = "eval")]
pub mod containment;
#[cfg(feature = "eval")]
pub(crate) mod cost;
pub(crate) mod draft;
mod schema_faults;

#[cfg(feature = "eval")]
pub(crate) use draft::find_violations;
pub(crate) use draft::uses_look_around;
pub use draft::{JsonSchemaFault, JsonSchemaFaultKind, pointer_steps};
pub use schema_faults::{handwritten_keywords, schema_faults};

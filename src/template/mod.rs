//! Typed models of templates as written. Every field is optional and has a span; faults are
//! returned as data.

#[cfg(feature = "compile")]
pub mod argv;
#[cfg(feature = "compile")]
pub mod condition;
mod cursor;
#[cfg(feature = "compile")]
pub mod element_specs;
#[cfg(feature = "compile")]
pub mod elements;
pub mod expression;
#[cfg(feature = "compile")]
pub mod facts;
#[cfg(feature = "compile")]
pub mod fault;
#[cfg(feature = "compile")]
pub mod json_schema;
pub mod keywords;
#[cfg(feature = "compile")]
mod lower;
#[cfg(feature = "compile")]
pub mod model;
#[cfg(feature = "compile")]
pub mod names;
#[cfg(feature = "compile")]
pub mod nodes;
#[cfg(feature = "compile")]
pub mod parts;
#[cfg(any(feature = "compile", feature = "assemble"))]
pub mod round_names;
#[cfg(feature = "compile")]
pub mod scope;
pub mod setting;
#[cfg(any(feature = "compile", feature = "assemble"))]
pub mod shape;
#[cfg(feature = "compile")]
mod stretches;
#[cfg(feature = "compile")]
pub mod text;
#[cfg(feature = "compile")]
pub mod texts;
#[cfg(any(feature = "compile", feature = "assemble"))]
pub mod trust;
pub mod value_type;

#[cfg(feature = "compile")]
pub use lower::{is_unseen, legacy_type, lower_document, lower_with_trust, root_kind};

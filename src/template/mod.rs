//! Floor 2: typed models as written. Every field is optional and spanned; faults come back as data.

pub mod argv;
pub mod condition;
mod cursor;
mod element_specs;
pub mod elements;
pub mod expression;
pub mod facts;
pub mod fault;
pub mod json_schema;
mod lower;
pub mod model;
pub mod names;
pub mod nodes;
pub mod parts;
pub mod scope;
pub mod setting;
pub mod text;
pub mod texts;
pub mod value_type;

pub use lower::{legacy_type, lower};

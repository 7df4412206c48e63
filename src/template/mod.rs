//! Floor 2: typed models as written. Every field is optional and spanned; faults come back as data.

mod element_specs;
pub mod elements;
pub mod facts;
pub mod fault;
mod lower;
pub mod model;
pub mod names;
pub mod nodes;
pub mod parts;
pub mod setting;
pub mod texts;

pub use lower::lower;

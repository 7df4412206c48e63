//! Floor 2: typed models as written. Every field is optional and spanned; faults come back as data.

pub mod names;
pub mod setting;

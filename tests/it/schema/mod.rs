//! Schemas for other programs: fresh, well made, and equal to what the compiler says.

pub(crate) mod cells;
mod files;

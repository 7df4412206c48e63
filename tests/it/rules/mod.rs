//! Properties of all rules together.

mod apply;
mod suggestions;

//! What holds for all rules together.

mod apply;
mod meant;

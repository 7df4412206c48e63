//! What holds for all rules together.

mod apply;

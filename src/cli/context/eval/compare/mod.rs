//! `ctxc compare`: runs the same scenarios with several models, roles or revisions, and prints the
//! differences of each from the first.

mod args;
mod side;
mod verb;
mod view;

pub(crate) use args::CompareArgs;
pub(crate) use verb::run_compare;

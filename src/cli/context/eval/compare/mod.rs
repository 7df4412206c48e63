//! `ctxc compare`: runs the same scenarios with several models, roles or revisions, and prints the
//! differences of each from the first.

mod command_line;
mod side;
mod verb;
mod view;

pub(crate) use command_line::CompareArgs;
pub(crate) use verb::run_compare;

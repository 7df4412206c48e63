//! Whole tasks run: every operator, traces, trust, failures.

mod agreement;
mod best;
mod conditions;
mod door;
mod operators;
mod oracle;
mod outputs;
mod permitted;
mod planted;
mod sameness;
mod silencing;
mod source;
mod spans;
mod stored;
pub(crate) mod support;
mod traces;
pub(crate) mod whole;
mod wrong;

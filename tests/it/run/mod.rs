//! Whole tasks run: every operator, traces, trust, failures.

mod agreement;
mod best;
mod conditions;
mod failures;
mod operators;
mod oracle;
mod outputs;
mod permitted;
mod planted_values;
mod sameness;
mod silencing;
mod source;
mod spans;
mod stored;
pub(crate) mod support;
mod traces;
mod value_trust;
pub(crate) mod whole;

//! What minijinja has not, or has otherwise, as Python's Jinja2 has it: filters and functions, each equal to its output byte for byte.
//!
//! Pure functions of what they are given; each is linear in that and in what it makes. What they may cost is metered by
//! `context::jinja_meter`, as of all others. `absent` names what Jinja2 has and a prompt cannot.

mod absent;
mod attach;
mod data;
mod entities;
mod floats;
mod given;
mod lists;
mod markup;
mod numbers;
mod python;
mod texts;
mod turns;
mod wrap;

pub use absent::{ABSENT, Absent, DIFFERENT, Different, absent};
pub(super) use attach::attach;
#[cfg(feature = "assemble")]
pub(crate) use floats::said;
#[cfg(feature = "assemble")]
pub(crate) use given::words;

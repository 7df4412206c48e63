//! Family 3xx: variables, and what binds them.

mod expansion;
mod fields;
mod linked;
mod scope;
mod trust;
mod wording;

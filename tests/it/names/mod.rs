//! Family 3xx: variables, and what binds them.

mod expansion;
mod scope;
mod wording;

//! Family 3xx: variables, and what binds them.

mod scope;
mod wording;

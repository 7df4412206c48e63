//! Family 3xx: variables and their bindings.

mod expansion;
mod fields;
mod linked;
mod scope;
mod trust;
mod wording;

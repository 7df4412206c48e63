//! Contracts between a package and its consumers: what a consumer expects, held to the package as it
//! is.

mod surface_changes;

pub(in crate::cli) use surface_changes::project_surface;

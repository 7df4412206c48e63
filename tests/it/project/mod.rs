//! Floor 4: the project file.

mod defaults;
mod dependencies;
mod eval;
mod examples;
mod globs;
mod hostile;
mod lints;
pub(crate) mod reading;
mod requirements;
mod roles;
mod sections;
mod shared;

//! The one engine from files to findings and a registry: finds files, compiles each by itself, and
//! links all. `check`, `build`, `watch`, the editor and the library use it, and no other code walks
//! files.

pub mod documents;
#[cfg(feature = "fs")]
pub mod files;
#[cfg(feature = "fs")]
pub mod fix;
#[cfg(feature = "fs")]
pub mod inputs;
pub mod link;
#[cfg(feature = "fs")]
pub(crate) mod listed;
#[cfg(feature = "fs")]
mod load;
#[cfg(feature = "fs")]
pub(crate) mod packages;
pub mod partial;
#[cfg(feature = "fs")]
pub mod project_check;
#[cfg(feature = "fs")]
pub mod request;
#[cfg(feature = "fs")]
mod walk;

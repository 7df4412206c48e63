//! The writing side of the registry: compiles one template file from bytes to findings, facts and
//! its lines, and joins all lines to one text.

mod canonical;
mod compiler;
mod entry;
mod from_model;
mod json;
pub(super) mod layout;
pub(super) mod merkle;
mod paths;
pub(crate) mod sources;
mod tree;

#[cfg(feature = "assemble")]
pub(crate) use canonical::{is_use, preserves_space};
#[cfg(feature = "fs")]
pub(super) use compiler::is_foreign;
pub use compiler::{
    CompileBuffers, CompileOutcome, CompileReason, CompiledFile, CompiledPackage, Compiler,
};
pub use entry::RegistryEntry;

//! From tree to model, driven by the element table. One traversal; faults come back beside the model.
//!
//! Independent of any project: a type that no language knows is kept as written. Says nothing about damaged elements.

mod attributes;
mod children;
mod file;
mod parts;
mod settings;
mod task;
mod text;

pub use file::lower;

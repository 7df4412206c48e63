//! The rules of the repository, enforced by tests. Each check is a pure function over texts, so
//! that each also has a test that feeds it a bad text and expects a fault.

mod attributes;
mod circles;
mod dependencies;
mod doors;
mod floors;
mod forgotten;
mod ignored;
mod kernel_names;
mod language;
mod merged;
mod places;
mod public_names;
mod shape;
mod source;
mod writers;

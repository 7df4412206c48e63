//! Floor 7: schemas for other programs, made from the tables of the language: of templates, and in [`json`] of artifacts.
//!
//! Nothing is stated here a second time: what may stand where comes from [`crate::template::elements`], which settings
//! agree from [`crate::settings`]. A schema never refuses what the compiler accepts in a project without types of its own.

mod body;
pub mod config;
mod grammar;
pub mod json;
mod languages;
mod pattern;
mod rng;
pub mod scenario;
mod xsd;

pub use languages::{rng, xsd};

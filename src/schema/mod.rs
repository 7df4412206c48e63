//! Schemas for other programs, generated from the tables of the language: of templates, and in
//! [`json`] of artifacts.
//!
//! Nothing is defined a second time here: the structure comes from [`crate::template::elements`],
//! the valid combinations of settings from [`crate::settings`]. A schema never rejects a template
//! that the compiler accepts in a project without types of its own.

mod body;
pub mod config;
mod grammar;
pub mod json;
mod languages;
mod pattern;
mod rng;
pub mod scenario;
mod xsd;

pub use languages::{rng_schema, xsd_schema};

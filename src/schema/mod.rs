//! Floor 7: schemas of templates for other programs, made from the element table and the operator table.
//!
//! Nothing is stated here a second time: what may stand where comes from [`crate::template::elements`], which settings
//! agree from [`crate::settings`]. A schema never refuses what the compiler accepts in a project without types of its own.

mod body;
mod grammar;
mod languages;
mod pattern;
mod rnc;
mod rng;
mod xsd;

pub use languages::{rnc, rng, xsd};

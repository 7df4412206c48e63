//! From text to [`super::config::Config`]. The only door to the TOML reader; lowers its tree by hand, so that every
//! fault of a file is found in one run, each at its own place.

mod check;
mod condition;
mod draft;
mod eval;
mod extends;
pub mod keys;
mod layers;
mod lints;
mod merge;
mod models;
pub mod named_things;
mod policy;
mod policy_check;
mod requests;
mod require;
mod roles;
mod routes;
mod row;
mod sampling;
mod sections;
mod shared;
mod tool_definitions;
mod tools;
mod value;

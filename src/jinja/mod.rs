//! Jinja texts: parsing, variables and rendering. The only door to minijinja.
//!
//! Never loads another template, never accesses anything except the values passed in, never panics
//! on input.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "what is not looked for among the many tokens, expressions and instructions of minijinja is let be"
)]

pub mod builtins;
mod constant_folding;
pub mod environment;
#[cfg_attr(
    not(feature = "assemble"),
    allow(dead_code, reason = "only what renders needs all of it")
)]
mod flow;
#[cfg(feature = "assemble")]
mod instrument;
pub mod jinja_fault;
#[cfg(feature = "assemble")]
mod meter;
pub mod parse;
#[cfg_attr(
    not(feature = "assemble"),
    allow(dead_code, reason = "only what renders needs all of it")
)]
mod reads;
#[cfg(feature = "assemble")]
pub(crate) mod render;
pub mod static_limits;
#[cfg_attr(
    not(feature = "cli"),
    allow(
        dead_code,
        reason = "only what renders, finds lines and imports needs all of it"
    )
)]
pub(crate) mod tags;
#[cfg(feature = "assemble")]
mod trace;
#[cfg_attr(
    not(feature = "cli"),
    allow(
        dead_code,
        unused_imports,
        reason = "only what renders and imports needs all of it"
    )
)]
pub(crate) mod tree;
#[cfg(feature = "assemble")]
pub mod trial;
pub mod unsupported;

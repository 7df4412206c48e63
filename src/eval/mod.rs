//! Judges the expectations of scenarios on contexts and answers: verdicts with reasons, trials, the
//! scorecard.
//!
//! Does no I/O: files, snapshots, recorded answers and earlier results are passed in, and models
//! are called through a trait. Equal inputs and answers give equal bytes on any number of threads.

pub mod affected;
pub mod agreement;
pub mod answer;
pub mod answer_source;
pub mod case;
pub mod case_result;
pub mod change;
pub mod compaction;
#[cfg(feature = "cli")]
pub mod comparison;
pub mod compiled_patterns;
pub mod context;
pub mod draft;
#[cfg(feature = "store")]
pub mod drift;
pub mod gate;
pub mod groups;
pub mod judge;
pub mod kappa;
pub mod locate;
pub mod mutate;
pub mod prepared_case;
pub mod receiver;
pub mod request;
pub mod result_keys;
pub mod role_agent;
pub mod run;
mod run_context;
pub mod score;
pub mod scorecard;
pub mod scripted;
mod situation;
pub mod statistics;
pub mod trials;
pub mod trust_decision;
pub mod verdict;

pub use compiled_patterns::compile_masks;

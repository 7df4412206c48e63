//! What scenarios say of contexts and of answers, judged: verdicts with their reasons, trials, the scorecard.
//!
//! Does no I/O: files, snapshots and earlier results are handed in. Asks no model. Same inputs, same bytes, on any number of
//! threads.

pub mod affected;
pub mod answer;
pub mod case;
pub mod case_keys;
pub mod compiled_patterns;
pub mod context;
mod context_hash;
pub mod draft;
pub mod finished;
pub mod locate;
pub mod mutate;
pub mod prepared;
pub mod receiver;
pub mod run;
pub mod scorecard;
mod search;
mod situation;
pub mod trials;
pub mod verdict;

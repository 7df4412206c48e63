//! Scenarios judged: contexts, scripted answers, trials, keys.

mod affected;
mod agreement;
mod answers;
mod bench;
mod changes;
mod context;
mod drift;
mod hostile;
mod scores;
mod situations;
mod statistics;
mod trials;
mod trust;

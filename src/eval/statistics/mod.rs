//! What numbers of trials say: intervals of rates, tests between two runs, and how a rule of trials treats a rate.
//!
//! Pure functions of counts. No normal approximation of small numbers, no randomness that is not seeded.

pub mod binomial;
pub mod clusters;
pub mod interval;
pub mod outlook;

//! Statistics of trials: intervals of rates, tests between two runs, and the effect of a rule of
//! trials on a rate.
//!
//! Pure functions of counts. No normal approximation for small numbers, no unseeded randomness.

pub mod binomial;
pub mod clusters;
pub mod interval;
pub mod outlook;

//! A support agent that reads documents until it can answer: a blocking loop around a model, as many programs have one.
//!
//! [`before`] is how its context was put together at first, by hand; [`agent`] takes it from a compiled template. The loop
//! and the model are the same.

pub mod agent;
pub mod before;
pub mod model;

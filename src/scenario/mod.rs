//! Scenarios and suites: frozen situations, and what agents must receive and answer in them.

pub mod model;

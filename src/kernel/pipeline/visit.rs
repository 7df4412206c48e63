//! A run of a stage, by the stage's name and a number.
//!
//! Knows no graph: a name means what the organisation means by it.

use serde::{Deserialize, Serialize};

/// A run of a stage: stages that loop are visited several times.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Visit {
    /// The stage.
    pub stage: String,
    /// Which visit of it, from 1.
    pub number: u32,
}

impl Visit {
    /// The first visit of a stage.
    pub fn first(stage: impl Into<String>) -> Self {
        Self { stage: stage.into(), number: 1 }
    }
}

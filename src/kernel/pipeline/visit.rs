//! A run of a stage, identified by the stage's name and a number.
//!
//! Independent of any graph: the organisation defines the meaning of names.

use serde::{Deserialize, Serialize};

/// A run of a stage: stages in loops are visited several times.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Visit {
    /// The stage.
    pub stage: String,
    /// The number of the visit, from 1.
    pub number: u32,
}

impl Visit {
    /// The first visit of a stage.
    pub fn first(stage: impl Into<String>) -> Self {
        Self {
            stage: stage.into(),
            number: 1,
        }
    }
}

//! Accepted results, and their comparison with the results of a run.

use serde::{Deserialize, Serialize};

/// The accepted result of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct BaselineCase {
    /// The name of the scenario.
    pub id: String,
    /// The hash of the scenario's content and of its answers.
    pub key: Option<String>,
    /// The hash of everything that determines its context.
    pub context_hash: Option<String>,
    /// The provider of its model.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The verdict.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = ["pass", "fail"])))]
    pub verdict: String,
    /// The expectations that did not hold, in words: an accepted failure excuses no other. Absent
    /// if none failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// Trials that passed.
    pub passed: usize,
    /// The number of trials.
    pub trials: usize,
    /// Tokens of its context.
    pub context_tokens: Option<u64>,
    /// Tokens of its trials, sent and answered.
    pub tokens: u64,
}

/// The differences between the results of a run and accepted ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Comparison"))]
pub struct BaselineComparison {
    /// The file or folder of the accepted results, as it was named.
    pub path: String,
    /// The number of scenarios that pass more often than before.
    pub better: u32,
    /// The number of scenarios that pass less often.
    pub worse: u32,
    /// The number of scenarios that pass as often.
    pub equal: u32,
    /// The chance that at least this many of the differing answered scenarios are worse if both
    /// directions are equally likely (exact one-sided sign test). With fewer than five that differ,
    /// it is never below 0.05.
    pub sign_test: f64,
    /// Tokens of one trial of each compared and answered scenario, when it was accepted.
    pub tokens_then: u64,
    /// The same now.
    pub tokens_now: u64,
    /// Accepted scenarios that the run lacks.
    pub missing: Vec<String>,
    /// Scenarios without an accepted result.
    pub new: Vec<String>,
    /// Scenarios that are not compared, each with the reason: it neither passes nor fails now, or
    /// another provider or model answered it when it was accepted.
    pub not_compared: Vec<String>,
}

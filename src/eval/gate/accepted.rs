//! Accepted results, and their comparison with the results of a run.

use serde::{Deserialize, Serialize};

/// The accepted result of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct BaselineCase {
    /// The name of the scenario.
    pub id: String,
    /// The hash of what the scenario says and of what answered it.
    pub key: Option<String>,
    /// The hash of what decides its context.
    pub context_hash: Option<String>,
    /// The provider of its model.
    pub provider: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// What became of it.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = ["pass", "fail"])))]
    pub verdict: String,
    /// The expectations that did not hold, in words: an accepted failure excuses no other. Left out where none failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// Trials that passed.
    pub passed: usize,
    /// How many trials there were.
    pub trials: usize,
    /// Tokens of its context.
    pub context_tokens: Option<u64>,
    /// Tokens of its trials, sent and answered.
    pub tokens: u64,
}

/// How the results of a run differ from accepted ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Comparison"))]
pub struct BaselineComparison {
    /// Where the accepted results come from, as it was named.
    pub path: String,
    /// Scenarios that pass more often than they did.
    pub better: u32,
    /// Scenarios that pass less often.
    pub worse: u32,
    /// Scenarios that pass as often.
    pub equal: u32,
    /// The chance that so many of the answered scenarios that differ are worse where both ways are as likely (exact one-sided sign test).
    /// Fewer than five that differ can never bring it below 0.05.
    pub sign_test: f64,
    /// Tokens of one trial of each compared scenario that was answered, when it was accepted.
    pub tokens_then: u64,
    /// The same now.
    pub tokens_now: u64,
    /// Accepted scenarios that the run does not have.
    pub missing: Vec<String>,
    /// Scenarios that nobody accepted.
    pub new: Vec<String>,
    /// Scenarios that are not compared, each with why: it neither passes nor fails now, or another provider or model answered it when it was accepted.
    pub not_compared: Vec<String>,
}

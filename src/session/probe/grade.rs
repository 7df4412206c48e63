//! The grades of answers: their means by criterion, then by dimension, then overall.
//!
//! A criterion that does not apply is left out, never 0. Scores count on a scale of 0 to 5.

use crate::scenario::rubric::Rubric;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The rubric that is part of this program.
const SHIPPED_RUBRIC: &str = include_str!("../../../templates/rubrics/compression.yaml");
/// The scale that means are given on.
const SCALE: f64 = 5.0;

/// The score of a criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CriterionResult {
    /// The id of the criterion.
    pub criterion_id: String,
    /// The score.
    pub score: u64,
    /// The reason, with its evidence.
    pub reasoning: String,
}

/// The grade of an answer: the output of a judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProbeGrade {
    /// The scores, in the order of the rubric.
    pub criterion_results: Vec<CriterionResult>,
    /// The mean of the dimensions.
    pub aggregate_score: f64,
    /// The weighted mean of each dimension's criteria.
    pub dimension_scores: BTreeMap<String, f64>,
}

/// Means of scores.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct MeanScores {
    /// The mean over probes of each criterion that applies.
    pub criteria: BTreeMap<String, f64>,
    /// The weighted mean of the criteria of each dimension.
    pub dimensions: BTreeMap<String, f64>,
    /// The mean of the dimensions; null without a score.
    pub overall: Option<f64>,
}

/// Returns the rubric that is part of this program.
pub fn shipped_rubric() -> Rubric {
    Rubric::read(SHIPPED_RUBRIC).0
}

impl ProbeGrade {
    /// Computes the aggregates of some scores.
    pub fn new(criterion_results: Vec<CriterionResult>, rubric: &Rubric) -> Self {
        let means = MeanScores::new(std::iter::once(&*criterion_results), rubric);
        Self {
            criterion_results,
            aggregate_score: means.overall.unwrap_or(0.0),
            dimension_scores: means.dimensions,
        }
    }
}

impl MeanScores {
    /// Computes the means over the scores of some probes.
    pub fn new<'r>(probes: impl Iterator<Item = &'r [CriterionResult]>, rubric: &Rubric) -> Self {
        let mut scores: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for result in probes.flatten() {
            let own = scores.entry(&result.criterion_id).or_default();
            own.push(result.score);
        }
        let mut out = Self::default();
        // The weighted sum and the weights of each dimension.
        let mut sums: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
        for criterion in &rubric.criteria {
            let Some(own) = scores.get(criterion.id.as_str()) else {
                continue;
            };
            #[allow(clippy::cast_precision_loss, reason = "scores and counts are small")]
            let mean = own.iter().sum::<u64>() as f64 / own.len() as f64 * SCALE
                / criterion.max_score as f64;
            out.criteria.insert(criterion.id.clone(), mean);
            let [total, weight] = sums.entry(criterion.dimension()).or_default();
            *total += mean * criterion.weight;
            *weight += criterion.weight;
        }
        for (dimension, [total, weight]) in sums {
            out.dimensions.insert(dimension.to_owned(), total / weight);
        }
        #[allow(clippy::cast_precision_loss, reason = "dimensions are few")]
        let count = out.dimensions.len() as f64;
        out.overall = (count > 0.0).then(|| out.dimensions.values().sum::<f64>() / count);
        out
    }
}

/// A figure of a table of means.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScoreName {
    /// The mean of the dimensions.
    Overall,
    /// A dimension.
    Dimension(String),
    /// A criterion.
    Criterion(String),
}

impl MeanScores {
    /// Returns all figures by their names.
    pub fn entries(&self) -> BTreeMap<ScoreName, f64> {
        let dimensions = self.dimensions.iter();
        let criteria = self.criteria.iter();
        let overall = self.overall.map(|mean| (ScoreName::Overall, mean));
        overall
            .into_iter()
            .chain(dimensions.map(|(name, mean)| (ScoreName::Dimension(name.clone()), *mean)))
            .chain(criteria.map(|(name, mean)| (ScoreName::Criterion(name.clone()), *mean)))
            .collect()
    }
}

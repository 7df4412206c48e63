//! Figures of many scenarios together: by tag, and by the thresholds of suites. A scenario without a
//! score counts as 0, one without a result as not passed.

use super::case_result::CaseVerdict;
use super::score::{format_score, mean};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The threshold that decides in place of single scenarios.
const PASS_RATE: &str = "pass_rate";

/// The score of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct ScoreRow {
    /// The mean score of the trials of the deciding stage, in which a missing trial counts as 0;
    /// null if there are none.
    pub value: Option<f64>,
    /// The score from which a trial passes; null if every expectation must hold.
    pub min: Option<f64>,
}

/// The lowest and the highest value that a figure can have once everything is judged.
type Bounds = [f64; 2];

/// The figures of one scenario.
#[derive(Clone, Copy, Debug)]
pub(super) struct CaseFigures {
    pub(super) verdict: CaseVerdict,
    /// The pass rate of its judged trials, if it has any.
    pub(super) rate: Option<f64>,
    /// Its score, if it is scored.
    pub(super) score: Option<Bounds>,
}

/// The scenarios with a tag.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct TagRow {
    /// The tag.
    pub tag: String,
    /// The number of scenarios.
    pub planned: usize,
    /// The number of these that pass.
    pub passed: usize,
    /// The mean pass rate of the judged trials of scenarios; null without any.
    pub pass_rate: Option<f64>,
    /// The mean score of scored scenarios; null if none is scored. One without a score counts as 0.
    pub score: Option<f64>,
}

impl TagRow {
    /// Adds up some scenarios.
    fn new(tag: &str, rows: &[CaseFigures]) -> Self {
        let passed = rows.iter().filter(|row| row.verdict == CaseVerdict::Pass);
        Self {
            tag: tag.to_owned(),
            planned: rows.len(),
            passed: passed.count(),
            pass_rate: mean(rows.iter().filter_map(|row| row.rate)),
            score: mean_score(rows).map(|[score, _]| score),
        }
    }
}

/// Groups scenarios by their tags.
pub(super) fn group_by_tag<'r>(
    cases: impl Iterator<Item = (&'r [String], CaseFigures)>,
) -> Vec<TagRow> {
    let mut tags: BTreeMap<&String, Vec<CaseFigures>> = BTreeMap::new();
    for (own, figures) in cases {
        for tag in own {
            tags.entry(tag).or_default().push(figures);
        }
    }
    tags.into_iter()
        .map(|(tag, rows)| TagRow::new(tag, &rows))
        .collect()
}

fn mean_bounds(bounds: impl Iterator<Item = Bounds> + Clone) -> Option<Bounds> {
    let min = mean(bounds.clone().map(|[min, _]| min))?;
    Some([min, mean(bounds.map(|[_, max]| max))?])
}

/// The mean score of the scored ones among some scenarios.
pub(super) fn mean_score(rows: &[CaseFigures]) -> Option<Bounds> {
    mean_bounds(rows.iter().filter_map(|row| row.score))
}

/// The share of scenarios that pass.
fn pass_share(rows: &[CaseFigures]) -> Option<Bounds> {
    mean_bounds(rows.iter().map(|row| match row.verdict {
        CaseVerdict::Pass => [1.0, 1.0],
        CaseVerdict::Fail => [0.0, 0.0],
        CaseVerdict::Stale | CaseVerdict::Inconclusive | CaseVerdict::Error => [0.0, 1.0],
    }))
}

/// The minimums that a suite sets for all of its scenarios together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct ThresholdsRow {
    /// The minimum mean of the scores; null if there is none.
    pub min_score: Option<f64>,
    /// The minimum share of scenarios that pass; null if there is none.
    pub pass_rate: Option<f64>,
    /// The number of scenarios of the suite.
    pub cases: usize,
}

/// A threshold of a suite, compared with its scenarios.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct ThresholdRow {
    /// The suite.
    pub suite: String,
    /// Its file, relative to the project.
    pub path: String,
    /// The threshold.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = ["min_score", "pass_rate"])))]
    pub name: String,
    /// The minimum.
    pub limit: f64,
    /// The actual value, in which everything that is not judged counts as 0.
    pub value: f64,
    /// The verdict; `inconclusive` if a full judgement could still reach the minimum.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = ["pass", "fail", "inconclusive"])))]
    pub verdict: String,
}

impl ThresholdRow {
    /// Its verdict. An unknown word counts as an error, never as a success.
    pub fn verdict(&self) -> CaseVerdict {
        CaseVerdict::parse(&self.verdict).unwrap_or(CaseVerdict::Error)
    }

    /// True if it is not reached.
    pub(super) fn is_missed(&self) -> bool {
        self.verdict() == CaseVerdict::Fail
    }

    /// True if the suite may contain scenarios that fail, and enough of them pass.
    pub(super) fn allows_failures(&self) -> bool {
        self.name == PASS_RATE && self.verdict() == CaseVerdict::Pass
    }

    /// Describes the comparison in one line.
    pub fn describe(&self) -> String {
        let what = if self.name == "min_score" {
            "mean score"
        } else {
            "share of scenarios that pass"
        };
        let end = match self.verdict() {
            CaseVerdict::Pass => "reached",
            CaseVerdict::Fail => "too low",
            CaseVerdict::Stale | CaseVerdict::Inconclusive | CaseVerdict::Error => {
                "undecided, since what is not judged counts as 0"
            }
        };
        let (suite, name, limit) = (&self.suite, &self.name, self.limit);
        let value = format_score(self.value);
        format!("`{suite}`: {what} {value}, `thresholds.{name}` {limit}: {end}")
    }
}

impl ThresholdsRow {
    /// Compares the minimums with the scenarios of the suite; nothing if the run leaves out some of
    /// them.
    pub(super) fn compare(self, rows: &[CaseFigures]) -> Vec<ThresholdRow> {
        let compare = |name: &str, limit: f64, bounds: Option<Bounds>| {
            let [min, max] = bounds.unwrap_or([0.0, 1.0]);
            let verdict = if min >= limit {
                CaseVerdict::Pass
            } else if max < limit {
                CaseVerdict::Fail
            } else {
                CaseVerdict::Inconclusive
            };
            ThresholdRow {
                name: name.to_owned(),
                limit,
                value: min,
                verdict: verdict.word().to_owned(),
                ..ThresholdRow::default()
            }
        };
        let score = |limit| compare("min_score", limit, mean_score(rows));
        let passes = |limit| compare(PASS_RATE, limit, pass_share(rows));
        let is_whole = rows.len() == self.cases;
        let found = [self.min_score.map(score), self.pass_rate.map(passes)];
        found.into_iter().flatten().filter(|_| is_whole).collect()
    }
}

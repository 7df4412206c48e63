//! A baseline: the accepted results of a suite, and their comparison with the results of a run.
//! Equal results give equal bytes.

use super::accepted::{BaselineCase, BaselineComparison};
use crate::base::hash::{Hash, Hasher};
use crate::eval::case_result::CaseVerdict;
use crate::eval::scorecard::{CaseRow, Scorecard};
use crate::eval::statistics::sign_test;
use crate::schema::json::names::BASELINE as SCHEMA;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The accepted results of a suite: a file of `baselines/`. It changes by `ctxc baseline accept` alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Baseline {
    /// The version of the format.
    pub schema: String,
    /// The hash of everything below it; it reveals a file that was edited by hand.
    pub hash: String,
    /// The id of the suite.
    pub suite: String,
    /// The hash of the content of the suite's scenarios and of their answers.
    pub suite_hash: String,
    /// The format of the registry that the results belong to.
    pub registry_schema: String,
    /// The scenarios, by their names.
    pub cases: Vec<BaselineCase>,
}

/// The reason why a baseline cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaselineFault {
    /// Not a baseline.
    #[error("it is not a baseline: {0}")]
    Other(String),
    /// Written in another format.
    #[error("it says `{0}`, expected `{SCHEMA}`")]
    Schema(String),
    /// Changed by hand.
    #[error("it was changed by hand: its content does not match its hash")]
    Edited,
    /// A scenario of its suite is undecided.
    #[error("`{id}` is {verdict}: only what passes or fails can be accepted")]
    Undecided {
        /// The scenario.
        id: String,
        /// The verdict.
        verdict: String,
    },
}

impl Baseline {
    /// The baselines of a scorecard, one for each suite, and the faults of undecided scenarios,
    /// whose previously accepted results are retained.
    ///
    /// # Errors
    /// No scenario passes or fails.
    pub fn from_scorecard<'b>(
        card: &Scorecard,
        registry_schema: &str,
        accepted: &(impl Iterator<Item = &'b Self> + Clone),
    ) -> Result<(Vec<Self>, Vec<BaselineFault>), BaselineFault> {
        let mut suites: BTreeMap<&str, Vec<BaselineCase>> = BTreeMap::new();
        let mut undecided = Vec::new();
        for row in &card.cases {
            let case = if row.is_decided() {
                Some(BaselineCase::from_row(row))
            } else {
                undecided.push(BaselineFault::Undecided {
                    id: row.id.clone(),
                    verdict: row.verdict.clone(),
                });
                let mut of_suite = accepted
                    .clone()
                    .filter(|baseline| baseline.suite == row.suite);
                of_suite.find_map(|baseline| {
                    baseline
                        .cases
                        .iter()
                        .find(|case| case.id == row.id)
                        .cloned()
                })
            };
            if let Some(case) = case {
                suites.entry(&row.suite).or_default().push(case);
            }
        }
        if !card.cases.iter().any(CaseRow::is_decided)
            && let Some(first) = undecided.first()
        {
            return Err(first.clone());
        }
        let baseline = |(suite, mut cases): (&str, Vec<BaselineCase>)| {
            cases.sort_by(|a, b| a.id.cmp(&b.id));
            let mut hasher = Hasher::new();
            for case in &cases {
                hasher
                    .add_field(&case.id)
                    .add_field(case.key.as_deref().unwrap_or(""));
            }
            let unsigned = Self {
                schema: SCHEMA.to_owned(),
                hash: String::new(),
                suite: suite.to_owned(),
                suite_hash: hasher.finish().to_string(),
                registry_schema: registry_schema.to_owned(),
                cases,
            };
            Self {
                hash: unsigned.content_hash(),
                ..unsigned
            }
        };
        Ok((suites.into_iter().map(baseline).collect(), undecided))
    }

    /// Reads a file of `baselines/`.
    ///
    /// # Errors
    /// It is not a baseline, or was changed by hand.
    pub fn read(text: &str) -> Result<Self, BaselineFault> {
        // Line endings changed by a checkout are not an edit.
        let text = &text.replace("\r\n", "\n");
        let read: Self =
            serde_json::from_str(text).map_err(|why| BaselineFault::Other(why.to_string()))?;
        if read.schema != SCHEMA {
            return Err(BaselineFault::Schema(read.schema));
        }
        if read.hash != read.content_hash() || read.json() != *text {
            return Err(BaselineFault::Edited);
        }
        Ok(read)
    }

    /// The serialised form.
    pub fn json(&self) -> String {
        // Serialising plain data with string keys cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    fn content_hash(&self) -> String {
        let unsigned = Self {
            hash: String::new(),
            ..self.clone()
        };
        Hash::digest(unsigned.json().as_bytes()).to_string()
    }
}

impl BaselineCase {
    /// The result of a scenario in accepted form.
    pub fn from_row(row: &CaseRow) -> Self {
        Self {
            id: row.id.clone(),
            key: row.key.clone(),
            context_hash: row.context_hash.clone(),
            provider: row.provider.clone(),
            model: row.model.clone(),
            verdict: row.verdict.clone(),
            failed: if row.verdict() == CaseVerdict::Fail {
                row.failed_expectations()
            } else {
                Vec::new()
            },
            passed: row
                .trials
                .iter()
                .filter(|trial| trial.verdict == "pass")
                .count(),
            trials: row.trials.len(),
            context_tokens: row.tokens.as_ref().map(|tokens| tokens.total),
            tokens: row.used_tokens(),
        }
    }

    /// Describes both models if another one answers the scenario now.
    pub fn describe_other_model(&self, row: &CaseRow) -> Option<String> {
        let words = |provider: &Option<String>, model: &Option<String>| {
            let parts: Vec<&str> = [provider, model]
                .into_iter()
                .flatten()
                .map(String::as_str)
                .collect();
            if parts.is_empty() {
                "no model".to_owned()
            } else {
                format!("`{}`", parts.join("/"))
            }
        };
        let (then, now) = (
            words(&self.provider, &self.model),
            words(&row.provider, &row.model),
        );
        let is_other = self.trials > 0 && !row.trials.is_empty() && then != now;
        is_other.then(|| format!("`{}` was accepted with {then}, and has {now} now", self.id))
    }
}

/// The models whose results are compared with accepted ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedModels {
    /// Those that the accepted results are of.
    Same,
    /// Any.
    Any,
}

impl BaselineComparison {
    /// Compares results with accepted ones.
    #[allow(
        clippy::cast_precision_loss,
        reason = "a scenario has fewer than 2^52 trials"
    )]
    pub fn compare<'c>(
        card: &Scorecard,
        accepted: impl IntoIterator<Item = &'c BaselineCase>,
        models: ComparedModels,
    ) -> Self {
        let rows: BTreeMap<&str, &CaseRow> = card
            .cases
            .iter()
            .map(|row| (row.id.as_str(), row))
            .collect();
        let mut found = Self::default();
        let (mut ups, mut downs) = (0, 0);
        let mut known = BTreeSet::new();
        for case in accepted {
            known.insert(case.id.as_str());
            let Some(row) = rows.get(case.id.as_str()) else {
                found.missing.push(case.id.clone());
                continue;
            };
            let undecided = (!row.is_decided()).then(|| format!("`{}` is {}", row.id, row.verdict));
            if let Some(why) = undecided.or_else(|| {
                case.describe_other_model(row)
                    .filter(|_| models == ComparedModels::Same)
            }) {
                found.not_compared.push(why);
                continue;
            }
            let answered = row.rate.filter(|_| case.trials > 0);
            let by_rate = answered.and_then(|now| {
                now.value
                    .partial_cmp(&(case.passed as f64 / case.trials as f64))
            });
            ups += u32::from(by_rate == Some(Ordering::Greater));
            downs += u32::from(by_rate == Some(Ordering::Less));
            // A context that newly fails is worse, whatever its answers.
            let by_verdict = (row.verdict == "pass").cmp(&(case.verdict == "pass"));
            match by_verdict.then(by_rate.unwrap_or(Ordering::Equal)) {
                Ordering::Greater => found.better += 1,
                Ordering::Less => found.worse += 1,
                Ordering::Equal => found.equal += 1,
            }
            if answered.is_some() {
                found.tokens_then = found
                    .tokens_then
                    .saturating_add(case.tokens / case.trials as u64);
                found.tokens_now = found
                    .tokens_now
                    .saturating_add(row.used_tokens() / row.trials.len().max(1) as u64);
            }
        }
        found.sign_test = sign_test(downs, ups);
        found.new = rows
            .into_keys()
            .filter(|id| !known.contains(id))
            .map(str::to_owned)
            .collect();
        found
    }
}

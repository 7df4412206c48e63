//! Failures that repeat: patterns as data of an organisation, detected in outcomes, each with a
//! remedy.
//!
//! No pattern is built in. A task that remedies a pattern is never analysed itself: its failures
//! would propose remedies for remedies.

use super::task::Task;
use crate::kernel::pipeline::outcome::{ObstacleKind, OutcomeContext};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// A known failure of an organisation: the outcomes that count for it, the limit, and the remedy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailurePattern {
    /// Its name, such as `alert-storm`.
    pub name: String,
    /// Kinds of obstacles that count; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<ObstacleKind>,
    /// The stage whose outcomes count; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The limit.
    pub limit: PatternLimit,
    /// The outcomes that are counted together.
    pub scope: PatternScope,
    /// Only outcomes within this time of each other count together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Duration>,
    /// The remedy in words.
    pub remediation: String,
}

/// The limit of a pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PatternLimit {
    /// This number of outcomes with one of the obstacles.
    Count(u32),
    /// This share of all outcomes with one of the obstacles: 0.5 is half of them.
    Share {
        /// The minimum share.
        from: f64,
        /// The minimum number of outcomes.
        of: u32,
    },
    /// A total amount over outcomes, failed or not.
    Sum {
        /// The unit of the amount.
        unit: String,
        /// The minimum amount.
        from: f64,
    },
    /// An amount of a single outcome, failed or not.
    Peak {
        /// Its unit.
        unit: String,
        /// From this amount on.
        from: f64,
    },
}

/// The set of outcomes that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PatternScope {
    /// The outcomes of one task.
    Task,
    /// The outcomes of all tasks.
    Batch,
}

impl FailurePattern {
    /// A pattern that counts obstacles of the kind with the same name.
    pub fn new(name: &str, limit: PatternLimit, scope: PatternScope, remediation: &str) -> Self {
        let obstacles = vec![name.replace('-', "_").into()];
        let (name, remediation) = (name.to_owned(), remediation.to_owned());
        Self {
            name,
            obstacles,
            stage: None,
            limit,
            scope,
            within: None,
            remediation,
        }
    }

    /// Returns true if the pattern considers an outcome.
    fn considers(&self, outcome: &OutcomeContext) -> bool {
        outcome.remedies.is_none()
            && self
                .stage
                .as_ref()
                .is_none_or(|stage| *stage == outcome.visit.stage)
    }

    /// Returns true if an outcome counts for the pattern as a failure.
    pub fn matches(&self, outcome: &OutcomeContext) -> bool {
        let is_meant =
            |kind: &ObstacleKind| self.obstacles.is_empty() || self.obstacles.contains(kind);
        self.considers(outcome)
            && outcome
                .obstacle
                .as_ref()
                .is_some_and(|obstacle| is_meant(&obstacle.kind))
    }

    /// The measure of some outcomes, if it reaches the limit.
    #[allow(clippy::cast_precision_loss, reason = "outcomes are fewer than 2^52")]
    fn reached_measure(&self, outcomes: &[&OutcomeContext]) -> Option<f64> {
        let matched = || {
            outcomes
                .iter()
                .filter(|outcome| self.matches(outcome))
                .count()
        };
        let amounts = |unit: &str| {
            outcomes
                .iter()
                .filter_map(|outcome| outcome.amounts.get(unit).copied())
                .collect::<Vec<f64>>()
        };
        let (measure, limit) = match &self.limit {
            PatternLimit::Count(max) => (matched() as f64, f64::from(*max).max(1.0)),
            PatternLimit::Share { of, .. } if outcomes.len() < (*of).max(1) as usize => {
                return None;
            }
            PatternLimit::Share { from, .. } => (matched() as f64 / outcomes.len() as f64, *from),
            PatternLimit::Sum { unit, from } => (amounts(unit).iter().sum(), *from),
            PatternLimit::Peak { unit, from } => {
                (amounts(unit).into_iter().fold(0.0, f64::max), *from)
            }
        };
        (measure > 0.0 && measure >= limit).then_some(measure)
    }

    /// The greatest measure that reaches the limit, of all stretches of outcomes within the time.
    fn greatest_measure(&self, outcomes: &[&OutcomeContext]) -> Option<f64> {
        let Some(within) = self.within else {
            return self.reached_measure(outcomes);
        };
        let stretch = |end: usize| {
            let last = outcomes.get(end)?;
            let start =
                outcomes.partition_point(|outcome| outcome.at.saturating_add(within) < last.at);
            self.reached_measure(outcomes.get(start..=end)?)
        };
        (0..outcomes.len()).filter_map(stretch).reduce(f64::max)
    }
}

/// A detected pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The pattern's name.
    pub pattern: String,
    /// The task; `None` if the outcomes of all tasks count together.
    pub task: Option<String>,
    /// The measured value, in the unit of the pattern's limit.
    pub measure: f64,
    /// The notes of the latest three obstacles.
    pub notes: Vec<String>,
    /// The remedy in words.
    pub remediation: String,
}

/// Detects the patterns of an organisation in outcomes and proposes tasks that remedy them.
///
/// ```
/// use ctxc::runtime::{FailurePattern, Obstacle, OutcomeContext, PatternLimit, PatternScope, QualityAnalyzer, Visit};
/// use std::time::Duration;
///
/// let stale = FailurePattern::new("stale-runbook", PatternLimit::Count(2), PatternScope::Batch, "rewrite the runbook");
/// let analyzer = QualityAnalyzer::new("ops", vec![stale], |finding| finding.remediation.clone());
///
/// let stale = |task: &str| {
///     let outcome = OutcomeContext::new(task, Visit::first("triage"), Duration::ZERO);
///     outcome.failed(Obstacle::new("stale_runbook", "names a host that is gone"))
/// };
/// let findings = analyzer.analyze(&[stale("A-1"), stale("A-2")]);
/// let tasks = analyzer.remedies(&findings);
/// assert_eq!((tasks[0].id.as_str(), tasks[0].payload.as_str()), ("remedy:stale-runbook", "rewrite the runbook"));
///
/// // Whatever becomes of the remedy, no remedy for it is proposed.
/// let failed = tasks[0].outcome(Visit::first("triage"), Duration::ZERO).failed(Obstacle::new("stale_runbook", "again"));
/// assert_eq!(analyzer.analyze(&[failed.clone(), failed]), []);
/// ```
#[derive(Clone, Debug)]
pub struct QualityAnalyzer<P> {
    org: String,
    patterns: Vec<FailurePattern>,
    propose: fn(&Finding) -> P,
}

impl<P> QualityAnalyzer<P> {
    /// An analyzer of an organisation's patterns; `propose` creates the payload of a task that
    /// remedies a finding.
    pub fn new(
        org: impl Into<String>,
        patterns: Vec<FailurePattern>,
        propose: fn(&Finding) -> P,
    ) -> Self {
        Self {
            org: org.into(),
            patterns,
            propose,
        }
    }

    /// The names of the patterns that an outcome counts for as a failure.
    pub fn classify(&self, outcome: &OutcomeContext) -> Vec<&str> {
        self.patterns
            .iter()
            .filter(|pattern| pattern.matches(outcome))
            .map(|pattern| pattern.name.as_str())
            .collect()
    }

    /// The findings in outcomes, by pattern, then by task. Each pattern is reported once per task,
    /// or once overall.
    pub fn analyze(&self, outcomes: &[OutcomeContext]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for pattern in &self.patterns {
            let mut groups: BTreeMap<Option<&str>, Vec<&OutcomeContext>> = BTreeMap::new();
            for outcome in outcomes.iter().filter(|outcome| pattern.considers(outcome)) {
                let task = (pattern.scope == PatternScope::Task).then_some(outcome.task.as_str());
                groups.entry(task).or_default().push(outcome);
            }
            for (task, mut group) in groups {
                group.sort_by_key(|outcome| outcome.at);
                let Some(measure) = pattern.greatest_measure(&group) else {
                    continue;
                };
                let matched = group
                    .iter()
                    .rev()
                    .filter(|outcome| pattern.matches(outcome));
                let notes = matched
                    .filter_map(|outcome| outcome.obstacle.as_ref())
                    .map(|obstacle| obstacle.note.clone());
                findings.push(Finding {
                    pattern: pattern.name.clone(),
                    task: task.map(str::to_owned),
                    measure,
                    notes: notes.take(3).collect(),
                    remediation: pattern.remediation.clone(),
                });
            }
        }
        findings
    }

    /// Tasks that remedy findings. The same finding always yields the same id, so that a source
    /// accepts its task only once.
    pub fn remedies(&self, findings: &[Finding]) -> Vec<Task<P>> {
        let task = |finding: &Finding| {
            let of_task = finding
                .task
                .as_ref()
                .map_or_else(String::new, |task| format!(":{task}"));
            let task = Task::new(
                self.org.as_str(),
                format!("remedy:{}{of_task}", finding.pattern),
                (self.propose)(finding),
            );
            Task {
                remedies: Some(finding.pattern.clone()),
                ..task
            }
        };
        findings.iter().map(task).collect()
    }
}

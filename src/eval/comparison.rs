//! The comparison of the results of the same scenarios with other models, roles or revisions.
//!
//! Only scenarios that are decided on both sides count; each other one is listed with the reason.

use super::case_result::{AnswerOrigin, CaseVerdict};
use super::scorecard::{CaseRow, TrialRow, VerdictRow};
use super::statistics::sign_test;
use crate::base::words::words;
use crate::schema::json::names::COMPARISON;
use crate::store::history::median;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

words! {
    /// The part of a project that differs between the sides.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum VariedPart {
        /// The model that answers.
        Model = "model",
        /// The agent role.
        Role = "role",
        /// The git revision of templates, roles and settings.
        Revision = "revision",
    }
}

words! {
    /// The change of a scenario from the base to another side.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum CaseChange {
        /// It passes on the base alone.
        Broken = "broken",
        /// It passes on the other side alone.
        Fixed = "fixed",
        /// Fewer of its trials pass.
        Worse = "worse",
        /// More of its trials pass.
        Better = "better",
        /// The same share of its trials passes.
        Equal = "equal",
    }
}

/// The comparison of two or more sides: `ctxc compare`.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Comparison {
    /// The version of the format.
    pub schema: &'static str,
    /// The part of the project that differs between the sides.
    #[schemars(extend("enum" = ["model", "role", "revision"]))]
    pub across: &'static str,
    /// The first side with each of the others.
    pub pairs: Vec<SidePair>,
}

/// The base and another side. All figures are about the same scenarios.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct SidePair {
    /// The results of the base over all compared scenarios.
    pub base: SideFigures,
    /// The results of the other side.
    pub other: SideFigures,
    /// The number of scenarios that pass less often on the other side.
    pub worse: u32,
    /// The number of scenarios that pass more often there.
    pub better: u32,
    /// The chance that at least this many of the differing scenarios are worse on the other side if
    /// both directions are equally likely (exact one-sided sign test). With fewer than five that
    /// differ, it is never below 0.05.
    pub sign_test_worse: f64,
    /// The same for better ones.
    pub sign_test_better: f64,
    /// The compared scenarios, in the order of their files.
    pub cases: Vec<ComparedCase>,
    /// The scenarios that are not compared.
    pub not_compared: Vec<UncomparedCase>,
}

/// The results of a side. Those of trials are of scenarios with answers on both sides.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct SideFigures {
    /// The name of the side, as it was given.
    pub name: String,
    /// The models, by their providers' names.
    pub models: BTreeSet<String>,
    /// The number of scenarios that pass.
    pub passed: usize,
    /// Judged trials.
    pub trials: usize,
    /// The number of these that pass.
    pub passed_trials: usize,
    /// Tokens of a trial, sent and answered: the mean; null without answers.
    pub tokens: Option<f64>,
    /// US$ of a trial: the mean; null if a price is unknown.
    pub cost_usd: Option<f64>,
    /// Milliseconds until the answer was complete, when it was given: the median; null if not
    /// measured.
    pub latency_ms: Option<f64>,
    /// The mean scores of the judge, by criterion.
    pub scores: Vec<MeanScore>,
}

/// The mean score of a criterion.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct MeanScore {
    /// The criterion, as in a scorecard.
    pub criterion: String,
    /// The mean.
    pub mean: f64,
}

/// A scenario that was compared.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct ComparedCase {
    /// The name of the scenario.
    pub id: String,
    /// The file, relative to the project.
    pub path: String,
    /// The change.
    pub change: CaseChange,
    /// The result of the base.
    pub base: SideFigures,
    /// The result of the other side.
    pub other: SideFigures,
    /// The first expectation that fails on one side alone; null if there is none.
    pub difference: Option<ExpectationDifference>,
}

/// An expectation that fails on one side alone.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct ExpectationDifference {
    /// The line of the scenario that contains it, from 1.
    pub line: u32,
    /// The expected value.
    pub expected: String,
    /// The name of the side on which it fails.
    pub side: String,
    /// The value there.
    pub found: String,
}

/// A scenario that was not compared.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct UncomparedCase {
    /// The name of the scenario, or the path of a file that cannot be read.
    pub id: String,
    /// The reason.
    pub reason: String,
}

/// The results of one side: a row for each scenario, in the same order on all sides.
#[derive(Debug)]
pub struct SideResults<'a> {
    /// The name of the side.
    pub name: &'a str,
    /// Its rows.
    pub rows: Vec<&'a CaseRow>,
}

/// A scenario on one side.
#[derive(Clone, Copy, Debug)]
struct SideRow<'a> {
    side: &'a str,
    row: &'a CaseRow,
}

impl Comparison {
    /// Compares the first side with each of the others. `excluded` are scenarios that no side ran.
    pub fn new(across: VariedPart, sides: &[SideResults<'_>], excluded: &[UncomparedCase]) -> Self {
        let pairs = sides.split_first().map_or_else(Vec::new, |(base, others)| {
            let pair = |other| SidePair::compare(across, base, other, excluded);
            others.iter().map(pair).collect()
        });
        Self {
            schema: COMPARISON,
            across: across.word(),
            pairs,
        }
    }
}

impl SidePair {
    fn compare(
        across: VariedPart,
        base: &SideResults<'_>,
        other: &SideResults<'_>,
        excluded: &[UncomparedCase],
    ) -> Self {
        let mut not_compared = excluded.to_vec();
        let mut compared = Vec::new();
        for (own, theirs) in base.rows.iter().zip(&other.rows) {
            let [own, theirs] = [(base, own), (other, theirs)].map(|(side, row)| SideRow {
                side: side.name,
                row,
            });
            match uncompared_reason(across, [own, theirs]) {
                Some(reason) => not_compared.push(UncomparedCase {
                    id: own.row.id.clone(),
                    reason,
                }),
                None => compared.push([own, theirs]),
            }
        }
        let [base, other] = [base, other].map(|side| side.name);
        let cases: Vec<ComparedCase> = compared.iter().copied().map(ComparedCase::new).collect();
        compared.retain(|sides| sides.iter().all(|side| side.row.rate.is_some()));
        let passed = |figures: fn(&ComparedCase) -> &SideFigures| {
            cases.iter().map(|case| figures(case).passed).sum()
        };
        let (own, theirs): (Vec<_>, Vec<_>) = compared
            .iter()
            .map(|[own, theirs]| (own.row, theirs.row))
            .unzip();
        let mut pair = Self {
            base: SideFigures {
                passed: passed(|case| &case.base),
                ..SideFigures::from_rows(base, &own)
            },
            other: SideFigures {
                passed: passed(|case| &case.other),
                ..SideFigures::from_rows(other, &theirs)
            },
            worse: 0,
            better: 0,
            sign_test_worse: 1.0,
            sign_test_better: 1.0,
            cases,
            not_compared,
        };
        pair.worse = pair.count(CaseChange::Broken) + pair.count(CaseChange::Worse);
        pair.better = pair.count(CaseChange::Fixed) + pair.count(CaseChange::Better);
        pair.sign_test_worse = sign_test(pair.worse, pair.better);
        pair.sign_test_better = sign_test(pair.better, pair.worse);
        pair
    }

    /// True if every scenario was compared, and there is one.
    pub fn is_complete(&self) -> bool {
        self.not_compared.is_empty() && !self.cases.is_empty()
    }

    /// The number of scenarios with a change.
    pub fn count(&self, change: CaseChange) -> u32 {
        let cases = self.cases.iter();
        cases.map(|case| u32::from(case.change == change)).sum()
    }
}

/// Returns the reason why a scenario is not compared; `None` if it is.
fn uncompared_reason(across: VariedPart, sides: [SideRow<'_>; 2]) -> Option<String> {
    let unanswered = AnswerOrigin::NotRecorded.word();
    for SideRow { side, row } in sides {
        let is_missing = match (&row.trouble, row.verdict()) {
            (Some(why), _) => return Some(format!("`{side}`: {why}")),
            (None, CaseVerdict::Fail) => false,
            (None, CaseVerdict::Pass) => row.unanswered,
            (None, CaseVerdict::Stale) => true,
            (None, _) if row.answer == unanswered => true,
            (None, _) => return Some(format!("`{side}` is {}", row.verdict)),
        };
        if is_missing {
            return Some(format!(
                "no answer of `{side}` is recorded; `--record` asks for it, and `--plan` shows the price"
            ));
        }
    }
    let [own, theirs] = sides.map(|side| side.row);
    let rule = |row: &CaseRow| (row.rule.runs, row.rule.pass);
    let has_trials = sides.iter().all(|side| !side.row.trials.is_empty());
    if has_trials && own.rule.stage == theirs.rule.stage && rule(own) != rule(theirs) {
        let few = sides.into_iter().min_by_key(|side| side.row.rule.runs)?;
        let (side, count) = (few.side, few.row.rule.runs);
        return Some(format!(
            "only {count} of the trials of `{side}` are recorded; `--record` asks for all of them"
        ));
    }
    let is_alike = own.answer == theirs.answer && own.verdict == theirs.verdict;
    if across != VariedPart::Model || !is_alike {
        None
    } else if own.answer == AnswerOrigin::Scripted.word() {
        Some("its script answers for every model".to_owned())
    } else {
        let is_judged = own.rate.is_some();
        (!is_judged).then(|| "no answer of a model is judged".to_owned())
    }
}

impl ComparedCase {
    fn new(sides: [SideRow<'_>; 2]) -> Self {
        let [base, other] = sides.map(|side| side.row);
        let rates = base.rate.zip(other.rate);
        let by_rate = rates.and_then(|(base, other)| other.value.partial_cmp(&base.value));
        let by_verdict = (other.verdict == "pass").cmp(&(base.verdict == "pass"));
        let change = match (by_verdict, by_rate) {
            (Ordering::Less, _) => CaseChange::Broken,
            (Ordering::Greater, _) => CaseChange::Fixed,
            (Ordering::Equal, Some(Ordering::Less)) => CaseChange::Worse,
            (Ordering::Equal, Some(Ordering::Greater)) => CaseChange::Better,
            (Ordering::Equal, Some(Ordering::Equal) | None) => CaseChange::Equal,
        };
        let difference = first_difference(sides);
        let [own, theirs] = sides.map(|SideRow { side, row }| SideFigures::from_rows(side, &[row]));
        Self {
            id: base.id.clone(),
            path: base.path.clone(),
            change,
            base: own,
            other: theirs,
            difference,
        }
    }
}

impl SideFigures {
    fn from_rows(name: &str, rows: &[&CaseRow]) -> Self {
        let judged = || rows.iter().filter(|row| row.rate.is_some());
        let trials: Vec<&TrialRow> = judged().flat_map(|row| &row.trials).collect();
        let passed = trials.iter().filter(|trial| trial.verdict == "pass");
        let used = |trial: &&TrialRow| trial.tokens.input.saturating_add(trial.tokens.output);
        let times = trials.iter().filter_map(|trial| trial.latency_ms);
        let mut scores: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
        for score in trials.iter().flat_map(|trial| &trial.scores) {
            let of_criterion = scores.entry(score.criterion.clone()).or_default();
            of_criterion.push(Some(to_float(score.score)));
        }
        let scores = scores.into_iter();
        Self {
            name: name.to_owned(),
            models: judged().filter_map(|row| row.model.clone()).collect(),
            passed: rows.iter().filter(|row| row.verdict == "pass").count(),
            trials: trials.len(),
            passed_trials: passed.count(),
            tokens: mean(trials.iter().map(|trial| Some(to_float(used(trial))))),
            cost_usd: mean(trials.iter().map(|trial| trial.cost_usd)),
            latency_ms: median(&mut times.map(to_float).collect::<Vec<_>>()),
            scores: scores
                .filter_map(|(criterion, all)| {
                    let mean = mean(all.into_iter())?;
                    Some(MeanScore { criterion, mean })
                })
                .collect(),
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts are fewer than 2^52")]
const fn to_float(count: u64) -> f64 {
    count as f64
}

/// The mean, to a billionth; `None` of nothing, or if one is unknown.
fn mean(figures: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known = figures.collect::<Option<Vec<f64>>>()?;
    let sum: f64 = known.iter().sum();
    (!known.is_empty()).then(|| (sum / to_float(known.len() as u64) * 1e9).round() / 1e9)
}

/// The failures of a case: those of its context, then those of the first trial that fails.
fn failures(row: &CaseRow) -> Vec<&VerdictRow> {
    let trial = row.trials.iter().find(|trial| trial.verdict == "fail");
    let of_answer = trial.into_iter().flat_map(|trial| &trial.expectations);
    let all = row.context.iter().chain(of_answer);
    all.filter(|one| one.verdict == "fail").collect()
}

/// The first expectation that fails on one side alone, or the fault that prevents its context.
fn first_difference(sides: [SideRow<'_>; 2]) -> Option<ExpectationDifference> {
    let [base, other] = sides;
    let mut found = Vec::new();
    for (SideRow { side, row }, counterpart) in [(base, other), (other, base)] {
        let known = failures(counterpart.row);
        let is_known = |one: &VerdictRow| {
            let same = |known: &&VerdictRow| (known.line, &known.what) == (one.line, &one.what);
            known.iter().any(same)
        };
        let new = failures(row).into_iter().filter(|one| !is_known(one));
        let difference = |line, expected: &str, found: &str| ExpectationDifference {
            line,
            expected: expected.to_owned(),
            side: side.to_owned(),
            found: found.to_owned(),
        };
        found.extend(new.map(|one| difference(one.line, &one.expected, &one.found)));
        let faults = row
            .faults
            .iter()
            .filter(|_| counterpart.row.faults.is_empty());
        found.extend(faults.map(|fault| difference(row.line, "a context", &fault.message)));
    }
    found.into_iter().min_by_key(|one| one.line)
}

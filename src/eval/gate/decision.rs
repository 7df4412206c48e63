//! The gate's decision: compares the regressions and relaxations of a change with what was
//! accepted. A pure function of its input.

use super::accepted::{BaselineCase, BaselineComparison};
use super::approvals::{Accepters, AddedApproval, Approvals};
use super::baseline::Baseline;
use super::baseline::ComparedModels;
use super::safeguards::{LocatedRelaxation, Relaxation, SafeguardKind};
use crate::eval::answer::SCRIPT;
use crate::eval::case_result::{AnswerOrigin, CaseVerdict};
use crate::eval::groups::ThresholdRow;
use crate::eval::score::format_score;
use crate::eval::scorecard::{CaseRow, Scorecard, TrialRow};
use crate::project::eval::UncoveredPolicy;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use crate::schema::json::names::GATE as SCHEMA;

/// The significance level of the sign test.
const SIGNIFICANCE_LEVEL: f64 = 0.05;

/// The decision on a change: `ctxc gate --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Decision"))]
pub struct GateDecision {
    /// The version of the format.
    pub schema: String,
    /// The decision.
    pub decision: GateVerdict,
    /// The two sides of the comparison.
    #[serde(flatten)]
    pub sides: GateHeader,
    /// The violated limits.
    pub violated_thresholds: Vec<Violation>,
    /// The scenarios that fail.
    pub failing_cases: Vec<FailingCase>,
    /// The relaxations in the change.
    pub weakened: Vec<JudgedRelaxation>,
    /// The lines that the change adds to the log of acceptances.
    pub log: Vec<AddedApproval>,
    /// Warnings, which do not affect the decision.
    pub warnings: Vec<String>,
    /// The error that ended the run before anything was judged; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Possible decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", schemars(rename = "Verdict"))]
pub enum GateVerdict {
    /// The change may be taken.
    Pass,
    /// The change may not be taken.
    Fail,
    /// The data is insufficient for a decision.
    Inconclusive,
}

/// The two sides of the comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Sides"))]
pub struct GateHeader {
    /// The revision that the change is compared with, as requested.
    pub base: String,
    /// The commit at which the change branched off; empty if this clone has no common ancestor of
    /// both sides.
    pub commit: String,
    /// True if that commit has this project; otherwise nothing is compared.
    pub has_base: bool,
    /// The hash of the registry of the change.
    pub registry_hash: String,
    /// The scenarios of the change.
    pub scenarios: usize,
    /// Of these, those with answers.
    pub answered: usize,
    /// The accepted results that serve as comparison, by their files.
    pub baselines: Vec<String>,
}

/// A violated limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Violation {
    /// The name of the limit.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = ["context", "confirmed_fail", "missing_case", "sign_test", "manifest_tokens", "cost", "tokens", "pass_rate", "suite_min_score", "suite_pass_rate", "stale", "stability_variance", "stability_cost", "uncovered"])))]
    pub name: String,
    /// The allowed value.
    pub limit: String,
    /// The actual value.
    pub value: String,
    /// The scenario, suite or agent; null if it concerns all of them.
    pub case: Option<String>,
}

/// A scenario that fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct FailingCase {
    /// The name of the scenario.
    pub id: String,
    /// The first expectation that does not hold, or the reason that the scenario could not be run.
    pub reason: String,
}

/// A relaxation in the change, with its acceptance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Weakening"))]
pub struct JudgedRelaxation {
    /// The relaxation.
    #[serde(flatten)]
    pub weakened: Relaxation,
    /// The file that contains it, relative to the project.
    pub path: String,
    /// The first lines of the change in its text, as in a unified diff; absent if its values show
    /// the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The person who accepted it, by the log; null if no permitted person did.
    pub approved_by: Option<String>,
    /// The reason; null if it was not accepted.
    pub reason: Option<String>,
    /// True if it was accepted without evidence of the person: no signature of the commit, and no
    /// code owner.
    pub unverified: bool,
}

/// The limits that a change must keep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GateLimits {
    /// The maximum growth of a context in tokens, as a fraction.
    pub manifest_tokens: f64,
    /// The minimum pass rate of scenarios.
    pub pass_rate: Option<f64>,
    /// The maximum growth of used tokens, as a fraction.
    pub tokens: Option<f64>,
    /// The maximum cost of a run in US dollars.
    pub cost_usd: Option<f64>,
    /// True if stale answers fail.
    pub refuses_stale: bool,
    /// The policy for answers of live models; `None` if the project has none.
    pub stability: Option<StabilityLimits>,
    /// The treatment of removed text that no scenario covers.
    pub uncovered: UncoveredPolicy,
}

/// The policy for answers of live models: `[eval.stability]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StabilityLimits {
    /// The minimum number of trials of each scenario.
    pub reruns: usize,
    /// The maximum variance of the verdicts of a scenario's trials.
    pub variance: f64,
    /// The maximum cost of the run in US dollars.
    pub cost_usd: f64,
}

impl StabilityLimits {
    /// The stricter values of both.
    fn stricter(self, other: Self) -> Self {
        Self {
            reruns: self.reruns.max(other.reruns),
            variance: self.variance.min(other.variance),
            cost_usd: self.cost_usd.min(other.cost_usd),
        }
    }
}

impl GateLimits {
    /// The stricter values of both.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        let least = |one: Option<f64>, other: Option<f64>| {
            one.map_or(other, |one| Some(other.map_or(one, |other| one.min(other))))
        };
        Self {
            manifest_tokens: self.manifest_tokens.min(other.manifest_tokens),
            pass_rate: self.pass_rate.map_or(other.pass_rate, |one| {
                Some(other.pass_rate.map_or(one, |other| one.max(other)))
            }),
            tokens: least(self.tokens, other.tokens),
            cost_usd: least(self.cost_usd, other.cost_usd),
            refuses_stale: self.refuses_stale || other.refuses_stale,
            uncovered: self.uncovered.max(other.uncovered),
            stability: self.stability.map_or(other.stability, |one| {
                Some(other.stability.map_or(one, |other| one.stricter(other)))
            }),
        }
    }
}

/// Removed or changed text that no scenario covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncoveredText {
    /// The agent that received it.
    pub agent: String,
    /// The text, as a noun phrase that quotes it.
    pub text: String,
}

/// The input of a decision about a change.
#[derive(Clone, Copy, Debug)]
pub struct GateInput<'a> {
    /// Its results, judged by its own expectations.
    pub card: &'a Scorecard,
    /// Its results, judged by the expectations of the base; `None` if the base has none.
    pub by_base: Option<&'a Scorecard>,
    /// The scenarios of the base with a check that could not run as in the base, each with the
    /// reason.
    pub unchecked: &'a BTreeMap<String, String>,
    /// The accepted results.
    pub baselines: &'a [Baseline],
    /// Its relaxations.
    pub weakened: &'a [LocatedRelaxation],
    /// The contracts that do not hold: of consumers with this package, and of this project with the
    /// packages that it uses.
    pub contracts: &'a [FailingCase],
    /// Notes that do not affect the decision.
    pub notes: &'a [String],
    /// The reasons why a pass would be unreliable.
    pub doubts: &'a [String],
    /// The relaxations accepted since the base.
    pub approvals: &'a Approvals,
    /// The people who may accept, as defined by the base.
    pub accepters: &'a Accepters,
    /// Removed or changed text that no scenario covers.
    pub uncovered: &'a [UncoveredText],
    /// The limits to keep.
    pub limits: GateLimits,
    /// The minimum fraction of scenarios with an answer.
    pub min_answered: Option<f64>,
    /// True if a project without a scenario may pass.
    pub may_be_empty: bool,
}

/// Decides whether a change may be taken.
pub fn decide_gate(sides: GateHeader, candidate: &GateInput<'_>) -> GateDecision {
    let mut found = GateFindings {
        candidate,
        violations: Vec::new(),
        failing: candidate.contracts.to_vec(),
        warnings: candidate.notes.to_vec(),
    };
    let weakened: Vec<JudgedRelaxation> = candidate
        .weakened
        .iter()
        .map(|one| found.judge_relaxation(one))
        .collect();
    found.check_own_expectations();
    found.check_informing_judges();
    found.check_base_expectations(&sides, &weakened);
    found.check_baselines();
    found.check_limits();
    found.check_suites();
    found.check_stability();
    found.check_recordings();
    found.check_uncovered();
    found.check_accepters();
    let doubts = find_doubts(&sides, candidate);
    let GateFindings {
        violations,
        failing,
        warnings,
        ..
    } = found;
    let warnings = doubts.iter().cloned().chain(warnings).collect();
    let is_open = |verdict: CaseVerdict| {
        candidate
            .card
            .cases
            .iter()
            .any(|row| row.verdict() == verdict && !only_informs(row))
    };
    let is_bad = !violations.is_empty()
        || !failing.is_empty()
        || weakened.iter().any(|one| one.approved_by.is_none());
    let decision = if is_bad {
        GateVerdict::Fail
    } else if !doubts.is_empty()
        || is_open(CaseVerdict::Inconclusive)
        || is_open(CaseVerdict::Error)
    {
        GateVerdict::Inconclusive
    } else {
        GateVerdict::Pass
    };
    GateDecision {
        schema: SCHEMA.to_owned(),
        decision,
        sides,
        violated_thresholds: violations,
        failing_cases: failing,
        weakened,
        log: candidate.approvals.added_lines().to_vec(),
        warnings,
        error: None,
    }
}

impl GateDecision {
    /// The decision if an error ended the run before anything was judged.
    pub fn from_error(
        base: &str,
        decision: GateVerdict,
        error: String,
        warnings: Vec<String>,
    ) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            decision,
            sides: GateHeader {
                base: base.to_owned(),
                ..GateHeader::default()
            },
            violated_thresholds: Vec::new(),
            failing_cases: Vec::new(),
            weakened: Vec::new(),
            log: Vec::new(),
            warnings,
            error: Some(error),
        }
    }
}

/// The reasons why a pass would be unreliable.
fn find_doubts(sides: &GateHeader, candidate: &GateInput<'_>) -> Vec<String> {
    let mut doubts = candidate.doubts.to_vec();
    doubts.extend(candidate.unchecked.iter().map(|(id, why)| {
        format!(
            "a check of `{id}` does not run as {} has it: {why}: folders that it needs and git does not hold are named by `[eval.gate] link` there",
            sides.base
        )
    }));
    if candidate.card.cases.is_empty() && !candidate.may_be_empty {
        doubts.push("there is no scenario".to_owned());
    }
    let GateHeader {
        answered,
        scenarios,
        ..
    } = sides;
    if let Some(least) = candidate
        .min_answered
        .filter(|least| fraction(*answered, *scenarios) < *least)
    {
        doubts.push(format!("too few scenarios have answers: {answered} of {scenarios}, and --min-answered is {least}"));
    }
    doubts.extend(few_trials_doubt(candidate));
    let suites = candidate.card.thresholds.iter();
    let open = suites.filter(|row| row.verdict() == CaseVerdict::Inconclusive);
    doubts.extend(open.map(ThresholdRow::describe));
    let trials = candidate
        .card
        .cases
        .iter()
        .flat_map(|row| row.trials.iter().map(move |trial| (row, trial)));
    let is_free = |row: &CaseRow, trial: &TrialRow| row.model.is_none() && trial.provider == SCRIPT;
    let unpriced: BTreeSet<&str> = trials
        .filter(|(row, trial)| trial.cost_usd.is_none() && !is_free(row, trial))
        .map(|(row, _)| row.id.as_str())
        .collect();
    let limits = [
        ("[eval.gate]", candidate.limits.cost_usd),
        (
            "[eval.stability]",
            live_policy(candidate).map(|one| one.cost_usd),
        ),
    ];
    for (table, _) in limits.into_iter().filter(|(_, limit)| limit.is_some()) {
        let Some(first) = unpriced.first() else { break };
        let more = if unpriced.len() > 1 {
            format!(" and {} more", unpriced.len() - 1)
        } else {
            String::new()
        };
        let what = format!(
            "`{table} cost_usd` cannot be checked: `usd_per_million` of the model is not set for"
        );
        doubts.push(format!("{what} `{first}`{more}"));
    }
    doubts
}

/// The policy for answers of live models, if the candidate has such answers.
fn live_policy(candidate: &GateInput<'_>) -> Option<StabilityLimits> {
    candidate
        .limits
        .stability
        .filter(|_| live_rows(candidate).next().is_some())
}

/// The scenarios answered by live models.
fn live_rows<'c>(candidate: &GateInput<'c>) -> impl Iterator<Item = &'c CaseRow> {
    candidate
        .card
        .cases
        .iter()
        .filter(|row| row.answer == AnswerOrigin::Asked.word())
}

/// The doubt about live scenarios with fewer trials than the policy requires.
fn few_trials_doubt(candidate: &GateInput<'_>) -> Option<String> {
    let StabilityLimits { reruns, .. } = live_policy(candidate)?;
    let few: Vec<&CaseRow> = live_rows(candidate)
        .filter(|row| row.trials.len() < reruns)
        .collect();
    let first = few.first()?;
    let more = if few.len() > 1 {
        format!(", and {} more have too few", few.len() - 1)
    } else {
        String::new()
    };
    Some(format!(
        "`{}` was tried {} times, and `[eval.stability] reruns` is {reruns}{more}: `ctxc eval --answers live --full --runs {reruns} --pass K --out FILE`",
        first.id,
        first.trials.len()
    ))
}

#[allow(
    clippy::cast_precision_loss,
    reason = "a project has fewer than 2^52 scenarios and tokens"
)]
fn fraction(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// The findings of the gate so far.
struct GateFindings<'c> {
    candidate: &'c GateInput<'c>,
    violations: Vec<Violation>,
    failing: Vec<FailingCase>,
    warnings: Vec<String>,
}

impl GateFindings<'_> {
    fn judge_relaxation(
        &self,
        LocatedRelaxation {
            weakened,
            path,
            diff,
        }: &LocatedRelaxation,
    ) -> JudgedRelaxation {
        let accepted = self
            .candidate
            .approvals
            .acceptance_of(weakened, self.candidate.accepters);
        JudgedRelaxation {
            weakened: weakened.clone(),
            path: path.clone(),
            diff: diff.clone(),
            approved_by: accepted.map(|accepted| accepted.by.to_owned()),
            reason: accepted.map(|accepted| accepted.reason.to_owned()),
            unverified: accepted.is_some_and(|accepted| accepted.unverified),
        }
    }

    fn add_violation(
        &mut self,
        name: &str,
        limit: impl Into<String>,
        value: impl Into<String>,
        case: Option<&str>,
    ) {
        let case = case.map(str::to_owned);
        self.violations.push(Violation {
            name: name.to_owned(),
            limit: limit.into(),
            value: value.into(),
            case,
        });
    }

    /// The accepted result of a scenario.
    fn accepted_result(&self, row: &CaseRow) -> Option<&BaselineCase> {
        let of_suite = self
            .candidate
            .baselines
            .iter()
            .filter(|baseline| baseline.suite == row.suite);
        of_suite
            .flat_map(|baseline| &baseline.cases)
            .find(|case| case.id == row.id)
    }

    /// Returns true if a scenario was accepted as failing, and has no new failure.
    fn fails_as_accepted(&self, row: &CaseRow) -> bool {
        self.accepted_result(row).is_some_and(|case| {
            // Results of an earlier version do not list the failed expectations.
            case.verdict == "fail"
                && (case.failed.is_empty()
                    || row
                        .failed_expectations()
                        .iter()
                        .all(|what| case.failed.contains(what)))
        })
    }

    /// Adds failures by the change's own expectations.
    fn check_own_expectations(&mut self) {
        for row in &self.candidate.card.cases {
            match row.verdict() {
                CaseVerdict::Fail if self.fails_as_accepted(row) && !row.has_context_failure() => {
                    self.warnings.push(format!(
                        "`{}` fails, as it did when it was accepted",
                        row.id
                    ));
                }
                CaseVerdict::Fail if self.candidate.card.allows_failure_of(row) => {
                    let (id, suite) = (&row.id, &row.suite);
                    let why = "by the share of scenarios that pass";
                    self.warnings
                        .push(format!("`{id}` fails, which `{suite}` allows {why}"));
                }
                CaseVerdict::Fail => {
                    let name = if row.has_context_failure() {
                        "context"
                    } else {
                        "confirmed_fail"
                    };
                    self.add_violation(
                        name,
                        "every expectation holds",
                        failure_line(row),
                        Some(&row.id),
                    );
                    self.failing.push(FailingCase {
                        id: row.id.clone(),
                        reason: failure_line(row),
                    });
                }
                CaseVerdict::Stale if self.candidate.limits.refuses_stale => {
                    self.add_violation(
                        "stale",
                        "answers to this request",
                        "answers to an earlier one: `ctxc eval --record --stale` asks for new ones",
                        Some(&row.id),
                    );
                }
                CaseVerdict::Stale => self.warnings.push(format!(
                    "`{}` only has answers to an earlier request",
                    row.id
                )),
                CaseVerdict::Inconclusive if only_informs(row) => {}
                CaseVerdict::Inconclusive if row.trials.is_empty() && row.trouble.is_none() => {
                    let why = "it has no recorded answer and no expectation on its context";
                    self.warnings
                        .push(format!("`{}` is undecided: {why}", row.id));
                }
                CaseVerdict::Inconclusive | CaseVerdict::Error => {
                    let why = failure_line(row);
                    self.warnings.push(format!(
                        "`{}` is undecided: {}",
                        row.id,
                        why.trim_start_matches("undecided: ")
                    ));
                }
                CaseVerdict::Pass => {}
            }
        }
    }

    /// Warns about scenarios that nothing decides, since their judge is not trusted. If it was
    /// trusted at the base, a relaxation is listed.
    fn check_informing_judges(&mut self) {
        let rows = self.candidate.card.cases.iter();
        let rows: Vec<&CaseRow> = rows.filter(|row| only_informs(row)).collect();
        let Some(first) = rows.first() else { return };
        let mut verdicts = first.trials.iter().flat_map(|trial| &trial.expectations);
        let found = verdicts.next().map_or("", |one| one.found.as_str());
        self.warnings.push(format!(
            "{} of {} scenarios only inform, such as `{}`: {found}",
            rows.len(),
            self.candidate.card.cases.len(),
            first.id
        ));
    }

    /// Adds failures by the expectations of the base, unless changes of these were accepted.
    fn check_base_expectations(&mut self, sides: &GateHeader, weakened: &[JudgedRelaxation]) {
        let failing: BTreeSet<String> = self.failing.iter().map(|case| case.id.clone()).collect();
        let Some(by_base) = self.candidate.by_base else {
            return;
        };
        let is_excused = |is_of: &dyn Fn(&Relaxation) -> bool| {
            let of_subject = weakened.iter().filter(|one| is_of(&one.weakened));
            let mut of_subject = of_subject.peekable();
            of_subject.peek().is_some() && of_subject.all(|one| one.approved_by.is_some())
        };
        for row in &by_base.cases {
            let is_bad = match row.verdict() {
                CaseVerdict::Fail => !by_base.allows_failure_of(row),
                CaseVerdict::Error => {
                    row.trouble.is_some() && !self.candidate.unchecked.contains_key(&row.id)
                }
                CaseVerdict::Pass | CaseVerdict::Stale | CaseVerdict::Inconclusive => false,
            };
            if is_bad
                && !is_excused(&|one| one.of == row.id)
                && !self.fails_as_accepted(row)
                && !failing.contains(&row.id)
            {
                let reason = format!(
                    "by the expectations of {}: {}",
                    sides.base,
                    failure_line(row)
                );
                self.failing.push(FailingCase {
                    id: row.id.clone(),
                    reason,
                });
            }
        }
        // More scenarios or other weights do not make up for those of the base.
        let own = self.candidate.card.thresholds.iter();
        let own: BTreeSet<String> = own.map(ThresholdRow::describe).collect();
        let mut missed: Vec<ThresholdRow> = by_base.thresholds.clone();
        missed.retain(|row| row.is_missed() && !own.contains(&row.describe()));
        if missed.is_empty() {
            return;
        }
        // A scenario whose relaxation was accepted counts as the change judges it, and excuses no
        // other one.
        let judged = |row: &CaseRow| {
            let mut own = self.candidate.card.cases.iter();
            let own = own.find(|one| one.id == row.id);
            own.filter(|_| is_excused(&|one| one.of == row.id))
                .unwrap_or(row)
                .clone()
        };
        let cases = by_base.cases.iter().map(judged).collect();
        let with_accepted = by_base.clone().with_cases(cases).thresholds;
        for limit in missed {
            let is_limit = |one: &Relaxation| {
                let Relaxation { kind, of, what, .. } = one;
                *kind == SafeguardKind::Threshold
                    && *of == limit.suite
                    && what.strip_prefix("thresholds.") == Some(&limit.name)
            };
            let mut still = with_accepted.iter();
            let still = still.find(|one| one.path == limit.path && one.name == limit.name);
            if let Some(still) = still.filter(|one| one.is_missed())
                && !is_excused(&is_limit)
            {
                self.add_suite_violation(still, &format!(", by the scenarios of {}", sides.base));
            }
        }
    }

    /// Adds accepted scenarios that are missing, and significant losses against the baselines.
    fn check_baselines(&mut self) {
        let accepted = self
            .candidate
            .baselines
            .iter()
            .flat_map(|baseline| &baseline.cases);
        let compared =
            BaselineComparison::compare(self.candidate.card, accepted, ComparedModels::Any);
        for id in &compared.missing {
            let found = "none of this name: put it back, or accept the results as they are: `ctxc baseline accept --reason WHY`";
            self.add_violation("missing_case", "every accepted scenario", found, Some(id));
        }
        let BaselineComparison {
            better,
            worse,
            sign_test: chance,
            tokens_then: before,
            tokens_now: after,
            ..
        } = compared;
        if chance < SIGNIFICANCE_LEVEL {
            let value =
                format!("{chance:.4}: {worse} scenarios pass less often, {better} more often");
            self.add_violation(
                "sign_test",
                format!("{SIGNIFICANCE_LEVEL} or more"),
                value,
                None,
            );
        }
        #[allow(
            clippy::cast_precision_loss,
            reason = "runs use fewer than 2^52 tokens"
        )]
        if let Some(growth) = self.candidate.limits.tokens
            && after as f64 > before as f64 * (1.0 + growth)
        {
            let limit = format!(
                "{before} tokens a trial of each scenario and {}",
                format_percent(growth)
            );
            self.add_violation("tokens", limit, after.to_string(), None);
        }
    }

    /// Warns about acceptances by people who may not accept.
    fn check_accepters(&mut self) {
        let accepters = self.candidate.accepters;
        let by: BTreeSet<&str> = self
            .candidate
            .approvals
            .added_lines()
            .iter()
            .map(|added| added.line.by.as_str())
            .collect();
        for by in by.into_iter().filter(|by| !accepters.may_accept(by)) {
            let names = accepters.list_names();
            self.warnings.push(format!(
                "what {by} accepted does not count: the `accepters` of the base are {names}"
            ));
        }
    }

    /// Checks the variance and the cost of answers of live models.
    fn check_stability(&mut self) {
        let candidate = self.candidate;
        let Some(policy) = live_policy(candidate) else {
            return;
        };
        for row in live_rows(candidate) {
            let Some(rate) = row.rate.map(|rate| rate.value) else {
                continue;
            };
            let variance = rate * (1.0 - rate);
            if variance > policy.variance + f64::EPSILON {
                let limit = format!("a variance of {}", policy.variance);
                let value = format!(
                    "{variance:.3}: {rate:.3} of {} trials pass",
                    row.trials.len()
                );
                self.add_violation("stability_variance", limit, value, Some(&row.id));
            }
        }
        let of_trials: f64 = live_rows(candidate)
            .flat_map(|row| &row.trials)
            .filter_map(|trial| trial.cost_usd)
            .sum();
        let cost = of_trials.max(candidate.card.summary.cost_usd);
        if cost > policy.cost_usd {
            let found = format!("US$ {}", (cost * 1e9).round() / 1e9);
            self.add_violation(
                "stability_cost",
                format!("US$ {}", policy.cost_usd),
                found,
                None,
            );
        }
    }

    /// Warns about scenarios with more recorded trials than are used.
    fn check_recordings(&mut self) {
        for row in &self.candidate.card.cases {
            if let Some(recorded) = row
                .rule
                .recorded
                .filter(|recorded| recorded.trials > recorded.of)
            {
                let (trials, of) = (recorded.trials, recorded.of);
                self.warnings.push(format!(
                    "`{}` was recorded {trials} times, and {of} are tried: the first {of} decide",
                    row.id
                ));
            }
        }
    }

    /// Adds removed text that no scenario covers.
    fn check_uncovered(&mut self) {
        for UncoveredText { agent, text } in self.candidate.uncovered {
            if self.candidate.limits.uncovered == UncoveredPolicy::Fail {
                let found = format!("none that holds {text}");
                self.add_violation(
                    "uncovered",
                    "changes of text that a scenario of the base holds",
                    found,
                    Some(agent),
                );
            } else {
                self.warnings
                    .push(format!("`{agent}`: no scenario of the base holds {text}"));
            }
        }
        if !self.candidate.uncovered.is_empty() {
            let how = "first merge a scenario that expects the text: `contains` or `snapshot: true` under `expect_context`";
            self.warnings
                .push(format!("to change text that no scenario holds, {how}"));
        }
    }

    /// Adds the thresholds of suites that are not reached.
    fn check_suites(&mut self) {
        let limits = self.candidate.card.thresholds.iter();
        for limit in limits.filter(|row| row.is_missed()) {
            self.add_suite_violation(limit, "");
        }
    }

    fn add_suite_violation(&mut self, row: &ThresholdRow, whose: &str) {
        let name = format!("suite_{}", row.name);
        let value = format_score(row.value) + whose;
        self.add_violation(&name, row.limit.to_string(), value, Some(&row.suite));
    }

    /// Checks the limits over all scenarios.
    fn check_limits(&mut self) {
        let GateInput { card, limits, .. } = self.candidate;
        let rate = fraction(card.summary.passed, card.summary.planned);
        // An undecided scenario makes the decision inconclusive by itself, and can still pass.
        let best = fraction(
            card.summary.passed + card.summary.inconclusive,
            card.summary.planned,
        );
        if let Some(least) = limits.pass_rate.filter(|least| best < *least) {
            self.add_violation("pass_rate", format!("{least}"), format!("{rate:.3}"), None);
        }
        let cost: f64 = card
            .cases
            .iter()
            .flat_map(|row| &row.trials)
            .filter_map(|trial| trial.cost_usd)
            .sum();
        if let Some(most) = limits.cost_usd.filter(|most| cost > *most) {
            self.add_violation(
                "cost",
                format!("US$ {most}"),
                format!("US$ {}", (cost * 1e9).round() / 1e9),
                None,
            );
        }
        let grown = self
            .candidate
            .weakened
            .iter()
            .map(|one| &one.weakened)
            .filter(|weakened| is_growth(weakened));
        let grown: Vec<Relaxation> = grown
            .filter(|weakened| {
                self.candidate
                    .approvals
                    .acceptance_of(weakened, self.candidate.accepters)
                    .is_none()
            })
            .cloned()
            .collect();
        for Relaxation {
            of, before, after, ..
        } in grown
        {
            let limit = format!(
                "{} and {}",
                before.unwrap_or_default(),
                format_percent(limits.manifest_tokens)
            );
            self.add_violation(
                "manifest_tokens",
                limit,
                after.unwrap_or_default(),
                Some(&of),
            );
        }
    }
}

/// The label of the growth of an agent's context.
const GROWTH_LABEL: &str = "tokens known before a run";

fn is_growth(weakened: &Relaxation) -> bool {
    weakened.kind == SafeguardKind::Threshold && weakened.what == GROWTH_LABEL
}

/// An agent with the tokens of its context before and after a change.
#[derive(Clone, Debug)]
pub struct ContextGrowth {
    /// The agent.
    pub of: String,
    /// Tokens before.
    pub from: usize,
    /// Tokens after.
    pub to: usize,
    /// The file that its context comes from.
    pub path: String,
}

/// The agents whose contexts grew by more than the limit.
pub fn excessive_growth(
    agents: impl IntoIterator<Item = ContextGrowth>,
    growth: f64,
) -> Vec<LocatedRelaxation> {
    #[allow(
        clippy::cast_precision_loss,
        reason = "contexts have fewer than 2^52 tokens"
    )]
    let is_more = |from: usize, to: usize| from > 0 && to as f64 > from as f64 * (1.0 + growth);
    let weakened = |ContextGrowth { of, from, to, path }: ContextGrowth| {
        let (before, after) = (Some(from.to_string()), Some(to.to_string()));
        let weakened = Relaxation {
            kind: SafeguardKind::Threshold,
            of,
            what: GROWTH_LABEL.to_owned(),
            before,
            after,
        };
        LocatedRelaxation {
            weakened,
            path,
            diff: None,
        }
    };
    agents
        .into_iter()
        .filter(|one| is_more(one.from, one.to))
        .map(weakened)
        .collect()
}

fn format_percent(part: f64) -> String {
    format!("{} %", (part * 1000.0).round() / 10.0)
}

/// True if a scenario is undecided since all that it expects is up to a judge that is not trusted.
fn only_informs(row: &CaseRow) -> bool {
    let verdicts = row.trials.iter().flat_map(|trial| &trial.expectations);
    let mut verdicts = verdicts.peekable();
    row.verdict() == CaseVerdict::Inconclusive
        && row.answer == AnswerOrigin::NotJudged.word()
        && row.trouble.is_none()
        && verdicts.peek().is_some()
        && verdicts.all(|one| !one.gates)
}

/// Describes the failure of a scenario in one line.
fn failure_line(row: &CaseRow) -> String {
    let trouble = row
        .trouble
        .clone()
        .or_else(|| row.faults.first().map(|fault| fault.message.clone()));
    let describe = |one: &crate::eval::scorecard::VerdictRow| {
        format!("expected {}, found {}", one.expected, one.found)
    };
    let context = row
        .context
        .iter()
        .filter(|one| one.gates && one.verdict == "fail");
    let answer = row
        .trials
        .iter()
        .flat_map(|trial| &trial.expectations)
        .filter(|one| one.gates && one.verdict == "fail");
    let open = row
        .trials
        .iter()
        .flat_map(|trial| &trial.expectations)
        .filter(|one| one.gates && one.verdict == "skipped");
    trouble
        .or_else(|| context.chain(answer).chain(open).next().map(describe))
        .unwrap_or_else(|| row.verdict.clone())
}

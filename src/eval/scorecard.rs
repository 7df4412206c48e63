//! The scorecard: the result of every case as data, for programs and as the source of carried-over
//! results.
//!
//! Contains no time, machine or thread: two runs give the same bytes.

use super::case_result::{
    AnswerOrigin, CaseResult, CaseVerdict, CostEstimate, JudgedTrial, RecordedTrials,
};
use super::gate::accepted::{BaselineCase, BaselineComparison};
use super::groups::{
    CaseFigures, ScoreRow, TagRow, ThresholdRow, ThresholdsRow, group_by_tag, mean_score,
};
use super::judge::CriterionScore;
use super::locate::{FaultRow, Locator};
use super::receiver::Receiver;
use super::score::mean;
use super::statistics::KTrialRates;
use super::trials::TrialOutcome;
use super::verdict::{ExpectationVerdict, ResultPlace, ScorePart};
use super::{statistics, trials};
use crate::base::hash::Hash;
use crate::record::fixed_mask::FixedMask;
use crate::record::recording::TrialStage;
use crate::scenario::model::{ScenarioCase, Suite, SuiteThresholds, TrialRule};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

pub use crate::schema::json::names::SCORECARD as SCHEMA;

/// The results of every scenario: `ctxc eval --json`. Two runs give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Scorecard {
    /// The version of the format.
    pub schema: String,
    /// The version of ctxc.
    pub tool: String,
    /// The source of answers: `deterministic` is from recordings and scripts, without any model; in
    /// `real` a model may have been asked.
    pub mode: String,
    /// The number of the shard, and of all shards; absent for a complete run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<[u64; 2]>,
    /// The hash of the registry.
    pub registry_hash: String,
    /// The tokenizer that counted the tokens, unless a model has its own.
    pub tokenizer: String,
    /// The totals of all scenarios.
    pub summary: Summary,
    /// The suites, by their file.
    pub suites: Vec<SuiteRow>,
    /// The thresholds of suites, each with its verdict; absent if no suite has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdRow>,
    /// The scenarios, in the order of their files.
    pub cases: Vec<CaseRow>,
    /// The differences from accepted results, if `--baseline` names some; else absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineComparison>,
}

/// The totals of all scenarios. Passed, failed, stale, errored and inconclusive ones add up to the
/// planned ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Summary {
    /// The selected scenarios.
    pub planned: usize,
    /// The number of these with an answer that was judged.
    pub answered: usize,
    /// The number of these that expect something of an answer for which no recording exists; absent
    /// if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unanswered: usize,
    /// Scenarios whose checked expectations all hold.
    pub passed: usize,
    /// Scenarios with an expectation that does not hold.
    pub failed: usize,
    /// Scenarios whose recorded answers belong to another request.
    pub stale: usize,
    /// Scenarios whose trials did not complete.
    pub errored: usize,
    /// Scenarios that ran without a decisive result.
    pub inconclusive: usize,
    /// Scenarios counted above that were not run, since nothing that determines them changed.
    pub carried: usize,
    /// The mean pass rate of the judged trials of scenarios; null without any.
    pub pass_rate: Option<f64>,
    /// The 95 % interval of that mean, by resampling the scenarios by task; null for fewer than ten
    /// tasks.
    pub interval: Option<[f64; 2]>,
    /// The mean score of scored scenarios, of which one without a score counts as 0; absent if none
    /// is scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The mean chance that at least one of k trials passes, over the scenarios for which it is
    /// known; absent if it is known of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_at_k: Option<f64>,
    /// The mean chance that all of k trials pass, over the same scenarios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_hat_k: Option<f64>,
    /// The scenarios by tag; absent if none has a tag.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<TagRow>,
    /// Tokens of the trials, sent and answered.
    pub tokens: u64,
    /// Calls of models, answered or not.
    pub calls: u64,
    /// The number of these without an answer, by kind; absent if all were answered.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed_calls: BTreeMap<String, u64>,
    /// The cost of the calls, by the prices in `ctxc.toml`.
    pub cost_usd: f64,
}

/// A file of scenarios.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct SuiteRow {
    /// The file, relative to the project.
    pub path: String,
    /// The id; that of the scenario if the file contains one.
    pub id: String,
    /// The displayed name; null if it has none.
    pub name: Option<String>,
    /// The version; null if it has none.
    pub version: Option<String>,
    /// The limits for all of its scenarios together; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<ThresholdsRow>,
}

/// One scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct CaseRow {
    /// The name of the scenario.
    pub id: String,
    /// The id of its suite.
    pub suite: String,
    /// The file, relative to the project.
    pub path: String,
    /// The line on which it begins, from 1.
    pub line: u32,
    /// The tags of the scenario.
    pub tags: Vec<String>,
    /// The agent role; null for a task alone.
    pub role: Option<String>,
    /// The task; null if no such role exists.
    pub task: Option<String>,
    /// The agent inside the task; `/` is the task itself.
    pub node: String,
    /// The provider of that model; null if the project does not name it.
    pub provider: Option<String>,
    /// The model that would be called, by its provider's name; null if neither role nor task names
    /// one.
    pub model: Option<String>,
    /// The verdict.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = ["pass", "fail", "stale", "inconclusive", "error"])))]
    pub verdict: String,
    /// The hash of the registry for which the verdict was given; null if the scenario was run.
    pub carried_from: Option<String>,
    /// The source of the answer; without one, or with a stale one, the verdict is about the context
    /// alone.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = ["not_recorded", "asked", "replayed", "stale", "scripted", "computed", "not_judged"])))]
    pub answer: String,
    /// True if the scenario expects something of its answer, and none is recorded; else absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
    /// The changes in the request since the answers were recorded, a line each; none if they are
    /// not stale.
    pub moved: Vec<String>,
    /// The cost of a new recording, if its answers are stale; else null.
    pub anew: Option<AnewRow>,
    /// The reason that the scenario could not be run; null if it was.
    pub trouble: Option<String>,
    /// The faults that prevent a context; none if there is one.
    pub faults: Vec<FaultRow>,
    /// One verdict for each expectation on the context.
    pub context: Vec<VerdictRow>,
    /// The number of trials, and the condition to pass.
    pub rule: RuleRow,
    /// True if fewer trials were needed than were allowed.
    pub stopped_early: bool,
    /// Calls of models without an answer, by kind: `rate_limited` (status 429), `time_limit`,
    /// `cut_stream`, `unreachable`, `refused`, `not_understood`, `too_large` or `redirected`;
    /// absent if all were answered. A repeated call counts again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed_calls: BTreeMap<String, u64>,
    /// The pass rate of its answers; null if none was judged. For trials that ended early, it is
    /// less reliable than it seems.
    pub rate: Option<RateRow>,
    /// The score; absent if the scenario is not scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<ScoreRow>,
    /// The chances that k trials pass; absent for scripted answers and for rows of trials that are
    /// not full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k_trials: Option<KTrialRates>,
    /// The trials, in order.
    pub trials: Vec<TrialRow>,
    /// Tokens of the context; null if there is none.
    pub tokens: Option<TokensRow>,
    /// The hash of everything that determines the context; null if the scenario could not be run.
    pub context_hash: Option<String>,
    /// The hash of the scenario's content; null if the scenario could not be run.
    pub key: Option<String>,
    /// The difference between the stored request and today's, as a unified diff, if `--accept`
    /// stored it or `--diff` requested it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The accepted result, if `--baseline` names one; else absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<BaselineCase>>,
}

/// The calls and cost of a new recording, at least and at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct AnewRow {
    /// Calls of a model.
    pub calls: [u64; 2],
    /// US$; null if `ctxc.toml` contains no price.
    pub usd: Option<[f64; 2]>,
}

/// One expectation, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct VerdictRow {
    /// The expectation in words.
    pub what: String,
    /// The line of the scenario that contains it, from 1.
    pub line: u32,
    /// The verdict; `skipped` if the expectation could not be checked.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = ["pass", "fail", "skipped"])))]
    pub verdict: String,
    /// True if it can fail the scenario.
    pub gates: bool,
    /// Its part in the score of the trial; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<ScorePart>,
    /// The expected value.
    pub expected: String,
    /// The actual value.
    pub found: String,
    /// The place of the actual value; null if it has none.
    pub at: Option<PlaceRow>,
    /// Further advice: the text that is there instead, the nearest name.
    pub advice: Vec<String>,
}

/// The place of an actual value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct PlaceRow {
    /// The segment; null if none is concerned.
    pub segment: Option<String>,
    /// The first byte in the text of the segment, message or answer; null if the place is no range.
    pub start: Option<usize>,
    /// One past the last byte; null if the place is no range.
    pub end: Option<usize>,
    /// The source of the text, if that is no file; else null.
    pub source: Option<String>,
    /// The file of the text, relative to the project; null if it comes from none.
    pub path: Option<String>,
    /// The line of that file, from 1; null if unknown.
    pub line: Option<u32>,
}

/// The number of trials of a scenario, and the condition to pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct RuleRow {
    /// The maximum number of trials.
    pub runs: u32,
    /// Trials that must pass; null for a sequential test.
    pub pass: Option<u32>,
    /// The stage that decided: `confirm` is the second one, for a scenario that failed the first.
    pub stage: TrialStage,
    /// The number of recorded trials, if the scenario asks for more or for fewer; else null.
    pub recorded: Option<RecordedRow>,
}

/// The number of recorded trials that differs from the requested number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct RecordedRow {
    /// The number of recorded trials.
    pub trials: u32,
    /// The number that the scenario requests.
    pub of: u32,
    /// True if more trials were recorded once, so that the remaining ones decide only if the
    /// missing ones could not change the result.
    pub cut: bool,
}

/// The share of the trials that passed, and the interval of the true rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct RateRow {
    /// The share that passed, from 0 to 1.
    pub value: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper end of the 95 % interval.
    pub high: f64,
    /// The method that computed the interval.
    pub method: IntervalMethod,
}

/// Methods to compute the interval of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// The Wilson interval, which contains the true rate in about 95 % of cases.
    Wilson,
    /// The Clopper-Pearson interval, which contains it in at least 95 % of cases.
    ClopperPearson,
}

/// One trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct TrialRow {
    /// The number of the trial, from 1.
    pub index: usize,
    /// The stage that it belongs to.
    pub stage: TrialStage,
    /// The verdict.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = ["pass", "fail"])))]
    pub verdict: String,
    /// True if it passed although an expectation that can fail the scenario was not judged, so that
    /// no rate counts it; else absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undecided: bool,
    /// Its score; absent if the scenario is not scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// One verdict for each expectation on the answer.
    pub expectations: Vec<VerdictRow>,
    /// The scores of the judge; absent without a judge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<CriterionScore>,
    /// The source of the answer: `script` is the scenario's own script, `recording` that of the
    /// case; else the provider that was asked.
    pub provider: String,
    /// Features of the answer.
    pub features: FeaturesRow,
    /// Tokens of its requests and answers.
    pub tokens: UsageRow,
    /// The impossible count that the provider reported, so that tokens were counted here; absent if
    /// its count is consistent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub miscounted: Option<String>,
    /// US$, by the prices in `ctxc.toml`; null if it contains none.
    pub cost_usd: Option<f64>,
    /// Milliseconds until the answer was complete, when it was given; null if not measured.
    pub latency_ms: Option<u64>,
    /// The run, if the scenario runs a whole task; else absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunRow>,
    /// The hash of the answer's text.
    pub output_hash: String,
}

/// The run of a whole task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct RunRow {
    /// The end of the run.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = ["complete", "failed", "blocked"])))]
    pub ends: String,
    /// The reason that it is not complete; null if it is.
    pub obstacle: Option<String>,
    /// The agents and scripts that it passed through, in order.
    pub path: Vec<String>,
}

/// Features of an answer, which are compared over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct FeaturesRow {
    /// True if it splits its work into two parts or more; null if that is undecidable.
    pub decomposes: Option<bool>,
}

/// Tokens of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct UsageRow {
    /// Tokens that were sent.
    pub input: u64,
    /// The number of these that the provider's cache had; null if unknown.
    pub cached: Option<u64>,
    /// Tokens of the answer.
    pub output: u64,
    /// The number of these that were reasoning; null if unknown.
    pub reasoning: Option<u64>,
}

/// Tokens of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct TokensRow {
    /// Tokens of every segment that stays.
    pub total: u64,
    /// Tokens of the prefix that a provider's cache can reuse.
    pub prefix: u64,
    /// The tokenizer that counted them.
    pub tokenizer: String,
}

/// The case that a row describes.
#[derive(Clone, Copy, Debug)]
pub struct RowSubject<'a> {
    /// The scenario's file, relative to the project.
    pub path: &'a str,
    /// The id of its suite.
    pub suite: &'a str,
    /// The case.
    pub case: &'a ScenarioCase,
    /// The receiver of the context; `None` if there is no such role.
    pub receiver: Option<Receiver<'a>>,
}

impl RuleRow {
    fn from_rule(rule: &TrialRule) -> Self {
        Self {
            runs: trials::max_trials(rule),
            pass: rule.sequential.is_none().then_some(rule.pass),
            ..Self::default()
        }
    }
}

/// The fields of a row that repeat text of contexts and answers.
const TEXT_FIELDS: [&str; 6] = [
    "/moved", "/trouble", "/faults", "/context", "/trials", "/diff",
];
/// The text in the place of words that are not kept.
const WITHHELD: &str = "words of a session that is not in the project, which are not kept in it";

impl CaseRow {
    /// The gating expectations that failed.
    pub fn failed_expectations(&self) -> Vec<String> {
        let all = self
            .context
            .iter()
            .chain(self.trials.iter().flat_map(|trial| &trial.expectations));
        let failed: BTreeSet<&str> = all
            .filter(|one| one.gates && one.verdict == "fail")
            .map(|one| one.what.as_str())
            .collect();
        failed.into_iter().map(str::to_owned).collect()
    }

    /// The row with secrets and personal data of contexts and answers masked.
    #[must_use]
    pub fn with_masks(self, mask: &FixedMask) -> Self {
        // Serialising a row cannot fail.
        let json = serde_json::to_string(&self).unwrap_or_default();
        let is_of_words = |pointer: &str| {
            TEXT_FIELDS.iter().any(|words| {
                pointer
                    .strip_prefix(words)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let masked = mask.mask_json(&json, is_of_words);
        if masked == json {
            self
        } else {
            serde_json::from_str(&masked).unwrap_or(self)
        }
    }

    /// The row without words of contexts and answers.
    #[must_use]
    pub fn without_words(mut self) -> Self {
        let of_trials = self.trials.iter_mut();
        let verdicts = of_trials.flat_map(|trial| {
            for score in &mut trial.scores {
                score.quote.clear();
                score.reason.clear();
            }
            &mut trial.expectations
        });
        for verdict in self.context.iter_mut().chain(verdicts) {
            WITHHELD.clone_into(&mut verdict.found);
            verdict.at = None;
            verdict.advice.clear();
        }
        self.trouble = self.trouble.map(|_| WITHHELD.to_owned());
        self.moved.clear();
        self.diff = None;
        self
    }

    /// The row of a case that was run.
    pub fn from_result(of: RowSubject<'_>, done: &CaseResult, locator: &Locator<'_>) -> Self {
        let verdicts = |verdicts: &[ExpectationVerdict]| -> Vec<VerdictRow> {
            verdicts
                .iter()
                .map(|verdict| verdict_row(verdict, of.path, locator))
                .collect()
        };
        let trial = |(number, trial): (usize, &JudgedTrial)| TrialRow {
            index: number + 1,
            stage: trial.stage,
            verdict: match trial.outcome {
                TrialOutcome::Passed => "pass".to_owned(),
                TrialOutcome::Failed => "fail".to_owned(),
            },
            undecided: trial.is_undecided(),
            score: trial.score,
            expectations: verdicts(&trial.verdicts),
            scores: trial.scores.clone(),
            provider: trial.answered_by.clone(),
            features: FeaturesRow {
                decomposes: trial.decomposes,
            },
            tokens: UsageRow {
                input: trial.tokens.0,
                cached: trial.cost.cached,
                output: trial.tokens.1,
                reasoning: trial.cost.reasoning,
            },
            miscounted: trial.answer.miscounted.clone(),
            cost_usd: trial.cost.usd,
            latency_ms: trial.cost.latency_ms,
            run: trial.answer.run.as_deref().map(|run| RunRow {
                ends: run.ends.clone(),
                obstacle: run.obstacle.clone(),
                path: run.path(),
            }),
            output_hash: Hash::digest(trial.answer.text.as_bytes()).to_string(),
        };
        let bare = Self::unjudged(of, locator);
        let trials: Vec<TrialRow> = done.trials.iter().enumerate().map(trial).collect();
        let recorded = done
            .recorded
            .map(|RecordedTrials { trials, of, is_cut }| RecordedRow {
                trials,
                of,
                cut: is_cut,
            });
        let rule = RuleRow {
            recorded,
            stage: done.stage,
            ..done.rule.as_ref().map_or(bare.rule, RuleRow::from_rule)
        };
        Self {
            rule,
            score: bare.score.map(|score| ScoreRow {
                value: case_score(&trials, rule, done.stopped_early),
                ..score
            }),
            k_trials: k_trials(of.case.rule.pass, done),
            node: done.node.clone(),
            provider: done.provider.clone(),
            model: done.model.clone(),
            verdict: done.verdict.word().to_owned(),
            answer: done.answered.word().to_owned(),
            unanswered: done.answered == AnswerOrigin::NotRecorded
                && matches!(done.verdict, CaseVerdict::Pass | CaseVerdict::Inconclusive)
                && !of.case.expectations.is_empty(),
            moved: done.changes.clone(),
            anew: done
                .new_answer_cost
                .map(|CostEstimate { calls, usd, .. }| AnewRow {
                    calls: [calls.0, calls.1],
                    usd: usd.map(|usd| [usd.0, usd.1]),
                }),
            trouble: done.trouble.clone(),
            faults: done
                .faults
                .iter()
                .map(|fault| locator.locate_fault(fault))
                .collect(),
            context: verdicts(&done.context),
            stopped_early: done.stopped_early,
            failed_calls: done.failed_calls.clone(),
            rate: is_judged(done.answered)
                .then(|| pass_rate(&trials, IntervalMethod::Wilson))
                .flatten(),
            trials,
            tokens: done.tokens.map(|(total, prefix)| TokensRow {
                total,
                prefix,
                tokenizer: done.tokenizer.clone(),
            }),
            context_hash: done.keys.map(|keys| keys.context.to_string()),
            key: done.keys.map(|keys| keys.case.to_string()),
            diff: done.diff.clone(),
            ..bare
        }
    }

    /// The row of a case that was not judged.
    pub fn unjudged(of: RowSubject<'_>, locator: &Locator<'_>) -> Self {
        let RowSubject {
            path,
            suite,
            case,
            receiver,
        } = of;
        Self {
            line: locator.line_of(path, case.span.start).unwrap_or(1),
            tags: case.tags.iter().map(|tag| tag.value.clone()).collect(),
            role: receiver
                .and_then(|receiver| receiver.role_name())
                .map(str::to_owned),
            task: receiver.map(|receiver| receiver.task.to_owned()),
            rule: RuleRow::from_rule(&case.rule),
            score: case.is_scored.then_some(ScoreRow {
                value: None,
                min: case.rule.min_score,
            }),
            ..Self::empty(&case.name.value, suite, path)
        }
    }

    /// The row of a file that cannot be read, identified by its path.
    pub fn unreadable(path: &str, why: String) -> Self {
        Self {
            trouble: Some(why),
            ..Self::empty(path, path, path)
        }
    }

    fn empty(id: &str, suite: &str, path: &str) -> Self {
        Self {
            id: id.to_owned(),
            suite: suite.to_owned(),
            path: path.to_owned(),
            line: 1,
            node: "/".to_owned(),
            verdict: CaseVerdict::Error.word().to_owned(),
            answer: AnswerOrigin::NotRecorded.word().to_owned(),
            rule: RuleRow {
                runs: 1,
                pass: Some(1),
                ..RuleRow::default()
            },
            ..Self::default()
        }
    }

    /// Its verdict. An unknown word counts as an error, never as a success.
    pub fn verdict(&self) -> CaseVerdict {
        CaseVerdict::parse(&self.verdict).unwrap_or(CaseVerdict::Error)
    }

    fn figures(&self) -> CaseFigures {
        let of_stage = self.trials.iter();
        let of_stage = of_stage.filter(|trial| trial.stage == self.rule.stage);
        let open = match self.score.and_then(|score| score.value) {
            Some(_) if self.is_decided() => mean(of_stage.map(unjudged_share)).unwrap_or(0.0),
            _ => 1.0,
        };
        let bounds = |score: ScoreRow| {
            let least = score.value.unwrap_or(0.0);
            [least, (least + open).min(1.0)]
        };
        CaseFigures {
            verdict: self.verdict(),
            rate: self.rate.map(|rate| rate.value),
            score: self.score.map(bounds),
        }
    }

    /// True if it has no context, or one that does not hold.
    pub fn has_context_failure(&self) -> bool {
        let mut context = self.context.iter();
        self.trouble.is_some()
            || !self.faults.is_empty()
            || context.any(|one| one.gates && one.verdict == "fail")
    }

    /// Returns true if it passes or fails.
    pub fn is_decided(&self) -> bool {
        matches!(self.verdict(), CaseVerdict::Pass | CaseVerdict::Fail)
    }

    /// Tokens of its trials, sent and answered.
    pub fn used_tokens(&self) -> u64 {
        self.trials
            .iter()
            .map(|trial| trial.tokens.input.saturating_add(trial.tokens.output))
            .fold(0, u64::saturating_add)
    }

    /// The number of expectations on the context that hold, and their total number.
    pub fn held_expectations(&self) -> (usize, usize) {
        (
            self.context
                .iter()
                .filter(|row| row.verdict == "pass")
                .count(),
            self.context.len(),
        )
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde hands it")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn is_judged(answered: AnswerOrigin) -> bool {
    !matches!(
        answered,
        AnswerOrigin::NotRecorded | AnswerOrigin::NotJudged | AnswerOrigin::Stale
    )
}

/// The share of the weights of a trial's expectations that was not judged.
fn unjudged_share(trial: &TrialRow) -> f64 {
    let (mut open, mut all) = (0.0, 0.0);
    for (one, part) in trial
        .expectations
        .iter()
        .filter_map(|one| Some((one, one.part?)))
    {
        all += part.weight;
        if one.verdict == "skipped" {
            open += part.weight;
        }
    }
    if all > 0.0 { open / all } else { 0.0 }
}

/// The pass rate of judged trials; `None` if there are none.
fn pass_rate(trials: &[TrialRow], method: IntervalMethod) -> Option<RateRow> {
    let (mut passed, mut all) = (0, 0);
    for trial in trials.iter().filter(|trial| !trial.undecided) {
        passed += u32::from(trial.verdict == "pass");
        all += 1;
    }
    let (low, high) = match method {
        IntervalMethod::Wilson => statistics::wilson_interval(passed, all)?,
        IntervalMethod::ClopperPearson => statistics::clopper_pearson_interval(passed, all)?,
    };
    Some(RateRow {
        value: f64::from(passed) / f64::from(all),
        low,
        high,
        method,
    })
}

/// The mean score of the trials of the deciding stage; `None` if there are none. A trial that was
/// planned and is missing counts as 0.
fn case_score(trials: &[TrialRow], rule: RuleRow, stopped_early: bool) -> Option<f64> {
    let of_stage = trials.iter().filter(|trial| trial.stage == rule.stage);
    let mut scores: Vec<f64> = of_stage.filter_map(|trial| trial.score).collect();
    if !scores.is_empty() && !stopped_early {
        scores.resize(scores.len().max(rule.runs as usize), 0.0);
    }
    mean(scores)
}

/// The chances of k trials, from a full row of trials of a model.
fn k_trials(k: u32, done: &CaseResult) -> Option<KTrialRates> {
    // An undecided trial has passed nothing.
    let is_of_model = is_judged(done.answered)
        && !matches!(
            done.answered,
            AnswerOrigin::Scripted | AnswerOrigin::Computed
        )
        && !done.trials.iter().any(JudgedTrial::is_undecided);
    let trials = done
        .trials
        .iter()
        .filter(|one| one.stage == TrialStage::First);
    let (mut passed, mut count) = (0, 0);
    for trial in trials.filter(|_| is_of_model && done.has_full_row) {
        passed += u32::from(trial.outcome == TrialOutcome::Passed);
        count += 1;
    }
    statistics::k_trial_rates(passed, count, k).filter(|_| count > 1)
}

fn verdict_row(verdict: &ExpectationVerdict, path: &str, locator: &Locator<'_>) -> VerdictRow {
    let at = |place: &ResultPlace| {
        let (source, found) = locator.locate_place(place);
        let (path, line) = found.map_or((None, None), |(path, line)| (Some(path), line));
        PlaceRow {
            segment: place.segment.clone(),
            start: place.range.as_ref().map(|range| range.start),
            end: place.range.as_ref().map(|range| range.end),
            source,
            path,
            line,
        }
    };
    VerdictRow {
        what: verdict.what.clone(),
        line: locator.line_of(path, verdict.span.start).unwrap_or(1),
        verdict: verdict.outcome.word().to_owned(),
        gates: verdict.gate,
        part: verdict.part,
        expected: verdict.reason.expected.clone(),
        found: verdict.reason.found.clone(),
        at: verdict.reason.place.as_ref().map(at),
        advice: verdict.reason.advice.clone(),
    }
}

impl Scorecard {
    /// A scorecard of rows, with their summary.
    pub fn new(
        registry: Hash,
        tokenizer: &str,
        mut suites: Vec<SuiteRow>,
        cases: Vec<CaseRow>,
    ) -> Self {
        sort_suites(&mut suites);
        Self {
            schema: SCHEMA.to_owned(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            mode: "deterministic".to_owned(),
            shard: None,
            registry_hash: registry.to_string(),
            tokenizer: tokenizer.to_owned(),
            summary: Summary::summarize(&cases),
            thresholds: check_thresholds(&suites, &cases),
            suites,
            cases,
            baseline: None,
        }
    }

    /// True if a scenario fails by its answers, and the reached `pass_rate` of its suite allows that.
    pub fn allows_failure_of(&self, row: &CaseRow) -> bool {
        let mut limits = self.thresholds.iter();
        row.verdict() == CaseVerdict::Fail
            && !row.has_context_failure()
            && limits.any(|limit| limit.path == row.path && limit.allows_failures())
    }

    /// Keeps only the scenarios of these suites; all if the list is empty.
    #[must_use]
    pub fn only_suites(mut self, suites: &[String]) -> Self {
        if suites.is_empty() {
            return self;
        }
        let cases = std::mem::take(&mut self.cases);
        self.suites.retain(|suite| suites.contains(&suite.id));
        self.with_cases(
            cases
                .into_iter()
                .filter(|row| suites.contains(&row.suite))
                .collect(),
        )
    }

    /// Replaces the scenarios and recomputes the summary.
    #[must_use]
    pub(super) fn with_cases(self, cases: Vec<CaseRow>) -> Self {
        let Summary {
            calls, cost_usd, ..
        } = self.summary;
        Self {
            summary: Summary {
                calls,
                cost_usd,
                ..Summary::summarize(&cases)
            },
            thresholds: check_thresholds(&self.suites, &cases),
            cases,
            ..self
        }
    }

    /// Marks it as a run that called models.
    #[must_use]
    pub fn as_real_run(mut self, calls: u64, cost_usd: f64) -> Self {
        "real".clone_into(&mut self.mode);
        self.summary = Summary {
            calls,
            cost_usd,
            ..self.summary
        };
        self
    }

    /// Replaces the intervals by exact ones, which hold the true rate in at least 95 % of cases.
    #[must_use]
    pub fn with_exact_intervals(mut self) -> Self {
        for case in self.cases.iter_mut().filter(|case| case.rate.is_some()) {
            case.rate = pass_rate(&case.trials, IntervalMethod::ClopperPearson);
        }
        self
    }
}

impl Summary {
    fn summarize(cases: &[CaseRow]) -> Self {
        let mut summary = Self {
            planned: cases.len(),
            ..Self::default()
        };
        for row in cases {
            let counted = match row.verdict() {
                CaseVerdict::Pass => &mut summary.passed,
                CaseVerdict::Fail => &mut summary.failed,
                CaseVerdict::Stale => &mut summary.stale,
                CaseVerdict::Error => &mut summary.errored,
                CaseVerdict::Inconclusive => &mut summary.inconclusive,
            };
            *counted += 1;
            summary.unanswered += usize::from(row.unanswered);
            let answered = AnswerOrigin::parse(&row.answer).is_some_and(is_judged);
            summary.answered += usize::from(answered && !row.trials.is_empty());
            summary.carried += usize::from(row.carried_from.is_some());
            summary.tokens = summary.tokens.saturating_add(row.used_tokens());
            for (kind, count) in row
                .failed_calls
                .iter()
                .filter(|_| row.carried_from.is_none())
            {
                *summary.failed_calls.entry(kind.clone()).or_default() += count;
            }
        }
        let rates: Vec<(&str, f64)> = cases
            .iter()
            .filter_map(|row| Some((row.task.as_deref().unwrap_or(&row.id), row.rate?.value)))
            .collect();
        summary.pass_rate = mean(rates.iter().map(|(_, rate)| *rate));
        let figures: Vec<CaseFigures> = cases.iter().map(CaseRow::figures).collect();
        summary.score = mean_score(&figures).map(|[score, _]| score);
        let k_trials = || cases.iter().filter_map(|row| row.k_trials);
        summary.pass_at_k = mean(k_trials().map(|rates| rates.pass_at_k));
        summary.pass_hat_k = mean(k_trials().map(|rates| rates.pass_hat_k));
        let tags = cases.iter().map(|row| &*row.tags);
        summary.tags = group_by_tag(tags.zip(figures));
        summary.interval = statistics::clustered(&rates).map(|(low, high)| [low, high]);
        summary
    }
}

impl SuiteRow {
    /// The row of a suite.
    pub fn from_suite(path: &str, suite: &Suite) -> Self {
        let SuiteThresholds {
            min_score,
            pass_rate,
        } = suite.thresholds;
        let text = |text: &Option<crate::base::span::Spanned<String>>| {
            text.as_ref().map(|text| text.value.clone())
        };
        Self {
            path: path.to_owned(),
            id: suite.id.value.clone(),
            name: text(&suite.name),
            version: text(&suite.version),
            thresholds: (min_score.is_some() || pass_rate.is_some()).then_some(ThresholdsRow {
                min_score,
                pass_rate,
                cases: suite.cases.len(),
            }),
        }
    }
}

/// Compares the thresholds of suites with their scenarios.
fn check_thresholds(suites: &[SuiteRow], cases: &[CaseRow]) -> Vec<ThresholdRow> {
    let of_suite = |suite: &SuiteRow| {
        let rows = cases.iter().filter(|row| row.path == suite.path);
        let rows: Vec<CaseFigures> = rows.map(CaseRow::figures).collect();
        let found = suite.thresholds.map(|limits| limits.compare(&rows));
        let with_suite = |row| ThresholdRow {
            suite: suite.id.clone(),
            path: suite.path.clone(),
            ..row
        };
        found
            .unwrap_or_default()
            .into_iter()
            .map(with_suite)
            .collect::<Vec<_>>()
    };
    let limited = suites.iter().filter(|suite| suite.thresholds.is_some());
    limited.flat_map(of_suite).collect()
}

/// Sorts suites by their files and removes repeated ones.
fn sort_suites(suites: &mut Vec<SuiteRow>) {
    suites.sort_by(|a, b| (&a.path, &a.id).cmp(&(&b.path, &b.id)));
    suites.dedup();
}

/// Merges named scorecards. The result is byte for byte that of one run of all their cases.
///
/// # Errors
/// The scorecards belong to different runs; the reason is in the text.
pub fn merge_scorecards(cards: Vec<(String, Scorecard)>) -> Result<Scorecard, String> {
    check_complete(&cards)?;
    let mut cards = cards.into_iter();
    let Some((first, mut whole)) = cards.next() else {
        return Err("there is no scorecard to merge".to_owned());
    };
    let mut rows: BTreeMap<(String, u32, String), (String, CaseRow)> = BTreeMap::new();
    let place = |row: &CaseRow| (row.path.clone(), row.line, row.id.clone());
    rows.extend(
        std::mem::take(&mut whole.cases)
            .into_iter()
            .map(|row| (place(&row), (first.clone(), row))),
    );
    for (name, mut card) in cards {
        let same = [
            ("registry", &card.registry_hash, &whole.registry_hash),
            ("version of ctxc", &card.tool, &whole.tool),
            ("tokenizer", &card.tokenizer, &whole.tokenizer),
            ("mode", &card.mode, &whole.mode),
        ];
        if let Some((what, theirs, ours)) =
            same.into_iter().find(|(_, theirs, ours)| theirs != ours)
        {
            let differs = format!("the {what} is {ours} in one, and {theirs} in the other");
            return Err(format!(
                "{first} and {name} are of different runs: {differs}"
            ));
        }
        for row in std::mem::take(&mut card.cases) {
            match rows.get(&place(&row)) {
                // A file that cannot be read has the same row in every part.
                Some((_, known)) if *known == row => {}
                Some((with, _)) => {
                    return Err(format!(
                        "{with} and {name} both have `{}`, with different results",
                        row.id
                    ));
                }
                None => drop(rows.insert(place(&row), (name.clone(), row))),
            }
        }
        whole.suites.append(&mut card.suites);
        whole.summary.calls += card.summary.calls;
        whole.summary.cost_usd += card.summary.cost_usd;
    }
    whole.shard = None;
    whole.baseline = None;
    sort_suites(&mut whole.suites);
    Ok(whole.with_cases(rows.into_values().map(|(_, row)| row).collect()))
}

/// Checks that every part of the run is present.
fn check_complete(cards: &[(String, Scorecard)]) -> Result<(), String> {
    let shards: Vec<(&String, [u64; 2])> = cards
        .iter()
        .filter_map(|(name, card)| Some((name, card.shard?)))
        .collect();
    let Some((first, [_, count])) = shards.first() else {
        return Ok(());
    };
    if let Some((name, [_, other])) = shards.iter().find(|(_, [_, other])| other != count) {
        return Err(format!(
            "{first} is one of {count} parts, and {name} one of {other}"
        ));
    }
    let there: BTreeSet<u64> = shards.iter().map(|(_, [index, _])| *index).collect();
    match (1..=*count).find(|index| !there.contains(index)) {
        Some(missing) => Err(format!("part {missing} of {count} is missing")),
        None => Ok(()),
    }
}

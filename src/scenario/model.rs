//! Scenarios and suites as written: the frozen situation, the expectations, and the place of each
//! in its file.
//!
//! Plain data. A scenario file is a suite of one case, so that one runner serves both. Nothing is
//! judged and no name is resolved here: the rules and the evaluation check that a role, task or
//! segment exists.

pub use super::compaction::{CompactionMethod, CompactionSubject};
pub use super::expect::answer::{AnswerExpectation, AnswerTest};
pub use super::expect::context::ContextExpectation;
use super::expect::own_check::OwnCheck;
pub use super::expect::segments::{CountedTokens, PatternTest, SegmentSelector, SegmentState};
use super::request_source::RequestSource;
use super::scenario_fault::CaseTableRow;
pub use super::values::{FrozenConversation, FrozenText, FrozenValue, Risk};
use crate::base::hidden_text::HiddenRun;
use crate::base::span::{Span, Spanned};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The value of `schema` in a scenario.
pub const SCENARIO_SCHEMA: &str = "ctxc/scenario/1";
/// The value of `schema` in a suite.
pub const SUITE_SCHEMA: &str = "ctxc/suite/1";

/// A file of cases.
#[derive(Clone, Debug, Serialize)]
pub struct Suite {
    /// Its id; for a scenario file, the name of its only case.
    pub id: Spanned<String>,
    /// True if the file is one scenario, without a list of cases.
    pub is_scenario: bool,
    /// Its display name.
    pub name: Option<Spanned<String>>,
    /// Its version, as written.
    pub version: Option<Spanned<String>>,
    /// Its cases in order, with the suite's defaults filled in; those of a table last.
    pub cases: Vec<ScenarioCase>,
    /// The table of further cases, by its path beside the file.
    pub cases_from: Option<Spanned<String>>,
    /// The gravest hidden characters of that table.
    #[serde(skip)]
    pub hidden_text: Option<Box<HiddenInTable>>,
    /// `fixtures.tools`: the results of tools by their names.
    pub tools: BTreeMap<String, Value>,
    /// `thresholds`: the limits for all cases together.
    pub thresholds: SuiteThresholds,
}

/// Hidden characters in a table of cases.
#[derive(Clone, Debug)]
pub struct HiddenInTable {
    /// Their line, from 1.
    pub line: usize,
    /// The characters.
    pub found: String,
    /// Their kind; its range is that of `found`.
    pub run: HiddenRun,
}

/// The limits for all cases of a suite together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SuiteThresholds {
    /// The minimum mean of scores.
    pub min_score: Option<f64>,
    /// The minimum share of cases that pass.
    pub pass_rate: Option<f64>,
}

impl Suite {
    /// A file that has no cases, such as a rubric.
    pub(super) const fn without_cases(id: Spanned<String>) -> Self {
        Self {
            id,
            is_scenario: false,
            name: None,
            version: None,
            cases: Vec::new(),
            cases_from: None,
            hidden_text: None,
            tools: BTreeMap::new(),
            thresholds: SuiteThresholds {
                min_score: None,
                pass_rate: None,
            },
        }
    }
}

/// One frozen situation with its expectations.
#[derive(Clone, Debug, Serialize)]
pub struct ScenarioCase {
    /// Its name, unique in the project and shown everywhere. For a case of a suite it is
    /// `SUITE/CASE`, with the place of its id.
    pub name: Spanned<String>,
    /// The whole case.
    #[serde(skip)]
    pub span: Span,
    /// Its row of a case table; all its places are then that of `cases_from`.
    #[serde(skip)]
    pub row: Option<CaseTableRow>,
    /// The receiver of the context.
    pub subject: Spanned<CaseSubject>,
    /// The agent inside the task; by default the first one.
    pub node: Option<Spanned<String>>,
    /// True if the whole task is run, with all its agents.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_run: bool,
    /// The frozen task.
    pub situation: Situation,
    /// The expectations on the context, in order.
    pub expect_context: Vec<Spanned<ContextExpectation>>,
    /// The expectations on the answer, in order.
    pub expectations: Vec<Spanned<AnswerExpectation>>,
    /// Lists of the suite's defaults that the case replaces.
    #[serde(skip)]
    pub replaces: Vec<ReplacedList>,
    /// The number of trials and the condition to pass.
    pub rule: TrialRule,
    /// Scripted answers: the first whose `when` holds is given.
    pub answers: Vec<Spanned<ScriptedAnswer>>,
    /// Words that `--tag` selects by.
    pub tags: Vec<Spanned<String>>,
    /// The context hash at the last known-good run.
    pub baseline_config_hash: Option<Spanned<String>>,
    /// The day of the last review, as year, month, day.
    pub reviewed: Option<Spanned<(i32, u8, u8)>>,
    /// True if its trials have scores: it has a minimum score or a weight, or its suite has a
    /// minimum score.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_scored: bool,
}

impl ScenarioCase {
    /// The sum of the weights of its expectations on the answer.
    pub fn score_weight(&self) -> f64 {
        let weights = self.expectations.iter().map(|one| one.value.score_weight());
        weights.sum()
    }

    /// Returns true if it compares its request with a stored one.
    pub fn uses_snapshot(&self) -> bool {
        super::expect::context::all_expectations(&self.expect_context)
            .any(|one| one.value == ContextExpectation::Snapshot)
    }
}

/// A list of a suite's defaults that a case replaces with its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplacedList {
    /// The key of both.
    pub key: &'static str,
    /// Entries of the defaults that the case does not repeat.
    pub count: usize,
    /// The list of the case.
    pub span: Span,
}

/// The receiver of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum CaseSubject {
    /// An agent role of the project file.
    Role(String),
    /// A task of the registry.
    Task(String),
    /// No receiver in this project: the request of another program.
    Request(RequestSource),
    /// A compaction of a session, whose method may ask a role.
    Compaction(CompactionSubject),
}

impl CaseSubject {
    /// Returns the agent role that receives the context; `None` for another subject.
    pub fn role(&self) -> Option<&str> {
        match self {
            Self::Role(role) => Some(role),
            Self::Compaction(compaction) => compaction.role(),
            Self::Task(_) | Self::Request(_) => None,
        }
    }

    /// Returns the compaction that the case repeats; `None` for another subject.
    pub const fn compaction(&self) -> Option<&CompactionSubject> {
        if let Self::Compaction(compaction) = self {
            Some(compaction)
        } else {
            None
        }
    }

    /// Returns the program that compacts; `None` for another subject or method.
    pub fn compaction_program(&self) -> Option<&OwnCheck> {
        self.compaction()?.method.program()
    }
}

/// The frozen task. No part of it is read from the live tree.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Situation {
    /// `task_id`.
    pub task_id: Option<String>,
    /// `objective`: the request.
    pub objective: Option<Spanned<String>>,
    /// `constraints`.
    pub constraints: Vec<Spanned<String>>,
    /// `file_context`: files by path.
    pub files: BTreeMap<String, Spanned<FrozenText>>,
    /// `previous_output`.
    pub previous_output: Option<Value>,
    /// `failure_history`, oldest first.
    pub failures: Vec<PastFailure>,
    /// `acceptance_criteria`.
    pub criteria: Vec<Spanned<String>>,
    /// `risk_level`.
    pub risk_level: Option<Spanned<Risk>>,
    /// `extra`, stored unchanged.
    pub extra: BTreeMap<String, Value>,
    /// `inputs`: values of the task's parameters; a string `@path` or `{file: PATH}` names a file
    /// beside the scenario.
    pub inputs: BTreeMap<String, Box<Spanned<FrozenValue>>>,
    /// `results`: the results of earlier steps by their names or paths, if an agent in the middle
    /// of a task is tested.
    pub results: BTreeMap<String, Box<Spanned<FrozenValue>>>,
    /// `history`: the conversation so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Spanned<FrozenConversation>>,
    /// `memory` and `retrieval`: the passages that a lookup returns, best first.
    pub matches: Vec<LookupFixture>,
}

impl Situation {
    /// Returns true if the situation itself gives a value to the parameter of this name, so that
    /// `inputs` need not.
    pub fn sets_parameter(&self, name: &str) -> bool {
        match name {
            "objective" => self.objective.is_some(),
            "constraints" => !self.constraints.is_empty(),
            "acceptance_criteria" => !self.criteria.is_empty(),
            "previous_output" => self.previous_output.is_some(),
            "failure_history" => !self.failures.is_empty(),
            "risk_level" => self.risk_level.is_some(),
            "task_id" => self.task_id.is_some(),
            _ => self.extra.contains_key(name),
        }
    }
}

/// The failure of an earlier attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PastFailure {
    /// The stage.
    pub stage: String,
    /// The obstacle.
    pub obstacle: String,
    /// The lesson learnt.
    pub note: String,
}

/// The store in which a lookup searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum LookupStore {
    /// `memory`: texts that are never files described by a task.
    Memory,
    /// `retrieval`: texts and files.
    #[default]
    Retrieval,
}

/// A passage that a lookup returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LookupFixture {
    /// Its store.
    pub shelf: LookupStore,
    /// Its id: a path, a key.
    pub id: String,
    /// Its text.
    pub text: Spanned<FrozenText>,
}

/// The number of trials and the condition to pass.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrialRule {
    /// The number of trials; by default 3.
    pub runs: u32,
    /// The number of trials that must pass; by default 2.
    pub pass: u32,
    /// True if a failure is final, without a second stage.
    pub strict: bool,
    /// The second stage: trials, and how many of them must pass.
    pub confirm: Option<(u32, u32)>,
    /// A sequential test instead of a fixed number of trials.
    pub sequential: Option<SequentialRule>,
    /// The score from which a trial passes; without it, every expectation must hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_score: Option<f64>,
}

/// Wald's sequential probability ratio test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SequentialRule {
    /// A pass rate that is too low.
    pub p0: f64,
    /// A pass rate that is good.
    pub p1: f64,
    /// The probability of accepting a rate that is too low.
    pub alpha: f64,
    /// The probability of rejecting a good rate.
    pub beta: f64,
    /// The maximum number of trials.
    pub max: u32,
}

impl Default for TrialRule {
    fn default() -> Self {
        Self {
            runs: 3,
            pass: 2,
            strict: false,
            confirm: None,
            sequential: None,
            min_score: None,
        }
    }
}

/// A scripted answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScriptedAnswer {
    /// The agent of a run that gives the answer, by its name or path; by default any.
    pub node: Option<Spanned<String>>,
    /// Patterns that the request must have.
    pub has: Vec<Spanned<String>>,
    /// Patterns that the request must not have.
    pub lacks: Vec<Spanned<String>>,
    /// The answer; null if it only calls tools.
    pub reply: Value,
    /// Names and arguments of the tools that are called.
    pub tool_calls: Vec<(String, Value)>,
    /// Tokens in and out, if given.
    pub usage: Option<(u64, u64)>,
    /// The end of the script, if the answer is that of a script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<ScriptEnd>,
}

/// The end of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ScriptEnd {
    /// Its exit code.
    pub exit: u64,
    /// The text that it writes to standard error.
    pub stderr: String,
    /// The cause of its end without an exit of its own: `signal` or `timeout`.
    pub killed_by: Option<String>,
}

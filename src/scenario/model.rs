//! Scenarios and suites as written: what is frozen, what is expected of it, where each thing stands in its file.
//!
//! Plain data. A scenario file is a suite of one case, so that one runner serves both. Nothing here is judged, and no
//! name is looked up: rules and the evaluation check whether a role, task or segment exists.

pub use super::expect::answer::{AnswerTest, Expectation};
pub use super::expect::context::ContextExpectation;
pub use super::expect::segments::{Counted, Patterns, Selector, State};
use super::fault::Row;
pub use super::frozen::{Content, Conversation, Frozen, Risk};
use super::request_source::RequestSource;
use crate::base::span::{Span, Spanned};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What the key `schema` of a scenario says, where a file has it.
pub const SCENARIO_SCHEMA: &str = "ctxc/scenario/1";
/// What the key `schema` of a suite says, where a file has it.
pub const SUITE_SCHEMA: &str = "ctxc/suite/1";

/// A file of cases.
#[derive(Clone, Debug, Serialize)]
pub struct Suite {
    /// Its id; that of the only case for a scenario file.
    pub id: Spanned<String>,
    /// Whether the file is one scenario, without a list of cases.
    pub is_scenario: bool,
    /// What people call it.
    pub name: Option<Spanned<String>>,
    /// Its version, as written.
    pub version: Option<Spanned<String>>,
    /// Its cases, in order, with the suite's defaults already in place of what they leave out; those of a table last.
    pub cases: Vec<Case>,
    /// The table of further cases, by its path beside the file.
    pub cases_from: Option<Spanned<String>>,
    /// `fixtures.tools`: what tools answer, by their names.
    pub tools: BTreeMap<String, Value>,
}

/// One frozen situation and what is expected of it.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// Its name, unique in the project: shown everywhere. That of a suite's case is `SUITE/CASE`, and stands where its id does.
    pub name: Spanned<String>,
    /// Everything the case says.
    #[serde(skip)]
    pub span: Span,
    /// The row of a table that it is: its places are those of `cases_from` then.
    #[serde(skip)]
    pub row: Option<Row>,
    /// Who receives the context.
    pub subject: Spanned<Subject>,
    /// The agent inside the task; the first one where nothing is said.
    pub node: Option<Spanned<String>>,
    /// Whether the whole task is run, with all its agents.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_run: bool,
    /// The frozen task.
    pub situation: Situation,
    /// What the context must be, in order.
    pub expect_context: Vec<Spanned<ContextExpectation>>,
    /// What the answer must be, in order.
    pub expectations: Vec<Spanned<Expectation>>,
    /// Lists of the suite's defaults that it replaces by its own.
    #[serde(skip)]
    pub replaces: Vec<Replaced>,
    /// How often it is tried, and what passes.
    pub rule: Rule,
    /// Scripted answers: the first whose `when` holds is given.
    pub answers: Vec<Spanned<Scripted>>,
    /// Words that `--tag` selects by.
    pub tags: Vec<Spanned<String>>,
    /// The context hash at the last known-good run.
    pub baseline_config_hash: Option<Spanned<String>>,
    /// The day somebody last read it, as year, month, day.
    pub reviewed: Option<Spanned<(i32, u8, u8)>>,
}

impl Case {
    /// Whether it compares its request with a stored one.
    pub fn wants_snapshot(&self) -> bool {
        super::expect::context::each(&self.expect_context).any(|one| one.value == ContextExpectation::Snapshot)
    }
}

/// A list of a suite's defaults in whose place a case has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The key of both.
    pub key: &'static str,
    /// Entries of the defaults that the case does not repeat.
    pub count: usize,
    /// The list of the case.
    pub span: Span,
}

/// Who receives the context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Subject {
    /// An agent role of the project file.
    Role(String),
    /// A task of the registry.
    Task(String),
    /// Nobody of this project: the request of another program.
    Request(RequestSource),
}

/// The frozen task: nothing of it is read from the live tree.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Situation {
    /// `task_id`.
    pub task_id: Option<String>,
    /// `objective`: the request.
    pub objective: Option<Spanned<String>>,
    /// `constraints`.
    pub constraints: Vec<Spanned<String>>,
    /// `file_context`: files by path.
    pub files: BTreeMap<String, Spanned<Content>>,
    /// `previous_output`.
    pub previous_output: Option<Value>,
    /// `failure_history`, oldest first.
    pub failures: Vec<Failure>,
    /// `acceptance_criteria`.
    pub criteria: Vec<Spanned<String>>,
    /// `risk_level`.
    pub risk_level: Option<Spanned<Risk>>,
    /// `extra`, carried as it is.
    pub extra: BTreeMap<String, Value>,
    /// `inputs`: values of the task's parameters; a string `@path` or `{file: PATH}` names a file beside the scenario.
    pub inputs: BTreeMap<String, Box<Spanned<Frozen>>>,
    /// `results`: what earlier steps left, by their names or paths, where an agent in the middle of a task is tested.
    pub results: BTreeMap<String, Box<Spanned<Frozen>>>,
    /// `history`: the conversation so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Spanned<Conversation>>,
    /// `memory` and `retrieval`: what the matcher gives back, best first.
    pub matches: Vec<Fixture>,
}

impl Situation {
    /// Whether the situation itself gives a value to a parameter of this name, so that `inputs` need not.
    pub fn says(&self, name: &str) -> bool {
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

/// What an earlier attempt ran into.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The stage.
    pub stage: String,
    /// What stood in the way.
    pub obstacle: String,
    /// What was learnt.
    pub note: String,
}

/// Where something would be looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum LookupStore {
    /// `memory`: texts, none of which is a file that a task describes.
    Memory,
    /// `retrieval`: texts and files.
    #[default]
    Retrieval,
}

/// What the matcher gives back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fixture {
    /// Where it comes from.
    pub shelf: LookupStore,
    /// Its id: a path, a key.
    pub id: String,
    /// Its text.
    pub text: Spanned<Content>,
}

/// How often a case is tried, and what passes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rule {
    /// Trials; 3 where nothing is said.
    pub runs: u32,
    /// Trials that must pass; 2 where nothing is said.
    pub pass: u32,
    /// Whether a failure is final: no second stage.
    pub strict: bool,
    /// The second stage: trials, and how many of them must pass.
    pub confirm: Option<(u32, u32)>,
    /// A sequential test instead of a fixed number of trials.
    pub sequential: Option<Sequential>,
}

/// Wald's sequential probability ratio test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sequential {
    /// A pass rate that is too low.
    pub p0: f64,
    /// A pass rate that is good.
    pub p1: f64,
    /// The chance to accept what is too low.
    pub alpha: f64,
    /// The chance to refuse what is good.
    pub beta: f64,
    /// Trials at most.
    pub max: u32,
}

impl Default for Rule {
    fn default() -> Self {
        Self { runs: 3, pass: 2, strict: false, confirm: None, sequential: None }
    }
}

/// A scripted answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scripted {
    /// The agent of a run that it is of, by its name or path; any where nothing is said.
    pub node: Option<Spanned<String>>,
    /// Patterns that the request must have.
    pub has: Vec<Spanned<String>>,
    /// Patterns that the request must not have.
    pub lacks: Vec<Spanned<String>>,
    /// What is answered; null where it calls tools alone.
    pub reply: Value,
    /// Names and arguments of the tools that are called.
    pub tool_calls: Vec<(String, Value)>,
    /// Tokens in and out, where the script says.
    pub usage: Option<(u64, u64)>,
    /// How the script ends that it is of, where it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<ScriptEnd>,
}

/// How a script ends, in an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ScriptEnd {
    /// Its exit code.
    pub exit: u64,
    /// What it writes to standard error.
    pub stderr: String,
    /// What ends it in place of an exit of its own: `signal` or `timeout`.
    pub killed_by: Option<String>,
}

//! A frozen situation as a request: the values, files and texts of the scenario. Reads only those
//! live files that a template itself names and the scenario does not freeze.
//!
//! Each of `objective`, `constraints`, `acceptance_criteria`, `previous_output`, `failure_history`,
//! `risk_level`, `task_id` and the keys of `extra`
//!
//! - is passed to the parameter of that name, if the task declares one and `inputs` has no value
//!   for it;
//! - otherwise becomes a segment: criteria and constraints after those of the task, the previous
//!   output and earlier attempts after those of a pipeline, the objective, for an agent role, by
//!   the rule of `context::objective`;
//! - otherwise is omitted: a task that is tested without a role has its objective in its
//!   description.

use super::receiver::Receiver;
use crate::base::{number, suggest};
use crate::context::context_source::{ContextSource, Match};
use crate::context::objective;
use crate::context::request::{Attempt, CallerGoals, Files, RequestedFile, StepResult};
use crate::kernel::context::Trust;
use crate::kernel::conversation::Turn;
use crate::registry::RegistryParameter;
use crate::run;
use crate::scenario::messages;
use crate::scenario::model::{FrozenConversation, FrozenText, FrozenValue, LookupStore, Situation};
use crate::scenario::paths::normalize_path;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The kind of subject that a situation belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubjectKind {
    /// An agent role.
    Role,
    /// A task alone.
    Task,
}

/// A situation with all files read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FrozenSituation {
    inputs: BTreeMap<String, Value>,
    results: BTreeMap<String, StepResult>,
    attempts: Vec<Attempt>,
    history: Vec<Turn>,
    previous: Option<Value>,
    objective: Option<String>,
    criteria: Vec<String>,
    constraints: Vec<String>,
    found: FrozenPassages,
    /// Frozen files by their path in the project.
    files: BTreeMap<String, String>,
}

impl FrozenSituation {
    /// The frozen results of steps.
    pub(super) const fn results(&self) -> &BTreeMap<String, StepResult> {
        &self.results
    }

    /// The arguments for the task's parameters.
    pub(super) const fn inputs(&self) -> &BTreeMap<String, Value> {
        &self.inputs
    }

    /// The objective.
    pub(super) fn objective(&self) -> Option<&str> {
        self.objective.as_deref()
    }
}

/// The frozen passages, returned for every query. Queries for described files return those of the
/// store with files.
#[derive(Clone, Debug, Default, PartialEq)]
struct FrozenPassages {
    memory: Vec<Match>,
    retrieval: Vec<Match>,
}

impl ContextSource for FrozenPassages {
    fn search(&self, _: &str, limit: usize) -> Result<Vec<Match>, String> {
        Ok(self
            .memory
            .iter()
            .chain(&self.retrieval)
            .take(limit)
            .cloned()
            .collect())
    }

    fn files(&self, _: &str, limit: usize) -> Result<Vec<Match>, String> {
        Ok(self.retrieval.iter().take(limit).cloned().collect())
    }
}

/// Frozen files, with live ones as fallback.
#[derive(Debug)]
pub(super) struct OverlaidFiles<'a> {
    frozen: &'a BTreeMap<String, String>,
    live: &'a (dyn Files + Sync),
}

impl Files for OverlaidFiles<'_> {
    fn text(&self, path: &str) -> Result<String, String> {
        self.frozen
            .get(&*normalize_path(path))
            .map_or_else(|| self.live.text(path), |text| Ok(text.clone()))
    }

    fn requested(&self, path: &str) -> Result<RequestedFile, String> {
        let plain = normalize_path(path);
        let frozen = |text: &String| {
            Ok(RequestedFile {
                path: plain.to_string(),
                text: text.clone(),
            })
        };
        self.frozen
            .get(&*plain)
            .map_or_else(|| self.live.requested(path), frozen)
    }
}

/// Reads the files that a situation names beside the scenario, and assigns each value to its
/// parameter or segment.
pub(super) fn read_situation(
    situation: &Situation,
    whose: SubjectKind,
    declared: &[RegistryParameter],
    beside: &dyn Files,
) -> Result<FrozenSituation, String> {
    let text = |content: &FrozenText| match content {
        FrozenText::Text(text) => Ok(text.clone()),
        FrozenText::File(path) => read_file(beside, path),
    };
    let mut read = FrozenSituation::default();
    for (name, frozen) in &situation.inputs {
        let parameter = declared.iter().find(|parameter| parameter.name == *name);
        if parameter.is_none() {
            let near = suggest::nearest_candidate(
                name,
                declared.iter().map(|parameter| parameter.name.as_str()),
            );
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(format!("the task declares no parameter `{name}`{near}"));
        }
        read.inputs
            .insert(name.clone(), read_value(&frozen.value, parameter, beside)?);
    }
    for (name, frozen) in &situation.results {
        let value = match &frozen.value {
            FrozenValue::Value(value) => value.clone(),
            FrozenValue::File(path) => {
                let text = read_file(beside, path)?;
                serde_json::from_str(&text).map_or_else(
                    |_| Ok(Value::String(text.clone())),
                    |value| check_exact(path, &text, value),
                )?
            }
        };
        read.results.insert(name.clone(), value.into());
    }
    for (path, content) in &situation.files {
        read.files
            .insert(normalize_path(path).into_owned(), text(&content.value)?);
    }
    for fixture in &situation.matches {
        let text = text(&fixture.text.value)?;
        let found = Match {
            id: fixture.id.clone(),
            text,
            trust: Trust::Untrusted,
        };
        match fixture.shelf {
            LookupStore::Memory => read.found.memory.push(found),
            LookupStore::Retrieval => read.found.retrieval.push(found),
        }
    }
    if let Some(history) = &situation.history {
        read.history = read_conversation(&history.value, beside)?;
    }
    assign_values(situation, whose, declared, &mut read);
    Ok(read)
}

/// The earlier conversation.
fn read_conversation(
    history: &FrozenConversation,
    beside: &dyn Files,
) -> Result<Vec<Turn>, String> {
    let messages = match history {
        FrozenConversation::File(path) => {
            let turns = messages::parse_conversation(&read_file(beside, path)?)
                .map_err(|unread| format!("{path}: {unread}"))?;
            return if turns.is_empty() {
                Err(format!("{path}: expected a message, found none"))
            } else {
                Ok(turns)
            };
        }
        FrozenConversation::Messages(messages) => messages,
    };
    let mut turns = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        turns.push(
            messages::parse_message(&message.value)
                .map_err(|why| format!("message {} of `history`: {why}", number + 1))?,
        );
    }
    Ok(turns)
}

fn read_file(beside: &dyn Files, path: &str) -> Result<String, String> {
    beside
        .text(path)
        .map_err(|why| format!("{path} cannot be read: {why}"))
}

/// The value of a parameter. A file contains plain text if the parameter's type is `string` or
/// undeclared, else JSON.
fn read_value(
    frozen: &FrozenValue,
    parameter: Option<&RegistryParameter>,
    beside: &dyn Files,
) -> Result<Value, String> {
    let path = match frozen {
        FrozenValue::Value(value) => return Ok(value.clone()),
        FrozenValue::File(path) => path,
    };
    let text = read_file(beside, path)?;
    match parameter.and_then(|parameter| parameter.kind.as_deref()) {
        None | Some("string") => Ok(Value::String(text)),
        Some(kind) => serde_json::from_str(&text)
            .map_err(|error| {
                format!(
                    "{path} is not valid JSON, which the parameter's type {kind} requires: {error}"
                )
            })
            .and_then(|value| check_exact(path, &text, value)),
    }
}

/// Returns the value, unless the JSON contains an integer that cannot be represented exactly.
fn check_exact(path: &str, json: &str, value: Value) -> Result<Value, String> {
    let describe = |found| {
        format!(
            "{path}: {}; write it as a text",
            number::out_of_range_message(found)
        )
    };
    number::find_out_of_range(json).map_or(Ok(value), |found| Err(describe(found)))
}

/// The result of an earlier step. An object with `content` is a complete result, with notes and
/// trust.
impl From<Value> for StepResult {
    fn from(value: Value) -> Self {
        const KEYS: [&str; 4] = ["content", "notes", "status", "trust"];
        let fields = value.as_object();
        let is_whole = fields.is_some_and(|fields| {
            fields.contains_key("content") && fields.keys().all(|key| KEYS.contains(&key.as_str()))
        });
        let Some(fields) = fields.filter(|_| is_whole) else {
            return Self {
                content: value,
                ..Self::default()
            };
        };
        let trust = fields
            .get("trust")
            .and_then(|trust| serde_json::from_value(trust.clone()).ok());
        Self {
            content: fields.get("content").cloned().unwrap_or_default(),
            notes: fields
                .get("notes")
                .and_then(Value::as_str)
                .map(str::to_owned),
            trust: trust.unwrap_or_default(),
        }
    }
}

/// Assigns the values besides `inputs`: to the parameter of that name, or else to segments.
fn assign_values(
    situation: &Situation,
    whose: SubjectKind,
    declared: &[RegistryParameter],
    read: &mut FrozenSituation,
) {
    let texts = |list: &[crate::base::span::Spanned<String>]| -> Vec<String> {
        list.iter().map(|one| one.value.clone()).collect()
    };
    let taken = read.inputs.keys().cloned().collect::<BTreeSet<_>>();
    let mut give = |name: &str, value: Value| {
        let Some(parameter) = declared.iter().find(|parameter| parameter.name == name) else {
            return false;
        };
        if taken.contains(name) {
            return true;
        }
        let is_words = matches!(parameter.kind.as_deref(), None | Some("string"));
        read.inputs.insert(
            name.to_owned(),
            if is_words { join_lines(value) } else { value },
        );
        true
    };
    let constraints = texts(&situation.constraints);
    let criteria = texts(&situation.criteria);
    if !constraints.is_empty() && !give("constraints", json!(constraints)) {
        read.constraints = constraints;
    }
    if !criteria.is_empty() && !give("acceptance_criteria", json!(criteria)) {
        read.criteria = criteria;
    }
    if let Some(previous) = &situation.previous_output
        && !give("previous_output", previous.clone())
    {
        read.previous = Some(previous.clone());
    }
    let attempts = situation.failures.iter();
    let as_json = attempts
        .clone()
        .map(|one| json!({"stage": one.stage, "obstacle": one.obstacle, "note": one.note}));
    let as_json: Vec<Value> = as_json.collect();
    if !as_json.is_empty() && !give("failure_history", Value::Array(as_json)) {
        let attempt = |one: &crate::scenario::model::PastFailure| Attempt {
            stage: one.stage.clone(),
            obstacle: one.obstacle.clone(),
            note: one.note.clone(),
        };
        read.attempts = attempts.map(attempt).collect();
    }
    if let Some(risk) = &situation.risk_level {
        give("risk_level", json!(risk.value.word()));
    }
    if let Some(id) = &situation.task_id {
        give("task_id", json!(id));
    }
    for (name, value) in &situation.extra {
        give(name, value.clone());
    }
    let has_objective =
        whose == SubjectKind::Role || objective::objective_parameter(declared).is_some();
    read.objective = situation
        .objective
        .as_ref()
        .filter(|_| has_objective)
        .map(|objective| objective.value.clone());
}

/// A list of texts as lines, for a parameter that takes text.
fn join_lines(value: Value) -> Value {
    let lines: Option<Vec<&str>> = value
        .as_array()
        .and_then(|list| list.iter().map(Value::as_str).collect());
    match lines {
        Some(lines) => Value::String(
            lines
                .iter()
                .map(|line| format!("- {line}"))
                .collect::<Vec<_>>()
                .join("\n"),
        ),
        None => value,
    }
}

impl FrozenSituation {
    /// Its frozen files, with the live ones as fallback.
    pub(super) const fn overlay_files<'a>(
        &'a self,
        live: &'a (dyn Files + Sync),
    ) -> OverlaidFiles<'a> {
        OverlaidFiles {
            frozen: &self.files,
            live,
        }
    }

    /// The same situation with the results of other steps.
    pub(super) fn with_results(&self, results: &BTreeMap<String, StepResult>) -> Self {
        Self {
            results: results.clone(),
            ..self.clone()
        }
    }

    /// The part of the situation that all agents of a task share, with its files and its session.
    pub(super) fn as_run_situation<'a>(
        &'a self,
        receiver: Receiver<'a>,
        files: &'a OverlaidFiles<'a>,
        session: &'a str,
    ) -> run::situation::RunSituation<'a> {
        let goals = CallerGoals {
            objective: self.objective.as_deref(),
            criteria: &self.criteria,
            constraints: &self.constraints,
        };
        run::situation::RunSituation {
            source: &self.found,
            files,
            previous: self.previous.as_ref(),
            attempts: &self.attempts,
            history: &self.history,
            goals,
            role: receiver.role,
            session,
            ..run::situation::RunSituation::new(receiver.task, &self.inputs)
        }
    }
}

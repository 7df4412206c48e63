//! `ctxc new scenario --from run:ID[/NODE]`: the situation of an agent in a run, as its trace has it, and what it answered.

use super::traces;
use crate::cli::context::project::Compiled;
use crate::cli::error::{CliError, Kind, Result};
use crate::context::TaskGraph;
use crate::context::options::Options;
use crate::context::request::StepResult;
use crate::record::recording::{Recording, Stage, TrialOf};
use crate::run::flow::{Position, TaskFlow};
use crate::run::situation::Situation;
use crate::run::trace::{Journal, TraceEvent};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How somebody names a run in place of a recording.
pub(in crate::cli::context) const RUN: &str = "run:";

/// An agent of a run.
#[derive(Debug)]
pub(in crate::cli::context) struct AgentOfRun {
    pub(in crate::cli::context) task: String,
    pub(in crate::cli::context) role: Option<String>,
    pub(in crate::cli::context) node: String,
    pub(in crate::cli::context) objective: Option<String>,
    /// Its values, as the command line has them.
    pub(in crate::cli::context) inputs: Vec<String>,
    /// What the stages before it left, as the command line has it.
    pub(in crate::cli::context) results: Vec<String>,
    /// Its calls, as trials of a scenario.
    pub(in crate::cli::context) calls: Vec<Recording>,
    /// Tokens of them, in and out.
    pub(in crate::cli::context) tokens: u64,
}

/// Reads the agent that `run:ID` or `run:ID/NODE` names; the one that answered last where no node is named.
///
/// # Errors
/// There is no such run or agent, or its values are not kept.
pub(in crate::cli::context) fn of_run(project: &Compiled, text: &str) -> Result<AgentOfRun> {
    let named = text.strip_prefix(RUN).unwrap_or(text);
    let (id, node) = named.find('/').map_or((named, None), |at| (named.get(..at).unwrap_or(""), named.get(at..)));
    let (id, journal) = traces::read(&project.root, id)?;
    let begin =
        journal.begin.clone().ok_or_else(|| CliError::usage(format!("the trace of run {id} does not say what was run")))?;
    if begin.is_redacted {
        return Err(CliError::usage(format!("the values of run {id} are not kept, since they hold secrets or personal data"))
            .hint("`ctxc new scenario TASK --input NAME=VALUE` writes the scenario of an agent with values of your own"));
    }
    if begin.registry != project.registry.hash().to_string() {
        return Err(
            CliError::usage(format!("the templates have changed since run {id}")).hint("run the task again, and take that run")
        );
    }
    let stage = stage(project, &begin.task, (&id, node), &journal)?;
    let results = results(project, &begin, &stage, &journal)?;
    let calls: Vec<Recording> = journal
        .calls
        .into_values()
        .filter(|call| call.conversation.as_deref() == Some(stage.0.as_str()))
        .map(|call| Recording { trial: Some(TrialOf { stage: Stage::First, number: 1, of: 1 }), run: None, ..call })
        .collect();
    let used = |call: &Recording| call.usage.input.unwrap_or(0).saturating_add(call.usage.output.unwrap_or(0));
    let tokens = calls.iter().map(used).sum();
    let whole = |StepResult { content, notes }: StepResult| match notes {
        Some(notes) => json!({"content": content, "notes": notes}),
        None => content,
    };
    let inputs = begin.inputs.iter().map(|(name, value)| given(name, value)).collect();
    let results = results.into_iter().map(|(path, result)| format!("{path}={}", whole(result))).collect();
    Ok(AgentOfRun {
        task: begin.task,
        role: begin.role,
        node: stage.1,
        objective: begin.objective,
        inputs,
        results,
        calls,
        tokens,
    })
}

/// A value as the command line has it: words that begin with `@` begin with two.
fn given(name: &str, value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mark = if text.starts_with('@') { "@" } else { "" };
    format!("{name}={mark}{text}")
}

/// The first stage of the agent that is meant, and its node.
fn stage(project: &Compiled, task: &str, (id, node): (&str, Option<&str>), journal: &Journal) -> Result<(String, String)> {
    let of = |event: &TraceEvent| {
        let TraceEvent::Stage { stage, node, .. } = event else { return None };
        // Stages of subtasks have a `:` behind those of the agent that asked.
        (!stage.contains(':')).then(|| (stage.clone(), node.clone()))
    };
    let all: Vec<(String, String)> = journal.events.iter().filter_map(of).collect();
    let nobody = || CliError::usage(format!("no agent of run {id} was asked"));
    let Some(node) = node else { return all.into_iter().next_back().ok_or_else(nobody) };
    let exact = |wanted: &str| all.iter().find(|(stage, node)| stage == wanted || node == wanted).cloned();
    if let Some(found) = exact(node) {
        return Ok(found);
    }
    let named = project.node(task, node.trim_start_matches('/'));
    let found = named.ok().and_then(|path| exact(&path));
    found.ok_or_else(|| {
        let there: Vec<&str> = all.iter().map(|(stage, _)| stage.as_str()).collect();
        CliError::usage(format!("no agent `{node}` of run {id} was asked")).hint(format!("these were: {}", there.join(", ")))
    })
}

/// What the stages before an agent left, as its context had it.
fn results(
    project: &Compiled,
    begin: &crate::run::trace::Begin,
    (stage, _): &(String, String),
    journal: &Journal,
) -> Result<BTreeMap<String, StepResult>> {
    let graph = TaskGraph::load(&project.registry, &begin.task)?;
    let graph = graph.ok_or_else(|| CliError::usage(format!("there is no task `{}`", begin.task)))?;
    let files = project.files();
    let situation = Situation { files: &files, ..Situation::new(&begin.task, &begin.inputs) };
    let flow = TaskFlow::new(&graph, situation, &Options::default())?;
    let mut outputs = BTreeMap::new();
    for event in &journal.events {
        if matches!(event, TraceEvent::Stage { stage: here, .. } if here == stage) {
            break;
        }
        if let TraceEvent::Result { stage, output, .. } = event {
            outputs.insert(stage.clone(), output.clone());
        }
    }
    match flow.position(&outputs).0 {
        Position::Running(ready) => ready.into_iter().find(|ready| ready.stage == *stage).map(|ready| ready.results),
        Position::Done(_) | Position::Blocked(_) | Position::Failed(_) => None,
    }
    .ok_or_else(|| CliError::new(Kind::Infrastructure, format!("the trace does not say how {stage} came to run")))
}

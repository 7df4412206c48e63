//! `ctxc new scenario --from run:ID[/NODE]`: the situation of an agent in the trace of a run, with
//! its answers; or the whole run.

use super::traces;
use crate::cli::context::project::Compiled;
use crate::cli::error::{CliError, Kind, Result};
use crate::context::TaskGraph;
use crate::context::options::Options;
use crate::context::request::StepResult;
use crate::eval::draft::Given;
use crate::kernel::agent_node::node_of;
use crate::kernel::pipeline::agent::AgentOutput;
use crate::record::recording::{Recording, Stage, TrialOf};
use crate::run::flow::TaskFlow;
use crate::run::plan;
use crate::run::script::COMMAND;
use crate::run::situation::Situation;
use crate::run::trace::{Begin, Journal, TraceEvent};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The prefix of a run in place of a recording.
pub(in crate::cli::context) const RUN: &str = "run:";

/// An agent of a run.
#[derive(Debug)]
pub(in crate::cli::context) struct AgentOfRun {
    pub(in crate::cli::context) task: String,
    pub(in crate::cli::context) role: Option<String>,
    pub(in crate::cli::context) node: String,
    pub(in crate::cli::context) objective: Option<String>,
    /// Its inputs, in the form of the command line.
    pub(in crate::cli::context) inputs: Vec<String>,
    /// The results of earlier stages, in the form of the command line.
    pub(in crate::cli::context) results: Vec<String>,
    /// Its calls, as trials of a scenario.
    pub(in crate::cli::context) calls: Vec<Recording>,
    /// Their tokens, input and output.
    pub(in crate::cli::context) tokens: u64,
    /// The status at the end of its run; `interrupted` if the trace has no end.
    pub(in crate::cli::context) ends: String,
}

/// The source of a scenario.
#[derive(Debug)]
pub(in crate::cli::context) enum FromRun {
    /// A whole run.
    Whole(RunOfTask),
    /// An agent of a run.
    Agent(AgentOfRun),
}

impl FromRun {
    /// Returns the role, or the task of an agent without a role.
    pub(in crate::cli::context) fn subject(&self) -> &str {
        match self {
            Self::Whole(run) => run.role.as_deref().unwrap_or(&run.task),
            Self::Agent(agent) => agent.role.as_deref().unwrap_or(&agent.task),
        }
    }

    /// Returns the status at the end of the run.
    pub(in crate::cli::context) fn ends(&self) -> &str {
        match self {
            Self::Whole(run) => &run.ends,
            Self::Agent(agent) => &agent.ends,
        }
    }
}

/// Reads the run that `run:ID` names; one agent of it for `run:ID/NODE`, and if the run has only
/// one agent.
///
/// # Errors
/// No such run or agent exists, its values are not stored, or a scenario cannot represent it.
pub(in crate::cli::context) fn from_run(project: &Compiled, text: &str) -> Result<FromRun> {
    match whole(project, text)? {
        Some(run) => Ok(FromRun::Whole(run)),
        None => of_run(project, text).map(FromRun::Agent),
    }
}

/// Reads the agent that `run:ID` or `run:ID/NODE` names; without a node, the last one that
/// answered.
///
/// # Errors
/// No such run or agent exists, or its values are not stored.
fn of_run(project: &Compiled, text: &str) -> Result<AgentOfRun> {
    let named = text.strip_prefix(RUN).unwrap_or(text);
    let (id, node) = named.find('/').map_or((named, None), |at| {
        (named.get(..at).unwrap_or(""), named.get(at..))
    });
    let (id, begin, journal) = read(project, id)?;
    let stage = stage(project, &begin.task, (&id, node), &journal)?;
    let results = results(project, &begin, &stage, &journal)?;
    let calls: Vec<Recording> = trials(journal.calls)
        .filter(|call| call.conversation.as_deref() == Some(stage.0.as_str()))
        .collect();
    let tokens = calls.iter().map(used).sum();
    let inputs = begin
        .inputs
        .iter()
        .map(|(name, value)| given(name, value))
        .collect();
    let results = results
        .into_iter()
        .map(|(path, result)| format!("{path}={}", whole_result(result)))
        .collect();
    Ok(AgentOfRun {
        task: begin.task,
        role: begin.role,
        node: stage.1,
        objective: begin.objective,
        inputs,
        results,
        calls,
        tokens,
        ends: journal
            .end
            .map_or_else(|| "interrupted".to_owned(), |end| end.status),
    })
}

/// Returns a result with its notes, if any, and with its trust if the run marked it as untrusted.
pub(in crate::cli::context) fn whole_result(
    StepResult {
        content,
        notes,
        trust,
    }: StepResult,
) -> Value {
    if notes.is_none() && trust.is_trusted() {
        return content;
    }
    let mut whole = json!({"content": content});
    if let Some(fields) = whole.as_object_mut() {
        fields.extend(notes.map(|notes| ("notes".to_owned(), notes.into())));
        fields.extend((!trust.is_trusted()).then(|| ("trust".to_owned(), json!(trust))));
    }
    whole
}

/// Reads a run for a scenario: its name, its beginning and its trace.
fn read(project: &Compiled, id: &str) -> Result<(String, Begin, Journal)> {
    let (id, journal) = traces::read(&project.root, id)?;
    let begin = journal.begin.clone().ok_or_else(|| {
        CliError::usage(format!("the trace of run {id} does not say what was run"))
    })?;
    if begin.is_redacted {
        return Err(CliError::usage(format!("the values of run {id} are not kept, since they hold secrets or personal data"))
            .hint("`ctxc new scenario TASK --input NAME=VALUE` writes the scenario of an agent with values of your own"));
    }
    if begin.registry != project.registry.hash().to_string() {
        return Err(
            CliError::usage(format!("the templates have changed since run {id}"))
                .hint("run the task again, and take that run"),
        );
    }
    Ok((id, begin, journal))
}

/// Returns the calls of a run as those of a trial.
fn trials(calls: BTreeMap<String, Recording>) -> impl Iterator<Item = Recording> {
    let trial = Some(TrialOf {
        stage: Stage::First,
        number: 1,
        of: 1,
    });
    calls.into_values().map(move |call| Recording {
        trial,
        run: None,
        ..call
    })
}

/// Returns the tokens of a call, input and output.
fn used(call: &Recording) -> u64 {
    call.usage
        .input
        .unwrap_or(0)
        .saturating_add(call.usage.output.unwrap_or(0))
}

/// A whole run, of several agents or with scripts.
#[derive(Debug)]
pub(in crate::cli::context) struct RunOfTask {
    pub(in crate::cli::context) task: String,
    pub(in crate::cli::context) role: Option<String>,
    pub(in crate::cli::context) objective: Option<String>,
    pub(in crate::cli::context) inputs: Vec<(String, Given)>,
    /// The agents and scripts of its path, by name.
    pub(in crate::cli::context) path: Vec<String>,
    /// True if nothing was cut from a context.
    pub(in crate::cli::context) is_whole: bool,
    /// The status at its end.
    pub(in crate::cli::context) ends: String,
    /// The outputs of scripts, by name.
    pub(in crate::cli::context) scripts: Vec<(String, Value)>,
    pub(in crate::cli::context) calls: Vec<Recording>,
    /// Tokens of its calls, input and output.
    pub(in crate::cli::context) tokens: u64,
}

/// Reads the run that `run:ID` names; `None` if an agent of it is named, or if it has only one
/// agent.
///
/// # Errors
/// No such run exists, its values are not stored, or a scenario cannot represent it.
fn whole(project: &Compiled, text: &str) -> Result<Option<RunOfTask>> {
    let named = text.strip_prefix(RUN).unwrap_or(text);
    if named.contains('/') {
        return Ok(None);
    }
    let (id, begin, journal) = read(project, named)?;
    let graph = TaskGraph::load(&project.registry, &begin.task)?;
    let graph =
        graph.ok_or_else(|| CliError::usage(format!("there is no task `{}`", begin.task)))?;
    let plan = plan::plan(&graph, &begin.task)?;
    let label = |stage: &str| {
        let node = node_of(stage);
        let named = plan
            .all()
            .into_iter()
            .find(|one| one.path == node)
            .and_then(|one| one.name.clone());
        named.unwrap_or_else(|| stage.to_owned())
    };
    let own = |stage: &&String| !stage.contains(['~', ':']);
    let came_by = |event: &TraceEvent| {
        let (TraceEvent::Stage { stage, .. } | TraceEvent::Command { stage, .. }) = event else {
            return None;
        };
        Some(stage).filter(own).map(|stage| label(stage))
    };
    let path: Vec<String> = journal.events.iter().filter_map(came_by).collect();
    let script = |event: &TraceEvent| {
        let TraceEvent::Command { stage, output, .. } = event else {
            return None;
        };
        Some(stage)
            .filter(own)
            .map(|stage| (label(stage), output.content.clone()))
    };
    let scripts: Vec<(String, Value)> = journal.events.iter().filter_map(script).collect();
    let refused = |why: &str| {
        let hint = "name one agent of it: run:ID/NODE; `ctxc run --explain` shows their names";
        Err(
            CliError::usage(format!("no scenario can hold the whole of run {id}: {why}"))
                .hint(hint),
        )
    };
    let is_command = |event: &TraceEvent| matches!(event, TraceEvent::Failed { obstacle, .. } if obstacle.kind == COMMAND.into());
    if journal.events.iter().any(is_command) {
        return refused(
            "a script failed; write such a scenario by hand, with `exit` or `killed_by` in its `answers`",
        );
    }
    if path.len() < 2 && scripts.is_empty() {
        return Ok(None);
    }
    if !journal.tools.is_empty() {
        return refused(
            "its agents called tools, and what those gave back is in no scenario of one case",
        );
    }
    if !begin.session.is_empty() {
        return refused("it had a --session, which no scenario has");
    }
    let segments = || {
        let of = |event: &TraceEvent| {
            if let TraceEvent::Stage { segments, .. } = event {
                segments.clone()
            } else {
                Vec::new()
            }
        };
        journal.events.iter().flat_map(of)
    };
    if segments().any(|segment| segment.id.split(':').any(|part| part == "fresh")) {
        return refused(
            "its agents looked up fresh context, each its own; `ctxc run --no-index` looks up nothing",
        );
    }
    let is_whole = segments().all(|segment| segment.state == "kept");
    let Some(end) = journal.end else {
        return refused("it was broken off");
    };
    let calls: Vec<Recording> = trials(journal.calls).collect();
    let tokens = calls.iter().map(used).sum();
    let inputs = begin
        .inputs
        .into_iter()
        .map(|(name, value)| (name, Given::Value(value)))
        .collect();
    Ok(Some(RunOfTask {
        task: begin.task,
        role: begin.role,
        objective: begin.objective,
        inputs,
        path,
        is_whole,
        ends: end.status,
        scripts,
        calls,
        tokens,
    }))
}

/// Returns an input in the form of the command line: a leading `@` is doubled.
fn given(name: &str, value: &Value) -> String {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let mark = if text.starts_with('@') { "@" } else { "" };
    format!("{name}={mark}{text}")
}

/// Returns the first stage of the named agent, and its node.
fn stage(
    project: &Compiled,
    task: &str,
    (id, node): (&str, Option<&str>),
    journal: &Journal,
) -> Result<(String, String)> {
    let of = |event: &TraceEvent| {
        let TraceEvent::Stage { stage, node, .. } = event else {
            return None;
        };
        // Stages of subtasks have a `:` after those of the agent that requested them.
        (!stage.contains(':')).then(|| (stage.clone(), node.clone()))
    };
    let all: Vec<(String, String)> = journal.events.iter().filter_map(of).collect();
    let nobody = || CliError::usage(format!("no agent of run {id} was asked"));
    let Some(node) = node else {
        return all.into_iter().next_back().ok_or_else(nobody);
    };
    let exact = |wanted: &str| {
        all.iter()
            .find(|(stage, node)| stage == wanted || node == wanted)
            .cloned()
    };
    if let Some(found) = exact(node) {
        return Ok(found);
    }
    let named = project.node(task, node.trim_start_matches('/'));
    let found = named.ok().and_then(|path| exact(&path));
    found.ok_or_else(|| {
        let there: Vec<&str> = all.iter().map(|(stage, _)| stage.as_str()).collect();
        CliError::usage(format!("no agent `{node}` of run {id} was asked"))
            .hint(format!("these were: {}", there.join(", ")))
    })
}

/// Returns the results of the stages before an agent, as they were in its context.
fn results(
    project: &Compiled,
    begin: &Begin,
    (stage, _): &(String, String),
    journal: &Journal,
) -> Result<BTreeMap<String, StepResult>> {
    let graph = TaskGraph::load(&project.registry, &begin.task)?;
    let graph =
        graph.ok_or_else(|| CliError::usage(format!("there is no task `{}`", begin.task)))?;
    let files = project.files();
    let situation = Situation {
        files: &files,
        ..Situation::new(&begin.task, &begin.inputs)
    };
    let flow = TaskFlow::new(&graph, situation, &Options::default())?;
    let mut outputs = BTreeMap::new();
    for event in &journal.events {
        if matches!(event, TraceEvent::Stage { stage: here, .. } if here == stage) {
            break;
        }
        if let TraceEvent::Result {
            stage,
            output,
            trust,
            ..
        } = event
        {
            outputs.insert(
                stage.clone(),
                AgentOutput {
                    trust: *trust,
                    ..output.clone()
                },
            );
        }
    }
    let ready = flow.ready(&outputs, stage).map(|ready| ready.results);
    ready.ok_or_else(|| {
        CliError::new(
            Kind::Infrastructure,
            format!("the trace does not say how {stage} came to run"),
        )
    })
}

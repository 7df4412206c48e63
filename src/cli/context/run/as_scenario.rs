//! `ctxc new scenario --from run:ID[/NODE]`: the situation of an agent in the trace of a run, with
//! its answers; or the whole run.

use super::traces;
use crate::cli::context::project::CompiledProject;
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::context::TaskGraph;
use crate::context::options::Options;
use crate::context::request::StepResult;
use crate::eval::draft::SituationValue;
use crate::kernel::agent_node::stage_node;
use crate::kernel::pipeline::agent::AgentOutput;
use crate::record::recording::{Recording, TrialNumber, TrialStage};
use crate::run::flow::TaskFlow;
use crate::run::plan;
use crate::run::script::COMMAND_OBSTACLE;
use crate::run::situation::RunSituation;
use crate::run::trace::{Begin, RunJournal, TraceEvent};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The prefix of a run in place of a recording.
pub(in crate::cli::context) const RUN_PREFIX: &str = "run:";

/// An agent of a run.
#[derive(Debug)]
pub(in crate::cli::context) struct RunAgent {
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
pub(in crate::cli::context) enum RunSource {
    /// A whole run.
    Whole(FullRun),
    /// An agent of a run.
    Agent(RunAgent),
}

impl RunSource {
    /// Returns the role, or the task of an agent without a role.
    pub(in crate::cli::context) fn subject(&self) -> &str {
        match self {
            Self::Whole(run) => run.role.as_deref().unwrap_or(&run.task),
            Self::Agent(agent) => agent.role.as_deref().unwrap_or(&agent.task),
        }
    }

    /// Returns the status at the end of the run.
    pub(in crate::cli::context) fn end_status(&self) -> &str {
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
pub(in crate::cli::context) fn read_source(
    project: &CompiledProject,
    text: &str,
) -> Result<RunSource> {
    match read_whole_run(project, text)? {
        Some(run) => Ok(RunSource::Whole(run)),
        None => read_agent(project, text).map(RunSource::Agent),
    }
}

/// Reads the agent that `run:ID` or `run:ID/NODE` names; without a node, the last one that
/// answered.
///
/// # Errors
/// No such run or agent exists, or its values are not stored.
fn read_agent(project: &CompiledProject, text: &str) -> Result<RunAgent> {
    let named = text.strip_prefix(RUN_PREFIX).unwrap_or(text);
    let (id, node) = named.find('/').map_or((named, None), |at| {
        (named.get(..at).unwrap_or(""), named.get(at..))
    });
    let (id, begin, journal) = load_run(project, id)?;
    let run = StoredRun {
        id: &id,
        begin: &begin,
        journal: &journal,
    };
    let stage = find_stage(project, &run, node)?;
    let results = stage_results(project, &run, &stage.0)?;
    let calls: Vec<Recording> = as_trials(journal.calls)
        .filter(|call| call.conversation.as_deref() == Some(stage.0.as_str()))
        .collect();
    let tokens = calls.iter().map(call_tokens).sum();
    let inputs = begin
        .inputs
        .iter()
        .map(|(name, value)| input_argument(name, value))
        .collect();
    let results = results
        .into_iter()
        .map(|(path, result)| format!("{path}={}", result_value(result)))
        .collect();
    Ok(RunAgent {
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
pub(in crate::cli::context) fn result_value(
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
fn load_run(project: &CompiledProject, id: &str) -> Result<(String, Begin, RunJournal)> {
    let (id, journal) = traces::read_run(&project.root, id)?;
    let begin = journal.begin.clone().ok_or_else(|| {
        CliError::usage(format!("the trace of run {id} does not say what was run"))
    })?;
    if begin.is_redacted {
        return Err(CliError::usage(format!("the values of run {id} are not kept, since they hold secrets or personal data"))
            .with_hint("`ctxc new scenario TASK --input NAME=VALUE` writes the scenario of an agent with values of your own"));
    }
    if begin.registry != project.registry.hash().to_string() {
        return Err(
            CliError::usage(format!("the templates have changed since run {id}"))
                .with_hint("run the task again, and take that run"),
        );
    }
    Ok((id, begin, journal))
}

/// Returns the calls of a run as those of a trial.
fn as_trials(calls: BTreeMap<String, Recording>) -> impl Iterator<Item = Recording> {
    let trial = Some(TrialNumber {
        stage: TrialStage::First,
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
fn call_tokens(call: &Recording) -> u64 {
    call.usage
        .input
        .unwrap_or(0)
        .saturating_add(call.usage.output.unwrap_or(0))
}

/// A whole run, of several agents or with scripts.
#[derive(Debug)]
pub(in crate::cli::context) struct FullRun {
    pub(in crate::cli::context) task: String,
    pub(in crate::cli::context) role: Option<String>,
    pub(in crate::cli::context) objective: Option<String>,
    pub(in crate::cli::context) inputs: Vec<(String, SituationValue)>,
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
fn read_whole_run(project: &CompiledProject, text: &str) -> Result<Option<FullRun>> {
    let named = text.strip_prefix(RUN_PREFIX).unwrap_or(text);
    if named.contains('/') {
        return Ok(None);
    }
    let (id, begin, journal) = load_run(project, named)?;
    let graph = TaskGraph::load(&project.registry, &begin.task)?;
    let graph =
        graph.ok_or_else(|| CliError::usage(format!("there is no task `{}`", begin.task)))?;
    let plan = plan::build_plan(&graph, &begin.task)?;
    let label = |stage: &str| {
        let node = stage_node(stage);
        let named = plan
            .all_nodes()
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
                .with_hint(hint),
        )
    };
    let is_command = |event: &TraceEvent| matches!(event, TraceEvent::Failed { obstacle, .. } if obstacle.kind == COMMAND_OBSTACLE.into());
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
    let calls: Vec<Recording> = as_trials(journal.calls).collect();
    let tokens = calls.iter().map(call_tokens).sum();
    let inputs = begin
        .inputs
        .into_iter()
        .map(|(name, value)| (name, SituationValue::Value(value)))
        .collect();
    Ok(Some(FullRun {
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
fn input_argument(name: &str, value: &Value) -> String {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let mark = if text.starts_with('@') { "@" } else { "" };
    format!("{name}={mark}{text}")
}

/// A run that its trace describes.
struct StoredRun<'r> {
    id: &'r str,
    begin: &'r Begin,
    journal: &'r RunJournal,
}

/// Returns the first stage of the named agent, and its node.
fn find_stage(
    project: &CompiledProject,
    run: &StoredRun<'_>,
    node: Option<&str>,
) -> Result<(String, String)> {
    let StoredRun { id, begin, journal } = run;
    let of = |event: &TraceEvent| {
        let TraceEvent::Stage { stage, node, .. } = event else {
            return None;
        };
        // Stages of subtasks have a `:` after those of the agent that requested them.
        (!stage.contains(':')).then(|| (stage.clone(), node.clone()))
    };
    let all: Vec<(String, String)> = journal.events.iter().filter_map(of).collect();
    let no_agent = || CliError::usage(format!("no agent of run {id} was asked"));
    let Some(node) = node else {
        return all.into_iter().next_back().ok_or_else(no_agent);
    };
    let exact = |wanted: &str| {
        all.iter()
            .find(|(stage, node)| stage == wanted || node == wanted)
            .cloned()
    };
    if let Some(found) = exact(node) {
        return Ok(found);
    }
    let named = project.find_node(&begin.task, node.trim_start_matches('/'));
    let found = named.ok().and_then(|path| exact(&path));
    found.ok_or_else(|| {
        let existing: Vec<&str> = all.iter().map(|(stage, _)| stage.as_str()).collect();
        CliError::usage(format!("no agent `{node}` of run {id} was asked"))
            .with_hint(format!("these were: {}", existing.join(", ")))
    })
}

/// Returns the results of the stages before an agent, as they were in its context.
fn stage_results(
    project: &CompiledProject,
    run: &StoredRun<'_>,
    stage: &str,
) -> Result<BTreeMap<String, StepResult>> {
    let StoredRun { begin, journal, .. } = run;
    let graph = TaskGraph::load(&project.registry, &begin.task)?;
    let graph =
        graph.ok_or_else(|| CliError::usage(format!("there is no task `{}`", begin.task)))?;
    let files = project.files();
    let situation = RunSituation {
        files: &files,
        ..RunSituation::new(&begin.task, &begin.inputs)
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
    let ready = flow.ready_stage(&outputs, stage).map(|ready| ready.results);
    ready.ok_or_else(|| {
        CliError::new(
            CliErrorKind::Infrastructure,
            format!("the trace does not say how {stage} came to run"),
        )
    })
}

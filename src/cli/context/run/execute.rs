//! `ctxc run`: reads the inputs, opens the answers, begins the trace, runs the task and prints its
//! result.

use super::answers::{self, AnswerSources};
use super::args::RunArgs;
use super::commands::{ListedFiles, ProjectCommands, ProjectTools};
use super::telemetry::SpanCollector;
use super::{show, traces};
use crate::base::fs;
use crate::cli::context::eval::AnswerSource;
use crate::cli::context::model_calls::redactor;
use crate::cli::context::models::ProjectCounters;
use crate::cli::context::project::CompiledProject;
use crate::cli::context::values::ObjectiveReceiver;
use crate::cli::context::{trust, values};
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::cli::exit::Exit;
use crate::cli::interrupt;
use crate::cli::render::escape::escape_line;
use crate::cli::render::summary::pluralize;
use crate::cli::shared_args::DataFormat;
use crate::context::fault::{Fault, FaultKind, MissingFrom};
use crate::context::options::Options;
use crate::context::request::{Attempt, CallerGoals};
use crate::context::{TaskGraph, objective};
use crate::eval::scripted::{AnswerScript, ScriptedCommands};
use crate::kernel::agent_node::stage_node;
use crate::kernel::budget::Counting;
use crate::kernel::pipeline::machine::PipelineStatus;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::project::config::RecordedContent;
use crate::project::roles::Role;
use crate::registry::RegistryParameter;
use crate::registry::body::NodeBody;
use crate::registry::node::Node;
use crate::run::answers::NOT_RECORDED;
use crate::run::flow::TaskFlow;
use crate::run::plan::{PlanKind, PlanNode};
use crate::run::runner::{RunLimits, RunOutcome, Runner, RunnerParts, TaskFrame};
use crate::run::situation::RunSituation;
use crate::run::trace::{
    Begin, End, LineSink, RunJournal, TraceEvent, TraceLine, TraceWriter, hash_inputs,
};
use crate::scenario::date;
use crate::schema::json::names::RUN;
use crate::template::keywords::FileSource;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::path::Path;

/// The task of a run, with its inputs.
#[derive(Debug)]
pub(super) struct RunSpec<'p> {
    pub(super) task: String,
    pub(super) role: Option<&'p Role>,
    pub(super) inputs: BTreeMap<String, Value>,
    pub(super) objective: Option<String>,
    /// The failures of earlier attempts.
    pub(super) attempts: Vec<Attempt>,
    /// The maximum of its tokens.
    pub(super) max_tokens: Option<u64>,
    /// The maximum of its cost in US$.
    pub(super) max_usd: Option<f64>,
}

/// An interrupted run that is continued.
#[derive(Debug)]
pub(super) struct InterruptedRun {
    name: String,
    journal: RunJournal,
}

/// The trace of a run, and the place to which its spans are sent.
#[derive(Debug, Default)]
pub(super) struct RunTracing<'c> {
    /// The run whose trace is continued; `None` for a new trace.
    pub(super) continues: Option<InterruptedRun>,
    /// The collector that receives the spans.
    pub(super) collector: Option<&'c SpanCollector>,
}

/// A run that has ended.
#[derive(Debug)]
pub(super) struct FinishedRun {
    pub(super) outcome: RunOutcome,
    pub(super) end: End,
    trace: TraceWriter,
    kept: std::result::Result<(), String>,
    /// The spans for a collector, if one is configured.
    spans: Option<Value>,
}

/// Runs the task of the command line.
pub(super) fn run_single(args: &RunArgs, project: &CompiledProject, cx: &mut Cx) -> Result<Exit> {
    let collector = SpanCollector::from_env(cx);
    let interrupted = args
        .resume
        .as_deref()
        .map(|name| {
            traces::read_run(&project.root, name.trim_start_matches("run:"))
                .map(|(name, journal)| InterruptedRun { name, journal })
        })
        .transpose()?;
    if let Some(complete) = interrupted.as_ref().filter(|run| run.journal.is_complete()) {
        return Err(CliError::usage(format!(
            "run {} is complete: there is nothing to resume",
            complete.name
        )));
    }
    let wanted = run_spec(args, project, interrupted.as_ref().map(|run| &run.journal))?;
    let tracing = RunTracing {
        continues: interrupted,
        collector: collector.as_ref(),
    };
    let done = execute_run(args, project, &wanted, tracing, cx)?;
    report_run(args, &done, collector.as_ref(), cx)
}

/// Runs a task, and writes its trace.
pub(super) fn execute_run(
    args: &RunArgs,
    project: &CompiledProject,
    wanted: &RunSpec<'_>,
    tracing: RunTracing<'_>,
    cx: &mut Cx,
) -> Result<FinishedRun> {
    let RunTracing {
        continues,
        collector,
    } = tracing;
    let graph = TaskGraph::load(&project.registry, &wanted.task)?;
    let graph =
        graph.ok_or_else(|| CliError::usage(format!("there is no task `{}`", wanted.task)))?;
    let counters = ProjectCounters::new(&project.config, None)?;
    // `--explain` prints the tokens of each context.
    let counting = if args.explain {
        Counting::Always
    } else {
        Counting::WhenNeeded
    };
    let models = Some(counters.model_settings(&project.config));
    let options = Options {
        counter: counters.default_counter(),
        models,
        counting,
        ..Options::default()
    };
    let history = args.history.read_turns()?;
    let source = args.lookup.for_project(project);
    let from = answer_source(args, continues.as_ref().map(|run| &run.journal))?;
    if from.calls_models() {
        trust::require_permission(project, &args.trust, "asking a model")?;
    }
    let sources = AnswerSources::new(args, from, project, &wanted.task)?;
    let needs = required_permission(&graph, wanted, project, sources.script());
    if let Some(what) = &needs {
        trust::require_permission(project, &args.trust, what)?;
    }
    let commands = ProjectCommands::new(project, needs.is_some());
    let files = ListedFiles {
        inside: project.files(),
        commands: &commands,
    };
    let situation = RunSituation {
        source: &source,
        files: &files,
        attempts: &wanted.attempts,
        history: &history,
        goals: CallerGoals {
            objective: wanted.objective.as_deref(),
            ..CallerGoals::default()
        },
        role: wanted.role,
        session: &args.session,
        ..RunSituation::new(&wanted.task, &wanted.inputs)
    };
    let flow = TaskFlow::new(&graph, situation, &options)?;
    let (trace, _lock) = open_trace(args, project, from, continues, cx)?;
    let trace = if collector.is_some() {
        trace.with_timeline(fs::now_nanos)
    } else {
        trace
    };
    if !trace.run.is_empty() && args.source.is_none() {
        interrupt::add_exit_handler(|| {
            drop(io::stderr().write_all(b"interrupted: `ctxc run --resume` continues this run\n"));
        });
    }
    // Collectors never receive personal data, even if the project's trace keeps it.
    let masks = collector.map(|_| redactor(project)).transpose()?;
    if let Some((collector, masks)) = collector.zip(masks.as_ref()) {
        collector.send_if_interrupted(&trace, &wanted.task, masks);
    }
    let begin = begin_event(wanted, args, project, from, &trace);
    if let Some(before) = &trace.earlier_run().begin {
        check_same_run(before, &begin, &trace, cx)?;
    } else {
        trace
            .write_event(TraceEvent::Begin(begin))
            .map_err(|why| CliError::new(CliErrorKind::Infrastructure, why))?;
    }
    let jobs = args
        .jobs
        .map_or(if from.calls_models() { 8 } else { 1 }, NonZeroUsize::get);
    let limits = RunLimits {
        depth: args.max_depth,
        usd: wanted.max_usd,
        tokens: wanted.max_tokens,
        jobs,
    };
    let tools = ProjectTools::start(&commands, wanted.role)
        .map_err(|why| CliError::new(CliErrorKind::Infrastructure, why))?;
    let scripts = ScriptedCommands {
        script: sources.script(),
        then: Some(&commands),
    };
    let (outcome, spent) = sources.with_backend(|answers| {
        let runner = Runner::new(RunnerParts {
            options,
            providers: Some(&project.config.providers),
            answers,
            tools: &tools,
            commands: &scripts,
            subtasks: &project.config,
            trace: &trace,
            limits,
            clock: if from.calls_models() {
                || Some(utc_now())
            } else {
                || None
            },
        });
        let outcome = runner.run(&TaskFrame::new(&graph, situation, &flow));
        (outcome, runner.usage())
    });
    source.note_index(cx);
    if let Some(path) = args
        .script
        .as_ref()
        .filter(|_| outcome.status == PipelineStatus::Complete && is_single_run(args))
    {
        note_unused_answers(sources.script(), path, cx);
    }
    let end = End {
        status: outcome.status.word().to_owned(),
        obstacle: outcome.obstacle.clone(),
        content: outcome
            .result
            .as_ref()
            .map(|result| result.content.clone())
            .unwrap_or_default(),
        partial: outcome.partial.clone(),
        calls: spent.calls,
        tokens: spent.tokens,
        usd: (spent.usd * 1e9).round() / 1e9,
    };
    let end_written = trace
        .write_event(TraceEvent::End(end.clone()))
        .and_then(|()| trace.sync());
    let spans = collector
        .zip(masks.as_ref())
        .map(|(collector, masks)| collector.build_spans(&trace, &wanted.task, masks));
    Ok(FinishedRun {
        outcome,
        end,
        trace,
        kept: end_written,
        spans,
    })
}

/// Returns true if the run has one task and no earlier part, so that its requests are all that the
/// script has answers for.
const fn is_single_run(args: &RunArgs) -> bool {
    args.source.is_none() && args.resume.is_none()
}

/// Prints a note on the scripted answers that no request received: a name or a pattern of `when` is
/// wrong, or an earlier answer replaces them.
fn note_unused_answers(script: &AnswerScript, path: &Path, cx: &mut Cx) {
    let numbers: Vec<String> = script
        .unused_answers()
        .iter()
        .map(ToString::to_string)
        .collect();
    if let Some((last, others)) = numbers.split_last() {
        let which = if others.is_empty() {
            last.clone()
        } else {
            format!("{} and {last}", others.join(", "))
        };
        let (answers, are) = if others.is_empty() {
            ("answer", "is")
        } else {
            ("answers", "are")
        };
        let path = escape_line(&path.display().to_string()).into_owned();
        cx.print_note(&format!(
            "warning: {answers} {which} of {path} {are} not used: no request of this run got that far, or fits its `when`"
        ));
    }
}

/// Returns the current time, in UTC.
fn utc_now() -> String {
    date::format_time((fs::now_nanos() / 1_000_000_000) as i64)
}

/// Returns the run that the command line specifies; for a resumed run, with the values of its first
/// command.
fn run_spec<'p>(
    args: &RunArgs,
    project: &'p CompiledProject,
    journal: Option<&RunJournal>,
) -> Result<RunSpec<'p>> {
    let before = journal.and_then(|journal| journal.begin.as_ref());
    let (role, task) = match before.filter(|_| !args.subject.is_given()) {
        Some(begin) => {
            let role = begin
                .role
                .as_deref()
                .map(|name| crate::cli::context::models::find_role(&project.config, name))
                .transpose()?;
            (role, project.find_task(&begin.task)?)
        }
        None => args.subject.resolve(project)?,
    };
    let parameters = project.task_parameters(&task)?;
    let mut inputs = values::parse_inputs(&args.input, &parameters)?;
    let mut objective = args.objective.read_objective(
        ObjectiveReceiver {
            task: &task,
            parameters: &parameters,
            role,
        },
        &inputs,
    )?;
    if let Some(begin) = before.filter(|_| args.input.is_empty() && objective.is_none()) {
        if begin.is_redacted {
            return Err(CliError::usage(
                "the values of this run are not kept, since they hold secrets or personal data",
            )
            .with_hint("give them again: `--input NAME=VALUE` as in the first command"));
        }
        (inputs, objective) = (begin.inputs.clone(), begin.objective.clone());
    }
    check_parameters(project, &task, &inputs, objective.as_deref())?;
    Ok(RunSpec {
        task,
        role,
        inputs,
        objective,
        attempts: Vec::new(),
        max_tokens: args.budget_tokens,
        max_usd: args.budget_usd,
    })
}

/// Returns an error if a parameter has no value, before any call.
pub(super) fn check_parameters(
    project: &CompiledProject,
    task: &str,
    inputs: &BTreeMap<String, Value>,
    objective: Option<&str>,
) -> Result<()> {
    let parameters = project.task_parameters(task)?;
    let is_missing = |parameter: &&RegistryParameter| {
        let is_given = inputs.contains_key(&parameter.name)
            || objective.is_some() && parameter.name == objective::NAME;
        parameter.default.is_none() && !is_given
    };
    let missing = |parameter: &RegistryParameter| {
        let kind = FaultKind::Missing {
            name: parameter.name.clone(),
            origin: MissingFrom::Input,
        };
        let place = crate::context::fault::FaultPlace {
            definition: task.to_owned(),
            node: "/".to_owned(),
            field: format!("parameters/{}", parameter.name),
        };
        Fault::at_place(place, kind)
    };
    let faults: Vec<Fault> = parameters.iter().filter(is_missing).map(missing).collect();
    if faults.is_empty() {
        Ok(())
    } else {
        Err(project.context_error(&faults))
    }
}

/// Returns the source of the answers.
fn answer_source(args: &RunArgs, journal: Option<&RunJournal>) -> Result<AnswerSource> {
    let before = journal
        .and_then(|journal| journal.begin.as_ref())
        .and_then(|begin| AnswerSource::parse(&begin.answers));
    let from = match (args.answers, &args.script) {
        (Some(from), _) => from,
        (None, Some(_)) => AnswerSource::Scripted,
        (None, None) => before.unwrap_or(AnswerSource::Replay),
    };
    if !from.calls_models()
        && (args.budget_tokens.is_some() || args.budget_usd.is_some())
        && from != AnswerSource::Scripted
    {
        return Err(
            CliError::usage("a budget is for calls of models, and none is asked here")
                .with_hint("`--answers record` or `live` asks them"),
        );
    }
    if args.recording.is_some()
        && !matches!(from, AnswerSource::Replay | AnswerSource::ReplayOrRecord)
    {
        return Err(CliError::usage(
            "--recording is for `--answers replay` and `replay-or-record`",
        ));
    }
    Ok(from)
}

/// Describes the part of a task that requires the user's permission; `None` without one.
fn required_permission(
    graph: &TaskGraph<'_>,
    wanted: &RunSpec<'_>,
    project: &CompiledProject,
    written: &AnswerScript,
) -> Option<String> {
    let plan = crate::run::plan::build_plan(graph, &wanted.task).ok()?;
    let all = plan.all_nodes();
    let of = |node: &PlanNode| graph.find_node(&wanted.task, &node.path);
    let named: Vec<&str> = written
        .answers()
        .filter_map(|answer| Some(&*answer.node.as_ref()?.value))
        .collect();
    let is_written = |node: &PlanNode| {
        named
            .iter()
            .any(|of| node.name.as_deref() == Some(of) || stage_node(of) == node.path)
    };
    if let Some(script) = all
        .iter()
        .find(|node| node.kind == PlanKind::Script && !is_written(node))
    {
        let words = of(script).map_or_else(String::new, |node| command_words(&node.body));
        return Some(format!("running the command of {} ({words})", script.path));
    }
    let lists = |node: &&Node| {
        node.body
            .file_paths
            .as_ref()
            .is_some_and(|files| files.source == FileSource::Command)
    };
    if let Some(node) = all.iter().filter_map(|node| of(node)).find(lists) {
        let command = node
            .body
            .file_paths
            .as_ref()
            .and_then(|files| files.command.as_deref())
            .unwrap_or_default();
        return Some(format!("running `{command}`, which lists files"));
    }
    let tools = wanted.role.and_then(|role| role.tools.as_ref());
    let given: Vec<_> = tools
        .into_iter()
        .flat_map(|tools| tools.agent_definitions())
        .collect();
    if let Some(tool) = given.iter().find(|tool| !tool.command.is_empty()) {
        return Some(format!("running the command of the tool `{}`", tool.name));
    }
    let (name, _) = project
        .config
        .mcp
        .first_key_value()
        .filter(|_| !given.is_empty())?;
    Some(format!("starting the server of tools `{name}`"))
}

fn command_words(body: &NodeBody<'_>) -> String {
    let Some(command) = &body.command else {
        return String::new();
    };
    let text =
        |text: &crate::registry::body::Text<'_>| text.text.as_deref().unwrap_or("…").to_owned();
    let words: Vec<String> = command.line.iter().chain(&command.args).map(text).collect();
    words.join(" ")
}

/// Returns the trace of the run: a new one, that of the resumed run, or one that is not stored.
fn open_trace(
    args: &RunArgs,
    project: &CompiledProject,
    from: AnswerSource,
    continues: Option<InterruptedRun>,
    cx: &mut Cx,
) -> Result<(TraceWriter, Option<fs::FileLock>)> {
    let content = project.config.record.content;
    if content == RecordedContent::Shape
        && matches!(from, AnswerSource::Record | AnswerSource::ReplayOrRecord)
    {
        return Err(answers::not_recorded_error());
    }
    let retain_events = |trace: TraceWriter| {
        if args.explain {
            trace.with_kept_events()
        } else {
            trace
        }
    };
    let redactor = redactor(project)?;
    let redactor = if content == RecordedContent::Full {
        redactor.keep_personal_data()
    } else {
        redactor
    };
    if let Some(InterruptedRun { name, journal }) = continues {
        let (file, lock) = traces::resume_trace(&project.root, &name)?;
        return Ok((
            retain_events(
                TraceWriter::new(name, Some(Box::new(file)), redactor, journal)
                    .with_comparison(project.comparison()),
            ),
            lock,
        ));
    }
    let begun = if args.no_trace || content == RecordedContent::Shape {
        None
    } else {
        traces::begin_trace(&project.root)?
    };
    if let Some((name, file, lock)) = begun {
        let file: Box<dyn LineSink> = Box::new(file);
        return Ok((
            retain_events(TraceWriter::new(
                name,
                Some(file),
                redactor,
                RunJournal::default(),
            )),
            lock,
        ));
    }
    if from.calls_models() && !args.no_trace {
        cx.print_note("this run keeps no trace, so it cannot be resumed");
    }
    Ok((
        retain_events(TraceWriter::new(
            String::new(),
            None,
            redactor,
            RunJournal::default(),
        )),
        None,
    ))
}

fn begin_event(
    wanted: &RunSpec<'_>,
    args: &RunArgs,
    project: &CompiledProject,
    from: AnswerSource,
    trace: &TraceWriter,
) -> Begin {
    let given = hash_inputs(
        &wanted.inputs,
        wanted.objective.as_deref(),
        trace.redactor(),
    );
    let text = serde_json::to_string(&(&wanted.inputs, &wanted.objective)).unwrap_or_default();
    let mut redacted = Vec::new();
    trace.redactor().mask_json(&text, "", &mut redacted);
    Begin {
        at: Some(utc_now()),
        task: wanted.task.clone(),
        role: wanted.role.map(|role| role.name.value.clone()),
        inputs: wanted.inputs.clone(),
        objective: wanted.objective.clone(),
        session: args.session.clone(),
        answers: from.as_str().to_owned(),
        registry: project.registry.hash().to_string(),
        given,
        is_redacted: !redacted.is_empty(),
    }
}

/// Returns an error if a run to be resumed differs from this one.
fn check_same_run(before: &Begin, now: &Begin, trace: &TraceWriter, cx: &mut Cx) -> Result<()> {
    let differs = match () {
        () if before.task != now.task || before.role != now.role => {
            "it was of another task or role"
        }
        () if before.given != now.given => "it was given other values",
        () if before.registry != now.registry => "the templates have changed since",
        () if before.session != now.session => "it has another --session",
        () => {
            if trace.is_redacted() {
                cx.print_note("some answers of this run are kept without personal data: the resumed run sees placeholders");
            }
            return Ok(());
        }
    };
    Err(
        CliError::usage(format!("run {} cannot be resumed: {differs}", trace.run))
            .with_hint("run it anew, without --resume"),
    )
}

/// Prints the result of the run.
pub(super) fn report_run(
    args: &RunArgs,
    done: &FinishedRun,
    collector: Option<&SpanCollector>,
    cx: &mut Cx,
) -> Result<Exit> {
    let FinishedRun {
        outcome,
        end,
        trace,
        kept,
        spans,
    } = done;
    // Notes beside the result often end in shared logs.
    let redactor = trace.redactor().clone().keep_personal_data();
    if args.explain {
        show::print_events(&trace.events(), &redactor, cx);
    }
    let line = TraceLine {
        schema: RUN.to_owned(),
        run: trace.run.clone(),
        event: TraceEvent::End(end.clone()),
    };
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&line),
        DataFormat::Text => match &outcome.result {
            Some(result) => show::print_result(&result.content, cx),
            None => Ok(()),
        },
    })?;
    if !trace.run.is_empty() {
        cx.print_note(&format!(
            "{}: {}",
            format_args!("run:{}", trace.run),
            pluralize(end.calls as usize, "call")
        ));
    }
    if let Some((collector, spans)) = collector.zip(spans.as_ref()) {
        cx.flush()?;
        collector.send_spans(spans, cx);
    }
    kept.clone()
        .map_err(|why| CliError::new(CliErrorKind::Infrastructure, why))?;
    match &outcome.obstacle {
        None => Ok(Exit::Success),
        Some(obstacle) => {
            show::print_partial_results(end, &redactor, cx);
            cx.print_note(&format!(
                "{}: {}",
                outcome.status.word(),
                escape_line(&redactor.mask_text(&obstacle.to_string()).0)
            ));
            let exit = exit_code(outcome.status, obstacle);
            if exit == Exit::Stale
                && args.script.is_none()
                && args.answers.is_none_or(|from| from == AnswerSource::Replay)
            {
                cx.print_note("  hint: `--script FILE` takes answers that you wrote, `--answers record` asks the models of ctxc.toml");
            }
            Ok(exit)
        }
    }
}

fn exit_code(status: PipelineStatus, obstacle: &Obstacle) -> Exit {
    let is_other = |word: &str| matches!(&obstacle.kind, ObstacleKind::Other(own) if own == word);
    if obstacle.kind == ObstacleKind::Provider || is_other("trace") {
        Exit::Infrastructure
    } else if is_other(NOT_RECORDED) {
        Exit::Stale
    } else if status == PipelineStatus::Blocked {
        Exit::Inconclusive
    } else {
        Exit::Findings
    }
}

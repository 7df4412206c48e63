//! `ctxc run --source`: runs tasks one after another, each in a run of its own, under one budget;
//! at the end, reports the repeated failures.
//!
//! The payload of a task contains its inputs. Completed tasks are stored in the user's state
//! folder.

use super::args::RunArgs;
use super::execute::{self, FinishedRun, RunSpec, RunTracing};
use super::telemetry::SpanCollector;
use crate::base::hash::Hash;
use crate::base::{folders, fs};
use crate::cli::context::models;
use crate::cli::context::project::CompiledProject;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::cli::exit::Exit;
use crate::cli::record::script;
use crate::cli::render::escape::escape_line;
use crate::cli::render::summary::pluralize;
use crate::kernel::pipeline::agent::AgentOutput;
use crate::kernel::pipeline::machine::{Pipeline, PipelineState, PipelineStatus};
use crate::kernel::pipeline::outcome::{Amounts, Obstacle, ObstacleKind, OutcomeContext};
use crate::kernel::pipeline::stage_graph::{Next, StageGraph, Visit};
use crate::kernel::work::batch::{Batch, BatchReport, RestartIntensity};
use crate::kernel::work::budget_policy::{BudgetAccount, BudgetPolicy};
use crate::kernel::work::failure::{FailurePattern, PatternLimit, PatternScope, QualityAnalyzer};
use crate::kernel::work::task::{Task, TaskQueue, TaskSource};
use crate::syntax::yaml;
use crate::work::beads::read_beads;
use crate::work::task_file::read_task_file;
use crate::work::task_journal::TaskJournal;
use crate::work::webhook::{Webhook, WebhookOptions};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// The source that listens for deliveries.
const WEBHOOK_SOURCE: &str = "webhook";
/// Variables with the secrets that authenticate senders.
const SECRET_VARIABLES: [&str; 2] = ["CTXC_WEBHOOK_TOKEN", "CTXC_WEBHOOK_SECRET"];
/// The time to wait for a delivery before the next check.
const DELIVERY_WAIT: Duration = Duration::from_mins(1);
/// The number of failures within a time that ends the batch.
const FAILURE_LIMIT: (u32, Duration) = (5, Duration::from_mins(1));

/// The whole task as one stage; its inner stages have a pipeline of their own.
#[derive(Debug)]
struct SingleRunGraph;

impl StageGraph for SingleRunGraph {
    fn start(&self) -> Vec<String> {
        vec!["run".to_owned()]
    }

    fn next(&self, _: &Visit, _: &PipelineState) -> Next {
        Next::Complete
    }
}

/// The tasks of a file that are not yet complete.
#[derive(Debug)]
struct FileTaskSource {
    queue: TaskQueue<Value>,
    complete: TaskJournal<Value>,
}

impl TaskSource<Value> for FileTaskSource {
    fn claim(&mut self) -> std::result::Result<Option<Task<Value>>, Obstacle> {
        self.queue.claim()
    }

    fn complete(&mut self, id: &str) -> std::result::Result<(), Obstacle> {
        self.complete.add(Task::new("", id, Value::Null))?;
        self.queue.complete(id)
    }

    fn release(&mut self, id: &str) -> std::result::Result<(), Obstacle> {
        self.queue.release(id)
    }
}

/// Delivered tasks. A failed one is retried by the next command only, since this one would retry it
/// forever.
struct WebhookTaskSource(Webhook);

impl TaskSource<Value> for WebhookTaskSource {
    fn claim(&mut self) -> std::result::Result<Option<Task<Value>>, Obstacle> {
        self.0.claim()
    }

    fn complete(&mut self, id: &str) -> std::result::Result<(), Obstacle> {
        self.0.complete(id)
    }

    fn release(&mut self, _: &str) -> std::result::Result<(), Obstacle> {
        Ok(())
    }
}

/// A source of tasks.
enum BatchSource {
    File(FileTaskSource),
    Webhook(WebhookTaskSource),
}

impl BatchSource {
    fn open(spec: &str, project: &CompiledProject, cx: &mut Cx) -> Result<Self> {
        let nowhere = || {
            CliError::usage("no folder to store which tasks are complete")
                .with_hint("set XDG_STATE_HOME, or HOME, to a folder of yours")
        };
        let folder = folders::project_state(&project.root).ok_or_else(nowhere)?;
        let address = spec
            .strip_prefix(WEBHOOK_SOURCE)
            .map(|rest| rest.trim_start_matches(':'));
        let real = || {
            fs::ReadFs::canonicalize(&fs::RealFs, Path::new(spec))
                .unwrap_or_else(|_| Path::new(spec).to_path_buf())
        };
        let named = address.map_or_else(|| real().to_string_lossy().into_owned(), str::to_owned);
        let name: String = Hash::digest(named.as_bytes())
            .to_string()
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(16)
            .collect();
        let journal =
            TaskJournal::open(&folder.join("tasks").join(name)).map_err(infrastructure_error)?;
        let Some(address) = address else {
            return Self::open_file(spec, journal);
        };
        let mut options = WebhookOptions::default();
        if !address.is_empty() {
            let wrong = |_| {
                CliError::usage(format!(
                    "`{address}` is not a valid address: expected one such as 127.0.0.1:8080"
                ))
            };
            options.address = address.parse().map_err(wrong)?;
        }
        [options.token, options.secret] = SECRET_VARIABLES.map(fs::env_var);
        if !options.address.ip().is_loopback()
            && (options.token.is_none() || options.secret.is_none())
        {
            return Err(CliError::usage(format!(
                "other machines can reach {address}, so senders must authenticate"
            ))
            .with_hint(format!(
                "set {} and {}",
                SECRET_VARIABLES[0], SECRET_VARIABLES[1]
            )));
        }
        let webhook = Webhook::start(journal, options).map_err(infrastructure_error)?;
        cx.print_note(&format!(
            "waiting for deliveries, each a POST of JSON such as {{\"task\": \"NAME\", \"inputs\": {{}}}}, at http://{}/tasks",
            webhook.address()
        ));
        Ok(Self::Webhook(WebhookTaskSource(webhook)))
    }

    fn open_file(path: &str, complete: TaskJournal<Value>) -> Result<Self> {
        let text = script::read_text(Path::new(path), "the source")?;
        let is_beads = Path::new(path)
            .extension()
            .is_some_and(|ending| ending == "jsonl");
        let tasks = if is_beads {
            read_beads(&text)
        } else {
            read_task_file(&text)
        };
        let mut queue = TaskQueue::default();
        for task in tasks.map_err(|why| CliError::usage(format!("--source {path}: {why}")))? {
            if !complete.knows(&task.id) {
                queue.push(task);
            }
        }
        Ok(Self::File(FileTaskSource { queue, complete }))
    }

    fn as_task_source(&mut self) -> &mut dyn TaskSource<Value> {
        match self {
            Self::File(tasks) => tasks,
            Self::Webhook(webhook) => webhook,
        }
    }
}

fn infrastructure_error(obstacle: Obstacle) -> CliError {
    CliError::new(CliErrorKind::Infrastructure, obstacle.note)
}

/// Runs a task, or the tasks of a source.
pub(crate) fn run_tasks(args: &RunArgs, cx: &mut Cx) -> Result<Exit> {
    let project = CompiledProject::load(cx)?;
    match &args.source {
        Some(source) => run_batch(args, source, &project, cx),
        None => execute::run_single(args, &project, cx),
    }
}

/// The usage of the runs of a batch so far.
#[derive(Debug, Default)]
struct BatchUsage {
    tokens: u64,
    usd: f64,
}

/// Runs the tasks of a source.
fn run_batch(args: &RunArgs, spec: &str, project: &CompiledProject, cx: &mut Cx) -> Result<Exit> {
    let patterns = args.patterns.as_deref().map(read_patterns).transpose()?;
    let collector = SpanCollector::from_env(cx);
    let collector = collector.as_ref();
    let mut source = BatchSource::open(spec, project, cx)?;
    let limits = [
        ("tokens", args.budget_tokens.map(to_amount)),
        ("usd", args.budget_usd),
    ];
    let max_cost: Amounts = limits
        .into_iter()
        .filter_map(|(unit, max)| Some((unit.to_owned(), max?)))
        .collect();
    let policy = BudgetPolicy::BatchWindow {
        max_tasks: args.max_tasks,
        max_cost,
    };
    let (mut budget, mut intensity) = (
        BudgetAccount::new(policy),
        RestartIntensity::new(FAILURE_LIMIT.0, FAILURE_LIMIT.1),
    );
    let mut history: Vec<OutcomeContext> = Vec::new();
    let pipeline = Pipeline::new(SingleRunGraph);
    let clock = || Duration::from_nanos(u64::try_from(fs::now_nanos()).unwrap_or(0));
    let mut refused = None;
    let (mut used, mut runs) = (BatchUsage::default(), Vec::new());
    let ended = loop {
        let mut batch = Batch {
            pipeline: &pipeline,
            source: source.as_task_source(),
            workspaces: &(),
            history: &mut history,
            budget: &mut budget,
            intensity: &mut intensity,
            max_attempts: 1,
            clock: &clock,
        };
        let report = batch.run(&mut |task, context, amounts| {
            let done = run_spec(args, project, &task.payload).map(|wanted| RunSpec {
                attempts: context.attempts.to_vec(),
                max_tokens: args
                    .budget_tokens
                    .map(|max| max.saturating_sub(used.tokens)),
                max_usd: args.budget_usd.map(|max| max - used.usd),
                ..wanted
            });
            let wanted = done.map_err(|why| {
                cx.print_note(&escape_line(&format!(
                    "{}: not run: {}",
                    task.id, why.message
                )));
                Obstacle::new(ObstacleKind::Source, why.message)
            })?;
            cx.print_note(&escape_line(&format!("{}: {}", task.id, wanted.task)));
            let tracing = RunTracing {
                collector,
                ..RunTracing::default()
            };
            match execute::execute_run(args, project, &wanted, tracing, cx)
                .and_then(|done| Ok((execute::report_run(args, &done, collector, cx)?, done)))
            {
                Ok((_, done)) => {
                    used.tokens += done.end.tokens[0] + done.end.tokens[1];
                    used.usd += done.end.usd;
                    batch_output(&done, amounts)
                }
                Err(error) => {
                    // An error before the run affects all tasks.
                    let note = error.message.clone();
                    refused = Some(error);
                    Err(Obstacle::new(ObstacleKind::Budget, note))
                }
            }
        });
        let BatchReport {
            runs: more, ended, ..
        } = report.map_err(infrastructure_error)?;
        runs.extend(more);
        // Reaching the requested number of tasks is not a failure.
        if args.max_tasks.is_some_and(|max| runs.len() as u64 >= max) {
            break ended.filter(|why| {
                runs.last()
                    .is_some_and(|(_, state)| state.obstacle() == Some(why))
            });
        }
        match &source {
            BatchSource::Webhook(webhook) if ended.is_none() => webhook.0.wait(DELIVERY_WAIT),
            BatchSource::File(_) | BatchSource::Webhook(_) => break ended,
        }
    };
    if let Some(error) = refused {
        return Err(error);
    }
    Ok(print_report(&runs, &history, ended.as_ref(), patterns, cx))
}

#[allow(clippy::cast_precision_loss, reason = "tokens are far below 2^52")]
const fn to_amount(tokens: u64) -> f64 {
    tokens as f64
}

/// Returns the result of a run for its batch.
fn batch_output(
    done: &FinishedRun,
    amounts: &mut Amounts,
) -> std::result::Result<AgentOutput, Obstacle> {
    let counted = [
        ("tokens", to_amount(done.end.tokens[0] + done.end.tokens[1])),
        ("usd", done.end.usd),
    ];
    amounts.extend(counted.map(|(unit, amount)| (unit.to_owned(), amount)));
    match &done.outcome.obstacle {
        Some(obstacle) => Err(obstacle.clone()),
        None => Ok(AgentOutput::complete(done.end.content.clone())),
    }
}

/// Returns the specification of a task's run: `task` or `role`, `inputs` and `objective` of its
/// payload. If the command line names a task, its parameters are filled from the fields of the
/// payload with the same names.
fn run_spec<'p>(
    args: &RunArgs,
    project: &'p CompiledProject,
    payload: &Value,
) -> Result<RunSpec<'p>> {
    let field = |name: &str| payload.get(name).and_then(Value::as_str);
    let (role, task) = match (args.subject.is_given(), field("role"), field("task")) {
        (true, _, _) => args.subject.resolve(project)?,
        (false, Some(role), _) => {
            let role = models::find_role(&project.config, role)?;
            (Some(role), role.task.value.clone())
        }
        (false, None, Some(task)) => (None, project.find_task(task)?),
        (false, None, None) => {
            return Err(CliError::usage("the task does not say what is run: its payload has neither `task` nor `role`")
                .with_hint("give it one, or name a task on the command line, whose values are the fields of the payload"));
        }
    };
    let parameters = project.task_parameters(&task)?;
    let given = if args.subject.is_given() {
        payload
    } else {
        payload.get("inputs").unwrap_or(&Value::Null)
    };
    let mut inputs = BTreeMap::new();
    for (name, value) in given.as_object().into_iter().flatten() {
        if parameters.iter().any(|parameter| parameter.name == *name) {
            inputs.insert(name.clone(), value.clone());
        } else if !args.subject.is_given() {
            return Err(CliError::usage(format!(
                "`inputs` has `{name}`, and the task `{task}` has no parameter of that name"
            )));
        }
    }
    let objective = field("objective").map(str::to_owned);
    execute::check_parameters(project, &task, &inputs, objective.as_deref())?;
    Ok(RunSpec {
        task,
        role,
        inputs,
        objective,
        attempts: Vec::new(),
        max_tokens: None,
        max_usd: None,
    })
}

/// Reads the failure patterns in a file.
fn read_patterns(path: &Path) -> Result<Vec<FailurePattern>> {
    let refused = |why: String| CliError::usage(format!("--patterns {}: {why}", path.display()));
    let text = script::read_text(path, "the file of patterns")?;
    let (root, faults) = yaml::parse_tree(&text);
    if !faults.is_empty() {
        return Err(refused("this is not YAML".to_owned()));
    }
    serde_json::from_value(root.to_json()).map_err(|why| refused(why.to_string()))
}

/// Prints the outcome of the tasks, and the repeated failures.
fn print_report(
    runs: &[(String, PipelineState)],
    outcomes: &[OutcomeContext],
    ended: Option<&Obstacle>,
    patterns: Option<Vec<FailurePattern>>,
    cx: &mut Cx,
) -> Exit {
    let complete = runs
        .iter()
        .filter(|(_, state)| state.status() == PipelineStatus::Complete)
        .count();
    cx.print_note(&match runs.len() {
        0 => "no task to run: all tasks that are ready are already complete".to_owned(),
        count => format!("{complete} of {} complete", pluralize(count, "task")),
    });
    let kinds: BTreeSet<&str> = outcomes
        .iter()
        .filter_map(|outcome| Some(outcome.obstacle.as_ref()?.kind.as_str()))
        .collect();
    let twice =
        |kind: &str| FailurePattern::new(kind, PatternLimit::Count(2), PatternScope::Batch, "");
    let patterns = patterns.unwrap_or_else(|| kinds.into_iter().map(twice).collect());
    let analyzer = QualityAnalyzer::new("", patterns, |finding| finding.remediation.clone());
    for found in analyzer.analyze(outcomes) {
        let of = found
            .task
            .map_or_else(String::new, |task| format!(" in {task}"));
        let advice = if found.remediation.is_empty() {
            String::new()
        } else {
            format!("; {}", found.remediation)
        };
        let last = found.notes.first().cloned().unwrap_or_default();
        cx.print_note(&escape_line(&format!(
            "{}{of}: {} times; the last: {last}{advice}",
            found.pattern, found.measure
        )));
    }
    match ended {
        Some(why) => {
            cx.print_note(&escape_line(&format!("the batch ended: {why}")));
            Exit::Inconclusive
        }
        None if complete < runs.len() => Exit::Findings,
        None => Exit::Success,
    }
}

//! The command line of `ctxc run`.

use crate::cli::context::eval::AnswerSource;
use crate::cli::context::lookup::LookupArgs;
use crate::cli::context::subject::SubjectArgs;
use crate::cli::context::trust::TrustHashArgs;
use crate::cli::context::values::{HistoryArgs, ObjectiveArgs};
use crate::cli::shared_args::{DataFormat, OutputArgs};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc run triage --script answers.yaml\n  \
    ctxc run answer --input ticket=@samples/t1.txt --script answers.yaml --explain\n  ctxc run answer --input ticket=@samples/t1.txt --script answers.yaml --json\n  \
    ctxc run triage --script answers.yaml --no-trace\n\n\
    Each agent receives exactly what `ctxc render --node NODE` shows for the same values and results. Answers come from recordings, unless \
    `--answers` or `--script` selects another source. Asking a model, running a script and starting a tool server require permission by `ctxc trust`. \
    The trace of the run is kept outside the project, without keys: JSON lines, whose calls are a recording that `ctxc replay`, `check` and \
    `prompt-cache` can read (`run:ID`).\n\n\
    Exit codes: 0 complete, 1 a stage failed, 2 wrong usage or missing permission, 3 a provider gave no answer or the trace cannot be \
    written, 6 no answer is recorded for a request, 7 blocked: an agent waits for a person or system outside, a loop reached its bound, or the budget is spent.",
    mut_arg("subject", |arg| arg.required_unless_present_any(["role", "resume", "source"])))]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(super) subject: SubjectArgs,
    /// A value of the task: a text, or `@FILE`; write `@@` to begin a text with `@`
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub(super) input: Vec<String>,
    #[command(flatten)]
    pub(super) objective: ObjectiveArgs,
    #[command(flatten)]
    pub(super) history: HistoryArgs,
    #[command(flatten)]
    pub(super) lookup: LookupArgs,
    /// The conversation or run that it belongs to: the fences around untrusted text are derived
    /// from it
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    pub(super) session: String,
    /// Source of the answers [default: scripted with --script; else the recordings of the project's
    /// scenarios]
    #[arg(long, value_name = "SOURCE")]
    pub(super) answers: Option<AnswerSource>,
    /// Scripted answers in YAML or JSON: a list `answers`, each with `reply` or `tool_calls`, and `when` (`node`, `has`, `lacks`)
    #[arg(long, value_name = "FILE")]
    pub(super) script: Option<PathBuf>,
    /// Replay the calls of this recording: `run:ID`, `run:last`, `@NAME`, or a file
    #[arg(long, value_name = "RECORDING")]
    pub(super) recording: Option<String>,
    /// Resume an interrupted run, the last or the named one: calls that were already answered are not made again
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "last")]
    pub(super) resume: Option<String>,
    /// Process the tasks of a source, each in its own run: a YAML file of tasks, issues of Beads (`.jsonl`), `webhook` or `webhook:ADDRESS`.
    /// Complete tasks are not run again
    #[arg(long, value_name = "SOURCE", conflicts_with_all = ["input", "objective", "resume"])]
    pub(super) source: Option<String>,
    /// With --source: start at most this many tasks
    #[arg(long, value_name = "N", requires = "source")]
    pub(super) max_tasks: Option<u64>,
    /// With --source: failure patterns to look for at the end, a list in YAML or JSON [default: any obstacle that occurred twice]
    #[arg(long, value_name = "FILE", requires = "source")]
    pub(super) patterns: Option<PathBuf>,
    /// Show the way that the run took and the reasons: every stage with its model and the omitted
    /// segments of its context, every decision
    #[arg(long)]
    pub(super) explain: bool,
    /// Keep no trace of the run
    #[arg(long, conflicts_with = "resume")]
    pub(super) no_trace: bool,
    /// Stages that run at once [default: 8 if models are asked, else 1]
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<NonZeroUsize>,
    /// Stop asking models once the calls have cost this much, by the prices in ctxc.toml
    #[arg(long, value_name = "USD", value_parser = crate::cli::context::eval::parse_usd)]
    pub(super) budget_usd: Option<f64>,
    /// Stop asking models once this many tokens were sent and received
    #[arg(long, value_name = "N")]
    pub(super) budget_tokens: Option<u64>,
    /// Maximum depth of subtasks that agents request
    #[arg(long, value_name = "N", default_value_t = crate::run::runner::DEFAULT_DEPTH)]
    pub(super) max_depth: u32,
    #[command(flatten)]
    pub(super) trust: TrustHashArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs<DataFormat>,
}

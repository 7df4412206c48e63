//! The command lines of `ctxc gate` and `ctxc baseline`.

use crate::cli::context::eval::parse_usd;
use crate::cli::context::trust::TrustHashArgs;
use crate::cli::shared_args::{CommentFormat, DataFormat, OutputArgs};
use crate::cli::workspace_reach::{PrintedForm, WorkspaceReach};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[command(
    after_help = "Examples:\n  ctxc gate\n  ctxc gate --base main --format markdown > comment.md\n\n\
    The change is everything between the merge base and the current files. Its scenarios are checked against its own expectations and \
    those of the base, using recordings and scripts; no model is asked. The gate fails if a scenario fails, if accepted results are \
    missing or worse, if an agent's context grew by more than `[eval.gate] manifest_tokens`, or if the change contains a relaxation \
    that was not accepted: a removed or changed expectation, a replaced stored request or recorded answer, a finding that no longer counts, \
    a lowered rule or limit, changed accepted results. `ctxc baseline accept --reason` accepts these, and logs them in baselines/LOG.jsonl.\n\n\
    Exit codes: 0 it may be merged, 1 a scenario cannot be read, 2 wrong usage or project file, 3 a scenario could not be run or a baseline was edited by hand, \
    4 it may not be merged, 5 HEAD is the commit of `--base`, so there is nothing to compare, 7 too little is known, or nothing was compared."
)]
pub(crate) struct GateArgs {
    /// The branch that the change will be merged into, or a commit; no tag [default: origin/HEAD, else main, else master]
    #[arg(long, value_name = "REV")]
    pub(super) base: Option<String>,
    /// Decide by the scenarios of this suite alone; may be repeated. Relaxations are still searched
    /// in the whole project
    #[arg(long, value_name = "SUITE")]
    pub(super) suite: Vec<String>,
    /// Hold the results to this baseline, or to those in this folder [default: those of the base]
    #[arg(long, value_name = "PATH")]
    pub(super) baseline: Option<PathBuf>,
    /// Pass although the base does not have this project yet, so that nothing is compared
    #[arg(long)]
    pub(super) new_project: bool,
    /// Decide by these results, written by `ctxc eval --out FILE` [default: those of recordings and scripts]
    #[arg(long, value_name = "FILE")]
    pub(super) candidate: Option<PathBuf>,
    /// Exit with 7 (inconclusive) instead of 0 if a smaller share of the scenarios has answers: 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(super) min_answered: Option<f64>,
    /// Ask the project's models anew if the change contains answers to a request that it changed,
    /// record the new answers, and decide by them: for a job that the author of the change does not
    /// control. `ctxc trust` or --trust-hash has to allow it
    #[arg(long, requires = "budget_usd", conflicts_with = "candidate")]
    pub(super) record: bool,
    /// With --record: stop asking models once the calls have cost this much, by the prices in ctxc.toml
    #[arg(long, value_name = "USD", value_parser = parse_usd, requires = "record")]
    pub(super) budget_usd: Option<f64>,
    /// Write the requests that programs of the change send for scenarios, for --requests of a job
    /// that runs none of these programs
    #[arg(long, value_name = "FILE")]
    pub(super) save_requests: Option<PathBuf>,
    /// Run no program for a request: take the requests that --save-requests wrote
    #[arg(long, value_name = "FILE", conflicts_with = "save_requests")]
    pub(super) requests: Option<PathBuf>,
    /// Do not fail if the project has no scenario; removals by the change are still compared
    #[arg(long)]
    pub(super) allow_empty: bool,
    /// Also compare verdicts with results of another provider or model
    #[arg(long)]
    pub(super) allow_key_change: bool,
    #[command(flatten)]
    pub(super) trust: TrustHashArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs<CommentFormat>,
}

impl GateArgs {
    /// Returns the part of a workspace that the command line is about.
    pub(crate) fn workspace_reach(&self) -> WorkspaceReach {
        if !self.suite.is_empty() {
            return WorkspaceReach::Member("names of suites are those of one member");
        }
        if self.budget_usd.is_some() {
            return WorkspaceReach::Member("a budget is that of one member");
        }
        let files = [
            &self.baseline,
            &self.candidate,
            &self.save_requests,
            &self.requests,
        ];
        if files.into_iter().any(Option::is_some) {
            return WorkspaceReach::Member(
                "results and requests in a file are those of one member",
            );
        }
        let format = self.output.format.result_format();
        let output = self.output.output.as_deref();
        let mut form = PrintedForm::new(format, output);
        if matches!(form, PrintedForm::Document) && matches!(format, CommentFormat::Markdown) {
            form = PrintedForm::Markdown;
        }
        let reports = self.output.format.reports().iter();
        WorkspaceReach::members(
            form,
            reports
                .map(|report| &*report.path)
                .chain(output.filter(|path| path.is_absolute())),
        )
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok();
    share
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "expected a share from 0 to 1, such as 0.8".to_owned())
}

#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "Examples:\n  ctxc baseline accept --reason \"first results\" --by me@example.org\n  ctxc baseline show\n  ctxc baseline log\n\n\
    Accepted results are in baselines/, one file per suite; each acceptance is a line of baselines/LOG.jsonl with who, when, why and \
    what. Commit both: `ctxc gate` reads them from the merge base."
)]
pub(crate) struct BaselineArgs {
    #[command(subcommand)]
    pub(super) verb: BaselineVerb,
}

/// Operations on accepted results.
#[derive(Debug, Subcommand)]
pub(super) enum BaselineVerb {
    /// Accept the current results of all scenarios, and everything that the change loosens
    Accept(AcceptArgs),
    /// Show the accepted results
    Show(OutputArgs<DataFormat>),
    /// Show the log of accepted results: author, content and reason
    Log(OutputArgs<DataFormat>),
    /// Accept the results of another provider or model, if no scenario that passed fails with it
    Migrate(AcceptArgs),
}

/// Options for accepting results.
#[derive(Debug, Args)]
pub(super) struct AcceptArgs {
    /// The reason
    #[arg(long, value_name = "WHY")]
    pub(super) reason: String,
    /// The person who accepts [default: your e-mail address in git]
    #[arg(long, value_name = "WHO")]
    pub(super) by: Option<String>,
    /// The branch that the change will be merged into [default: origin/HEAD, else main, else master]
    #[arg(long, value_name = "REV")]
    pub(super) base: Option<String>,
    /// Accept these results, written by `ctxc eval --out FILE` [default: those of recordings and scripts]
    #[arg(long, value_name = "FILE")]
    pub(super) candidate: Option<PathBuf>,
}

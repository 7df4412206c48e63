//! The command lines of `ctxc label`.

use crate::cli::compaction::RubricArgs;
use crate::cli::context::eval::parse_usd;
use crate::cli::context::trust::TrustHashArgs;
use crate::cli::shared_args::{DataFormat, OutputArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  ctxc label --by me@example.org\n  ctxc label scenarios/billing.yaml --by me@example.org\n  ctxc label --html labels.html\n  ctxc label report\n\n\
    Shows one answer and one criterion at a time, without the score of the judge, and takes your verdict with one key: the score, y or n \
    for a criterion that holds or does not, s to skip, q to stop. Each verdict is added to labels/NAME.jsonl at once; the next call goes \
    on with the rest. Commit the file: the judge counts on a criterion only if it agrees with people, by labels that the base of a change has."
)]
pub(crate) struct LabelArgs {
    #[command(subcommand)]
    pub(super) verb: Option<LabelVerb>,
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

/// Further operations on labels.
#[derive(Debug, Subcommand)]
pub(super) enum LabelVerb {
    Report(ReportArgs),
}

/// Options for giving labels.
#[derive(Debug, Args)]
pub(super) struct AskArgs {
    /// Scenarios, by name, file or folder, or one document of `ctxc compaction probe ask --json` that ends in .json [default: all with a judge]
    #[arg(value_name = "PATH|NAME")]
    pub(super) what: Vec<String>,
    #[command(flatten)]
    pub(super) rubric: RubricArgs,
    /// Only criteria whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub(super) criterion: Option<String>,
    /// The person who labels [default: your e-mail address in git]
    #[arg(long, value_name = "WHO")]
    pub(super) by: Option<String>,
    /// Write a page instead, on which a person without this program can label; it saves a file for labels/
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
}

/// Show how far the judge agrees with people, and on which criteria it is trusted
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc label report\n  ctxc label report --record --budget-usd 1\n  ctxc label report --json\n\n\
    The scores of the current judge on labelled answers are taken from its recorded judgements and kept in labels/judge.jsonl, as are \
    those that --record asks for: each labelled answer with criteria reordered, empty words added, as a list, and twice more as it is. \
    A criterion is trusted if the lower bound of κ is at least 0.6 on the labels that are held out (three of four), the judge passes and \
    fails at least 0.8 of what people do, at least 15 labels are of each verdict, and at most 5 % of its verdicts change in any form of the \
    question (20 of each are needed), at most 5 % of the held-out labels have no score; looks and versions of the prompt make the bound stricter. Disagreements are listed for the labels that are not held \
    out: change the prompt by these.\n\n\
    Exit codes: 0 the report is complete, 2 wrong usage or project file, 3 labels cannot be read, or the judge cannot be asked."
)]
pub(super) struct ReportArgs {
    /// Scenarios, by name, file or folder [default: all with a judge]
    #[arg(value_name = "PATH|NAME")]
    pub(super) what: Vec<String>,
    /// Ask the judge about labelled answers in other forms, which shows how stable its verdicts are; `ctxc trust` or --trust-hash has to allow it
    #[arg(long)]
    pub(super) record: bool,
    /// With --record: stop asking once the calls have cost this much, by the prices in ctxc.toml
    #[arg(long, value_name = "USD", value_parser = parse_usd, requires = "record")]
    pub(super) budget_usd: Option<f64>,
    #[command(flatten)]
    pub(super) trust: TrustHashArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs<DataFormat>,
}

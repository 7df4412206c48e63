//! `ctxc scorecard merge`: merges the scorecards of shards.

use super::args::EvalFormat;
use super::choose::read_scorecard;
use super::page::PageDetails;
use super::run::ScorecardReport;
use super::scorecard_text;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, Result};
use crate::cli::exit::Exit;
use crate::cli::project::Project;
use crate::cli::shared_args::OutputArgs;
use crate::eval::scorecard::merge_scorecards;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc eval --shard 1/1 --out 1.json && ctxc scorecard merge 1.json\n\n\
    Exit codes: 0 merged, whatever the verdicts are, 2 a file is not a scorecard, a part is missing, or they are of different runs."
)]
pub(crate) struct ScorecardArgs {
    #[command(subcommand)]
    what: ScorecardVerb,
}

#[derive(Debug, Subcommand)]
enum ScorecardVerb {
    /// Write the scorecard that one run of all shards would have written, byte for byte
    Merge {
        /// The scorecards, as `ctxc eval --shard I/N --out FILE` writes them
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        output: OutputArgs<EvalFormat>,
    },
}

/// Runs the verb.
pub(crate) fn run_merge(args: &ScorecardArgs, cx: &mut Cx) -> Result<Exit> {
    let ScorecardVerb::Merge { files, output } = &args.what;
    let cards = files
        .iter()
        .map(|path| Ok((path.display().to_string(), read_scorecard(path)?)))
        .collect::<Result<Vec<_>>>()?;
    let card = merge_scorecards(cards).map_err(|why| {
        CliError::usage(why).with_hint("run every shard, with the same templates, ctxc and options")
    })?;
    let stale = Project::load(&cx.options)?.config.eval.stale;
    cx.emit_result(output, |format, cx| match format {
        EvalFormat::Text => scorecard_text::print_cases(&card, cx),
        EvalFormat::Json | EvalFormat::Junit | EvalFormat::Markdown | EvalFormat::Html => {
            ScorecardReport {
                card: &card,
                stale,
                details: &PageDetails::default(),
            }
            .write(format, cx)
        }
    })?;
    Ok(Exit::Success)
}

//! `ctxc history`: the stored results of earlier runs.

use super::place::HistoryPlace;
use super::show::{self, HistoryDocument};
use super::transfer;
use crate::base::fs;
use crate::cli::prelude::*;
use crate::scenario::date;
use crate::store::SqliteHistory;
use crate::store::history::{EvalHistory, HistoryError, RunRecord};
use clap::Subcommand;

const SECONDS_PER_DAY: i64 = 86_400;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc history list\n  ctxc eval && ctxc history show last\n  ctxc history prune --keep 200\n  \
    ctxc eval && ctxc history export runs.jsonl && ctxc history import runs.jsonl\n\n\
    Each `ctxc eval` adds a run: the verdict, tokens, cost and time of every scenario and trial. `ctxc eval --resume` and `--affected` \
    take results from there. It is in your user folder for state, or in the file that `[history] path` in ctxc.toml names. Complete \
    results are kept for the last 50 runs, verdicts and figures for all runs until you prune them.\n\n\
    Exit codes: 0 done, 2 no such run, 3 the history cannot be used."
)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    what: HistoryVerb,
}

#[derive(Debug, Subcommand)]
enum HistoryVerb {
    /// List the runs, the latest last
    List {
        #[command(flatten)]
        output: OutputArgs<DataFormat>,
    },
    /// Show the scenarios of a run
    Show {
        /// The run: its id, the beginning of its id, or `last`
        #[arg(value_name = "RUN")]
        run: String,
        #[command(flatten)]
        output: OutputArgs<DataFormat>,
    },
    /// Delete runs
    Prune(PruneArgs),
    /// Write all runs to a file of JSON lines
    Export {
        /// The file; `-` for standard output
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Add the runs of an exported file; runs that already exist stay unchanged
    Import {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct PruneArgs {
    /// Keep this many of the last runs
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Delete runs that began more than this many days ago
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u32>,
}

/// Shows or changes the history.
pub(crate) fn run_history(args: &HistoryArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?.require_no_errors()?;
    let place = HistoryPlace::for_project(&project.root, &project.config)?;
    let unusable = |error: HistoryError| place.unusable_error(&error);
    if let HistoryVerb::Import { file } = &args.what {
        transfer::import_runs(file, &mut place.open_or_create()?, &place, cx)?;
        return Ok(Exit::Success);
    }
    let mut history = place.open()?;
    let runs = history
        .as_ref()
        .map_or(Ok(Vec::new()), SqliteHistory::load_runs)
        .map_err(unusable)?;
    match &args.what {
        HistoryVerb::List { output } => cx.emit_result(output, |format, cx| match format {
            DataFormat::Json => cx.print_json(&HistoryDocument::new(runs.clone(), Vec::new())),
            DataFormat::Text => show::print_runs(&runs, cx),
        })?,
        HistoryVerb::Show { run, output } => {
            let run = find_run(&runs, run)?.clone();
            let cases = history
                .as_ref()
                .map_or(Ok(Vec::new()), |history| history.load_cases(run.order))
                .map_err(unusable)?;
            let found = HistoryDocument::new(vec![run], cases);
            cx.emit_result(output, |format, cx| match format {
                DataFormat::Json => cx.print_json(&found),
                DataFormat::Text => show::print_runs(&found.runs, cx)
                    .and_then(|()| show::print_cases(&found.cases, cx)),
            })?;
        }
        HistoryVerb::Prune(args) => {
            let old = prunable_runs(&runs, args);
            if let Some(history) = &mut history {
                history.forget_runs(&old).map_err(unusable)?;
            }
            cx.print_note(&format!(
                "{} forgotten, {} kept",
                pluralize(old.len(), "run"),
                runs.len() - old.len()
            ));
        }
        HistoryVerb::Export { file } => {
            transfer::export_runs(file, &runs, history.as_ref(), &place, cx)?;
        }
        HistoryVerb::Import { .. } => {}
    }
    Ok(Exit::Success)
}

/// Returns the order numbers of the runs to prune.
fn prunable_runs(runs: &[RunRecord], args: &PruneArgs) -> Vec<i64> {
    let before = args.older_than.map(|days| {
        date::format_time(fs::timestamp_seconds().saturating_sub(i64::from(days) * SECONDS_PER_DAY))
    });
    let last = args.keep.map_or(0, |keep| runs.len().saturating_sub(keep));
    let is_old = |(at, run): &(usize, &RunRecord)| {
        *at < last || before.as_ref().is_some_and(|before| run.at < *before)
    };
    runs.iter()
        .enumerate()
        .filter(is_old)
        .map(|(_, run)| run.order)
        .collect()
}

/// Returns the run with an id, the beginning of an id, or `last`.
pub(in crate::cli) fn find_run<'r>(runs: &'r [RunRecord], name: &str) -> Result<&'r RunRecord> {
    let listed = "`ctxc history list` lists the runs";
    let mut named = runs.iter().filter(|run| run.id.starts_with(name));
    match (name, named.next(), named.next()) {
        ("last", ..) => runs.last().ok_or_else(|| {
            CliError::usage("no run is kept yet").with_hint("`ctxc eval` makes one")
        }),
        (_, Some(run), None) => Ok(run),
        (_, Some(_), Some(_)) => {
            Err(CliError::usage(format!("several runs begin with `{name}`")).with_hint(listed))
        }
        (_, None, _) => Err(CliError::usage(format!("there is no run `{name}`")).with_hint(listed)),
    }
}

//! `ctxc history`: the stored results of earlier runs.

use super::place::HistoryPlace;
use crate::base::fs;
use crate::cli::prelude::*;
use crate::cli::shared_args::FileMark;
use crate::rules::input::read_fault::describe_io_error;
use crate::scenario::date;
use crate::schema::json::names;
use crate::store::SqliteHistory;
use crate::store::history::{CaseRecord, EvalHistory, HistoryError, RunRecord};
use clap::Subcommand;
use serde::Deserialize;
use std::io;

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
        import_runs(file, &mut place.open_or_create()?, &place, cx)?;
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
            DataFormat::Text => print_runs(&runs, cx),
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
                DataFormat::Text => {
                    print_runs(&found.runs, cx).and_then(|()| print_cases(&found.cases, cx))
                }
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
            export_runs(file, &runs, history.as_ref(), &place, cx)?;
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

/// The stored runs, or one of them with its scenarios: `ctxc history list --json`, `ctxc history
/// show RUN --json`, and a line of the file that `ctxc history export` writes.
#[derive(JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Document")]
pub(crate) struct HistoryDocument {
    /// The version of the format.
    pub(super) schema: String,
    /// The runs, in order.
    pub(super) runs: Vec<RunRecord>,
    /// The scenarios of the requested run, by name; empty if all runs are listed.
    pub(super) cases: Vec<CaseRecord>,
}

impl HistoryDocument {
    pub(super) fn new(runs: Vec<RunRecord>, cases: Vec<CaseRecord>) -> Self {
        Self {
            schema: names::HISTORY.to_owned(),
            runs,
            cases,
        }
    }
}

/// Prints one line for each run.
pub(super) fn print_runs(runs: &[RunRecord], cx: &mut Cx) -> Result<()> {
    for run in runs {
        let RunRecord {
            id,
            at,
            mode,
            planned,
            cases,
            passed,
            finished,
            ..
        } = run;
        let state = if *finished { "" } else { ", not finished" };
        cx.print_line(&format!(
            "{}  {}  {}  {passed} of {cases} passed, {planned} planned{state}",
            escape_line(id),
            escape_line(at),
            escape_line(mode)
        ))?;
    }
    if runs.is_empty() {
        cx.print_line("no run is kept yet")?;
    }
    Ok(())
}

/// Prints one line for each scenario of a run.
pub(super) fn print_cases(cases: &[CaseRecord], cx: &mut Cx) -> Result<()> {
    for case in cases {
        let passed = case
            .trials
            .iter()
            .filter(|trial| trial.verdict == "pass")
            .count();
        let mut parts = vec![format!(
            "  {}  {}",
            escape_line(&case.id),
            escape_line(&case.verdict)
        )];
        if !case.trials.is_empty() {
            let by = case
                .provider
                .as_deref()
                .map_or_else(String::new, |by| format!(" by {}", escape_line(by)));
            parts.push(format!(
                "{passed} of {}{by}",
                pluralize(case.trials.len(), "trial")
            ));
        }
        parts.extend(
            case.mean_tokens()
                .map(|tokens| format!("{tokens:.0} tokens")),
        );
        parts.extend(
            case.median_latency()
                .filter(|_| case.live)
                .map(|latency| format!("{latency:.0} ms")),
        );
        cx.print_line(&parts.join(", "))?;
    }
    Ok(())
}

/// The maximum size of an imported file in bytes.
const MAX_IMPORT_BYTES: u64 = 4 << 30;

/// Writes runs to a file.
pub(super) fn export_runs(
    file: &Path,
    runs: &[RunRecord],
    history: Option<&SqliteHistory>,
    place: &HistoryPlace,
    cx: &mut Cx,
) -> Result<()> {
    let sign = FileMark {
        artifact: "history as JSON lines",
        text: "\"ctxc/history/",
    };
    cx.write_to(Some(file), Some(sign), |cx| {
        for run in runs {
            let cases = history.map_or(Ok(Vec::new()), |history| history.load_cases(run.order));
            let line = HistoryDocument::new(
                vec![run.clone()],
                cases.map_err(|error| place.unusable_error(&error))?,
            );
            cx.print(|out| {
                serde_json::to_writer(&mut *out, &line).map_err(io::Error::from)?;
                out.write_all(b"\n")
            })?;
        }
        Ok(())
    })
}

/// Adds the runs of a file. Runs that already exist stay unchanged, so that a second import adds
/// nothing.
pub(super) fn import_runs(
    file: &Path,
    history: &mut SqliteHistory,
    place: &HistoryPlace,
    cx: &mut Cx,
) -> Result<()> {
    let mut bytes = Vec::new();
    let unread = |error: io::Error| {
        CliError::usage(format!(
            "{} cannot be read: {}",
            file.display(),
            describe_io_error(&error)
        ))
    };
    fs::read_into(file, MAX_IMPORT_BYTES, &mut bytes).map_err(unread)?;
    // Nothing is stored before the whole file was read.
    let mut lines = Vec::new();
    for (number, line) in bytes
        .split(|byte| *byte == b'\n')
        .enumerate()
        .filter(|(_, line)| !line.trim_ascii().is_empty())
    {
        let import_error = |why: String| {
            CliError::new(
                CliErrorKind::Infrastructure,
                format!("{}, line {}: {why}", file.display(), number + 1),
            )
            .with_hint("`ctxc history export` writes such a file; nothing was imported")
        };
        let line: HistoryDocument = serde_json::from_slice(line)
            .map_err(|error| import_error(format!("it is not a run: {error}")))?;
        if line.schema != names::HISTORY {
            return Err(import_error(format!(
                "expected the schema `{}`, found `{}`",
                names::HISTORY,
                line.schema
            )));
        }
        lines.push(line);
    }
    let unusable = |error: HistoryError| place.unusable_error(&error);
    let (mut added, mut known) = (0, 0);
    for HistoryDocument { runs, cases, .. } in lines {
        for run in runs {
            let is_new = history.adopt_run(&run, &cases).map_err(unusable)?;
            *if is_new { &mut added } else { &mut known } += 1;
        }
    }
    cx.print_note(&format!(
        "{} imported, {known} kept already",
        pluralize(added, "run")
    ));
    Ok(())
}

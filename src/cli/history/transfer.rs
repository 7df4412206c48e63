//! The history as JSON lines, one for each run with its scenarios.

use super::place::HistoryPlace;
use super::show::HistoryDocument;
use crate::base::fs;
use crate::cli::args::FileMark;
use crate::cli::prelude::*;
use crate::rules::input::read_fault::describe_io_error;
use crate::schema::json::names;
use crate::store::SqliteHistory;
use crate::store::history::{EvalHistory, HistoryError, RunRecord};
use std::io;

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
    let shown = file.display();
    let unread = |error: io::Error| {
        CliError::usage(format!(
            "{shown} cannot be read: {}",
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
        let wrong = |why: String| {
            CliError::new(
                CliErrorKind::Infrastructure,
                format!("{shown}, line {}: {why}", number + 1),
            )
            .with_hint("`ctxc history export` writes such a file; nothing was imported")
        };
        let line: HistoryDocument = serde_json::from_slice(line)
            .map_err(|error| wrong(format!("it is not a run: {error}")))?;
        if line.schema != names::HISTORY {
            return Err(wrong(format!(
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

//! `ctxc gc`: removes recordings that are older than some days, and workspaces of programs that no
//! longer run.

use super::args::GcArgs;
use crate::base::folders;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::cli::context::run::traces;
use crate::cli::prelude::*;
use crate::record::places::RECORDING_EXTENSION;
use crate::rules::input::read_fault::describe_io_error;
use crate::work::{WORKSPACES_FOLDER, sweep as sweep_workspaces};
use std::io;

/// The default number of days that a recording is kept.
pub(super) const DEFAULT_TTL_DAYS: u32 = 14;
const NANOSECONDS_PER_DAY: i128 = 86_400 * 1_000_000_000;

/// Removes old recordings, traces and workspaces of every project.
pub(crate) fn run_gc(args: &GcArgs, cx: &mut Cx) -> Result<Exit> {
    let mut removed = 0;
    for (_, folder) in folders::data_root()
        .iter()
        .flat_map(|all| fs::list_entries(all))
    {
        removed += remove_old(&folder, args.ttl).map_err(|why| {
            CliError::new(
                CliErrorKind::Infrastructure,
                format!(
                    "a recording in {} cannot be removed: {}",
                    folder.display(),
                    describe_io_error(&why)
                ),
            )
        })?;
    }
    let runs = traces::remove_old(args.ttl).map_err(|why| {
        CliError::new(
            CliErrorKind::Infrastructure,
            format!(
                "the trace of a run cannot be removed: {}",
                describe_io_error(&why)
            ),
        )
    })?;
    let (recordings, traces) = (pluralize(removed, "recording"), pluralize(runs, "trace"));
    cx.print_note(&format!(
        "removed {recordings} and {traces} of runs older than {}",
        pluralize(args.ttl as usize, "day")
    ));
    let mut workspaces = 0;
    for (_, folder) in folders::state_root()
        .iter()
        .flat_map(|states| fs::list_entries(states))
    {
        let swept = sweep_workspaces(&folder.join(WORKSPACES_FOLDER));
        workspaces += swept.map_err(|why| CliError::new(CliErrorKind::Infrastructure, why.note))?;
    }
    if workspaces > 0 {
        cx.print_note(&format!(
            "removed {} of programs that no longer run",
            pluralize(workspaces, "workspace")
        ));
    }
    Ok(Exit::Success)
}

/// Removes old recordings in a folder, and returns their number.
pub(super) fn remove_old(folder: &Path, ttl: u32) -> io::Result<usize> {
    let oldest = fs::now_nanos() - i128::from(ttl) * NANOSECONDS_PER_DAY;
    let mut removed = 0;
    for name in fs::list_names(folder)
        .into_iter()
        .filter(|name| name.ends_with(RECORDING_EXTENSION))
    {
        let file = folder.join(name);
        if !fs::is_link(&file)
            && RealFs
                .stamp(&file)
                .is_ok_and(|stamp| stamp.modified < oldest)
        {
            fs::remove_file(&file)?;
            removed += 1;
        }
    }
    Ok(removed)
}

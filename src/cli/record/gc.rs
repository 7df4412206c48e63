//! `ctxc gc`: removes recordings that are older than some days, and workspaces of programs that no
//! longer run.

use super::args::GcArgs;
use crate::base::folders;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::cli::context::run::traces;
use crate::cli::prelude::*;
use crate::record::places::ENDING;
use crate::rules::input::read_fault::reason;
use crate::work::{WORKSPACES, sweep as sweep_workspaces};
use std::io;

/// The default number of days that a recording is kept.
pub(super) const TTL: u32 = 14;
const DAY: i128 = 86_400 * 1_000_000_000;

/// Removes old recordings, traces and workspaces of every project.
pub(crate) fn gc(args: &GcArgs, cx: &mut Cx) -> Result<Exit> {
    let mut removed = 0;
    for (_, folder) in folders::all_data()
        .iter()
        .flat_map(|all| fs::entries_in(all))
    {
        removed += sweep(&folder, args.ttl).map_err(|why| {
            CliError::new(
                Kind::Infrastructure,
                format!(
                    "a recording in {} cannot be removed: {}",
                    folder.display(),
                    reason(&why)
                ),
            )
        })?;
    }
    let runs = traces::sweep(args.ttl).map_err(|why| {
        CliError::new(
            Kind::Infrastructure,
            format!("the trace of a run cannot be removed: {}", reason(&why)),
        )
    })?;
    let (recordings, traces) = (plural(removed, "recording"), plural(runs, "trace"));
    cx.note(&format!(
        "removed {recordings} and {traces} of runs older than {}",
        plural(args.ttl as usize, "day")
    ));
    let mut workspaces = 0;
    for (_, folder) in folders::states()
        .iter()
        .flat_map(|states| fs::entries_in(states))
    {
        let swept = sweep_workspaces(&folder.join(WORKSPACES));
        workspaces += swept.map_err(|why| CliError::new(Kind::Infrastructure, why.note))?;
    }
    if workspaces > 0 {
        cx.note(&format!(
            "removed {} of programs that no longer run",
            plural(workspaces, "workspace")
        ));
    }
    Ok(Exit::Success)
}

/// Removes old recordings in a folder, and returns their number.
pub(super) fn sweep(folder: &Path, ttl: u32) -> io::Result<usize> {
    let oldest = fs::now() - i128::from(ttl) * DAY;
    let mut removed = 0;
    for name in fs::names_in(folder)
        .into_iter()
        .filter(|name| name.ends_with(ENDING))
    {
        let file = folder.join(name);
        if !fs::is_link(&file)
            && RealFs
                .stamp(&file)
                .is_ok_and(|stamp| stamp.modified < oldest)
        {
            fs::remove(&file)?;
            removed += 1;
        }
    }
    Ok(removed)
}

//! The traces of runs in the user's state folder, and their names: `run:ID`, `run:last`.

use crate::base::folders;
use crate::base::fs::{self, LineFile, Lock, ReadFs, RealFs};
use crate::base::suggest;
use crate::cli::error::{CliError, Kind, Result};
use crate::rules::input::read_fault::reason;
use crate::run::trace::Journal;
use crate::scenario::date;
use std::io;
use std::path::{Path, PathBuf};

/// The extension of traces.
const ENDING: &str = ".jsonl";
/// The extension of their locks.
const LOCK: &str = ".lock";
/// The name of the newest run.
const LAST: &str = "last";
/// The most bytes of a trace that are read.
const LIMIT: u64 = 1 << 30;
const DAY: i128 = 86_400 * 1_000_000_000;

/// Returns the folder of a project's traces; `None` without a state folder.
fn folder(project: &Path) -> Option<PathBuf> {
    Some(folders::state(project)?.join("runs"))
}

/// Returns the runs of a project, the oldest first.
pub(super) fn names(project: &Path) -> Vec<String> {
    let Some(folder) = folder(project) else {
        return Vec::new();
    };
    let names = fs::names_in(&folder).into_iter();
    names
        .filter_map(|name| Some(name.strip_suffix(ENDING)?.to_owned()))
        .collect()
}

/// Begins the trace of a new run, and returns it with the lock of a running run; `None` without a
/// state folder.
pub(super) fn begin(project: &Path) -> Result<Option<(String, LineFile, Option<Lock>)>> {
    let Some(folder) = folder(project) else {
        return Ok(None);
    };
    let unwritten = |why: io::Error| unkept(&why);
    let parent = folder.parent().unwrap_or(&folder);
    folders::make(parent)
        .and_then(|()| folders::make(&folder))
        .map_err(unwritten)?;
    let at = date::time((fs::now() / 1_000_000_000) as i64);
    let micros = fs::now() / 1_000 % 1_000_000;
    let random = fs::random();
    let tail = u16::from_le_bytes([random[0], random[1]]);
    // `20261123-235353-001234-0a1b`: sorted by time.
    let name = format!(
        "{}-{micros:06}-{tail:04x}",
        at.trim_end_matches('Z')
            .replace([':', '-'], "")
            .replace('T', "-")
    );
    let lock = fs::try_lock(&folder.join(format!("{name}.lock"))).map_err(unwritten)?;
    let file = LineFile::create(&folder.join(format!("{name}{ENDING}"))).map_err(unwritten)?;
    Ok(Some((name, file, lock)))
}

fn unkept(why: &io::Error) -> CliError {
    CliError::new(
        Kind::Infrastructure,
        format!("the trace of the run cannot be kept: {}", reason(why)),
    )
    .hint("`--no-trace` runs without one; XDG_STATE_HOME names the folder that it is kept in")
}

/// Reads the trace of an earlier run, by its name or the beginning of it; `last` is the newest.
pub(in crate::cli) fn read(project: &Path, name: &str) -> Result<(String, Journal)> {
    let known = names(project);
    let found = match name {
        LAST => known.last(),
        name => known
            .iter()
            .find(|one| *one == name)
            .or_else(|| known.iter().find(|one| one.starts_with(name))),
    };
    let Some(found) = found.filter(|_| !name.is_empty()) else {
        let error = CliError::usage(format!("there is no run `{name}` of this project"));
        let near = suggest::nearest(name, known.iter().map(String::as_str));
        return Err(error.did_you_mean_or(near, || match known.len() {
            0 => "no run of it was kept yet: `ctxc run` keeps one".to_owned(),
            count => format!(
                "the newest of {count} is `{}`",
                known.last().map_or("", String::as_str)
            ),
        }));
    };
    let path = path(project, found);
    let bytes = RealFs.read(&path, LIMIT).map_err(|why| {
        CliError::new(
            Kind::Infrastructure,
            format!("{}: {}", path.display(), reason(&why)),
        )
    })?;
    let journal = Journal::read(&String::from_utf8_lossy(&bytes));
    let journal = journal.map_err(|why| {
        CliError::new(
            Kind::Infrastructure,
            format!("the trace of run {found} cannot be read: {why}"),
        )
    })?;
    Ok((found.clone(), journal))
}

/// Returns the file of a run's trace.
pub(in crate::cli) fn path(project: &Path, name: &str) -> PathBuf {
    folder(project)
        .unwrap_or_default()
        .join(format!("{name}{ENDING}"))
}

/// Opens the trace of an earlier run to continue it.
pub(super) fn resume(project: &Path, name: &str) -> Result<(LineFile, Option<Lock>)> {
    let path = path(project, name);
    let lock = fs::try_lock(&path.with_extension("lock")).map_err(|why| unkept(&why))?;
    if lock.is_none() {
        return Err(CliError::new(
            Kind::Infrastructure,
            format!("run {name} is still running in another ctxc"),
        ));
    }
    let file = LineFile::open(&path).map_err(|why| unkept(&why))?;
    Ok((file, lock))
}

/// Removes traces older than some days, and locks of interrupted runs; returns the number of
/// removed traces.
pub(in crate::cli) fn sweep(ttl: u32) -> io::Result<usize> {
    let Some(all) = folders::states() else {
        return Ok(0);
    };
    let oldest = fs::now() - i128::from(ttl) * DAY;
    let mut removed = 0;
    for (_, project) in fs::entries_in(&all) {
        let folder = project.join("runs");
        for name in fs::names_in(&folder) {
            let file = folder.join(&name);
            if name.ends_with(LOCK) {
                // A lock that is held belongs to a running run.
                if let Ok(Some(_held)) = fs::try_lock(&file) {
                    fs::remove(&file)?;
                }
            } else if name.ends_with(ENDING)
                && !fs::is_link(&file)
                && RealFs
                    .stamp(&file)
                    .is_ok_and(|stamp| stamp.modified < oldest)
            {
                fs::remove(&file)?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

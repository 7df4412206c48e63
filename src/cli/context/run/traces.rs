//! The traces of runs in the user's state folder, and their names: `run:ID`, `run:last`.

use crate::base::fs::{self, FileLock, LineFile, ReadFs, RealFs};
use crate::base::{folders, suggest};
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::rules::input::read_fault::describe_io_error;
use crate::run::trace::RunJournal;
use crate::scenario::date;
use std::io;
use std::path::{Path, PathBuf};

/// The extension of traces.
const TRACE_EXTENSION: &str = ".jsonl";
/// The extension of their locks.
const LOCK_EXTENSION: &str = ".lock";
/// The name of the newest run.
const LATEST_RUN: &str = "last";
/// The maximum number of bytes of a trace that are read.
const MAX_TRACE_BYTES: u64 = 1 << 30;
const NANOS_PER_DAY: i128 = 86_400 * 1_000_000_000;

/// Returns the folder of a project's traces; `None` without a state folder.
fn trace_folder(project: &Path) -> Option<PathBuf> {
    Some(folders::project_state(project)?.join("runs"))
}

/// Returns the runs of a project, the oldest first.
pub(super) fn run_names(project: &Path) -> Vec<String> {
    let Some(folder) = trace_folder(project) else {
        return Vec::new();
    };
    let names = fs::list_names(&folder).into_iter();
    names
        .filter_map(|name| Some(name.strip_suffix(TRACE_EXTENSION)?.to_owned()))
        .collect()
}

/// Begins the trace of a new run, and returns it with the lock of a running run; `None` without a
/// state folder.
pub(super) fn begin_trace(project: &Path) -> Result<Option<(String, LineFile, Option<FileLock>)>> {
    let Some(folder) = trace_folder(project) else {
        return Ok(None);
    };
    let unwritten = |why: io::Error| write_error(&why);
    let parent = folder.parent().unwrap_or(&folder);
    folders::create_private(parent)
        .and_then(|()| folders::create_private(&folder))
        .map_err(unwritten)?;
    let at = date::format_time((fs::now_nanos() / 1_000_000_000) as i64);
    let micros = fs::now_nanos() / 1_000 % 1_000_000;
    let random = fs::random_bytes();
    let tail = u16::from_le_bytes([random[0], random[1]]);
    // `20261123-235353-001234-0a1b`: sorted by time.
    let name = format!(
        "{}-{micros:06}-{tail:04x}",
        at.trim_end_matches('Z')
            .replace([':', '-'], "")
            .replace('T', "-")
    );
    let lock = fs::try_lock(&folder.join(format!("{name}.lock"))).map_err(unwritten)?;
    let file =
        LineFile::create(&folder.join(format!("{name}{TRACE_EXTENSION}"))).map_err(unwritten)?;
    Ok(Some((name, file, lock)))
}

fn write_error(why: &io::Error) -> CliError {
    CliError::new(
        CliErrorKind::Infrastructure,
        format!(
            "the trace of the run cannot be kept: {}",
            describe_io_error(why)
        ),
    )
    .with_hint("`--no-trace` runs without one; XDG_STATE_HOME names the folder that it is kept in")
}

/// Reads the trace of an earlier run, by its name or the beginning of it; `last` is the newest.
pub(in crate::cli) fn read_run(project: &Path, name: &str) -> Result<(String, RunJournal)> {
    let known = run_names(project);
    let found = match name {
        LATEST_RUN => known.last(),
        name => known
            .iter()
            .find(|one| *one == name)
            .or_else(|| known.iter().find(|one| one.starts_with(name))),
    };
    let Some(found) = found.filter(|_| !name.is_empty()) else {
        let error = CliError::usage(format!("there is no run `{name}` of this project"));
        let near = suggest::nearest_candidate(name, known.iter().map(String::as_str));
        return Err(error.with_suggestion_or(near, || match known.len() {
            0 => "no run of it was kept yet: `ctxc run` keeps one".to_owned(),
            count => format!(
                "the newest of {count} is `{}`",
                known.last().map_or("", String::as_str)
            ),
        }));
    };
    let path = trace_path(project, found);
    let bytes = RealFs.read(&path, MAX_TRACE_BYTES).map_err(|why| {
        CliError::new(
            CliErrorKind::Infrastructure,
            format!("{}: {}", path.display(), describe_io_error(&why)),
        )
    })?;
    let journal = RunJournal::read(&String::from_utf8_lossy(&bytes));
    let journal = journal.map_err(|why| {
        CliError::new(
            CliErrorKind::Infrastructure,
            format!("the trace of run {found} cannot be read: {why}"),
        )
    })?;
    Ok((found.clone(), journal))
}

/// Returns the file of a run's trace.
pub(in crate::cli) fn trace_path(project: &Path, name: &str) -> PathBuf {
    trace_folder(project)
        .unwrap_or_default()
        .join(format!("{name}{TRACE_EXTENSION}"))
}

/// Opens the trace of an earlier run to continue it.
pub(super) fn resume_trace(project: &Path, name: &str) -> Result<(LineFile, Option<FileLock>)> {
    let path = trace_path(project, name);
    let lock = fs::try_lock(&path.with_extension("lock")).map_err(|why| write_error(&why))?;
    if lock.is_none() {
        return Err(CliError::new(
            CliErrorKind::Infrastructure,
            format!("run {name} is still running in another ctxc"),
        ));
    }
    let file = LineFile::open(&path).map_err(|why| write_error(&why))?;
    Ok((file, lock))
}

/// Removes traces older than some days, and locks of interrupted runs; returns the number of
/// removed traces.
pub(in crate::cli) fn remove_old(ttl: u32) -> io::Result<usize> {
    let Some(all) = folders::state_root() else {
        return Ok(0);
    };
    let oldest = fs::now_nanos() - i128::from(ttl) * NANOS_PER_DAY;
    let mut removed = 0;
    for (_, project) in fs::list_entries(&all) {
        let folder = project.join("runs");
        for name in fs::list_names(&folder) {
            let file = folder.join(&name);
            if name.ends_with(LOCK_EXTENSION) {
                // A lock that is held belongs to a running run.
                if let Ok(Some(_held)) = fs::try_lock(&file) {
                    fs::remove_file(&file)?;
                }
            } else if name.ends_with(TRACE_EXTENSION)
                && !fs::is_link(&file)
                && RealFs
                    .stamp(&file)
                    .is_ok_and(|stamp| stamp.modified < oldest)
            {
                fs::remove_file(&file)?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

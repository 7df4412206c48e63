//! Runs the program `git` for worktrees: without a shell, hooks or interactive prompts.

use crate::base::contained_path::describe_io_error;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The extension of the file that contains the repository of a worktree.
pub(super) const REPOSITORY_EXTENSION: &str = ".repository";
/// Variables that would direct git to another repository, as its hooks set them.
const REDIRECTING_VARIABLES: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
];
/// Maximum size in bytes of a file that names a repository.
const MAX_FILE_BYTES: u64 = 1 << 16;

/// The branch of a workspace.
pub(super) fn branch_name(id: &str) -> String {
    ["ctxc/", id].concat()
}

/// Removes the worktree of an id, and its branch if it has no commits of its own. The file `record`
/// contains the path of the repository and the commit that the branch began with.
pub(super) fn remove_worktree(record: &Path, folder: &Path, id: &str) -> Result<(), Obstacle> {
    let mut bytes = Vec::new();
    fs::read_regular(record, MAX_FILE_BYTES, &mut bytes).map_err(|why| {
        workspace_obstacle(format!("{}: {}", record.display(), describe_io_error(&why)))
    })?;
    let text = String::from_utf8_lossy(&bytes);
    let (repository, start) = text.rsplit_once('\n').unwrap_or((&text, ""));
    let repository = PathBuf::from(repository);
    if !repository.is_absolute() || RealFs.canonicalize(&repository).is_err() {
        // The repository is gone, and so is its record of the worktree.
        return Ok(());
    }
    fs::remove_tree(folder).map_err(|why| {
        workspace_obstacle(format!(
            "{} cannot be removed: {}",
            folder.display(),
            describe_io_error(&why)
        ))
    })?;
    run_git(&repository, &["worktree", "prune"])?;
    // A branch with commits stays; one that was never created does not exist.
    let branch = branch_name(id);
    let tip = run_git(
        &repository,
        &[
            "rev-parse",
            "--verify",
            "--quiet",
            &format!("refs/heads/{branch}"),
        ],
    );
    if tip.is_ok_and(|tip| tip.trim_end() == start) {
        run_git(
            &repository,
            &["branch", "--quiet", "--delete", "--force", "--", &branch],
        )?;
    }
    Ok(())
}

/// Settings that override those of the repository: no hooks, no program that watches files, no
/// repository in a folder without `.git`.
const GIT_SETTINGS: [&str; 4] = [
    "core.hooksPath=/dev/null",
    "gc.auto=0",
    "core.fsmonitor=false",
    "safe.bareRepository=explicit",
];

/// Runs git without a shell, hooks or interactive prompts, and returns its output.
pub(super) fn run_git(folder: &Path, arguments: &[&str]) -> Result<String, Obstacle> {
    #[allow(
        clippy::disallowed_methods,
        reason = "git alone knows its repositories; a host asked for its worktrees"
    )]
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(folder)
        .args(GIT_SETTINGS.iter().flat_map(|setting| ["-c", setting]))
        .args(arguments);
    command
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    for name in REDIRECTING_VARIABLES {
        command.env_remove(name);
    }
    let done = command.output().map_err(|why| {
        workspace_obstacle(format!("git cannot be run: {}", describe_io_error(&why)))
    })?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&done.stderr);
    let last_line = stderr.lines().last().unwrap_or("it said nothing");
    Err(workspace_obstacle(format!(
        "`git {}` failed in {}: {last_line}",
        arguments.first().unwrap_or(&""),
        folder.display()
    )))
}

pub(super) const fn workspace_obstacle(note: String) -> Obstacle {
    Obstacle {
        kind: ObstacleKind::Workspace,
        note,
    }
}

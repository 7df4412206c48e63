//! Workspaces: folders of their own, and the rest that a killed program leaves.

use super::program::{child, until};
use ctxc::internals::work::WORKSPACES_FOLDER;
use ctxc::runtime::{GitWorktrees, TemporaryFolders, WorkspaceProvider, sweep};
use pretty_assertions::assert_eq;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MANY: usize = 50;
/// Marks the process as the program that is killed, and gives its folder.
const PART: &str = "CTXC_TEST_WORKSPACES";

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
        .args(arguments);
    let done = command.output().unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout).unwrap()
}

fn repository(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    git(folder, &["init", "--quiet", "--initial-branch", "main"]);
    fs::write(folder.join("a.txt"), "a\n").unwrap();
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message", "a"]);
}

fn acquire_many(worktrees: &GitWorktrees) -> Vec<ctxc::runtime::Workspace> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..MANY)
            .map(|number| scope.spawn(move || worktrees.acquire(&format!("T/{number}")).unwrap()))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

#[test]
fn fifty_worktrees_at_once_are_made_and_removed() {
    let place = tempfile::tempdir().unwrap();
    let (folder, root) = (
        place.path().join("repository"),
        place.path().join("worktrees"),
    );
    repository(&folder);
    let worktrees = GitWorktrees::new(&folder, &root).unwrap();
    let all = acquire_many(&worktrees);
    let paths: BTreeSet<PathBuf> = all
        .iter()
        .map(|workspace| workspace.path().unwrap().to_owned())
        .collect();
    assert_eq!(paths.len(), MANY);
    assert!(
        paths
            .iter()
            .all(|path| fs::read_to_string(path.join("a.txt")).unwrap() == "a\n")
    );
    assert_eq!(sweep(&root).unwrap(), 0, "their program runs");
    // Committed files stay, on a branch; uncommitted ones are removed.
    let first = all[0].path().unwrap().to_owned();
    fs::write(first.join("b.txt"), "b\n").unwrap();
    git(&first, &["add", "--all"]);
    git(&first, &["commit", "--quiet", "--message", "b"]);
    fs::write(all[1].path().unwrap().join("c.txt"), "c\n").unwrap();
    std::thread::scope(|scope| {
        for workspace in all {
            scope.spawn(|| worktrees.release(workspace).unwrap());
        }
    });
    assert_eq!(git(&folder, &["worktree", "list"]).lines().count(), 1);
    let branches = git(
        &folder,
        &["branch", "--list", "ctxc/*", "--format", "%(refname:short)"],
    );
    assert_eq!(
        (branches.lines().count(), branches.starts_with("ctxc/T_0-")),
        (1, true)
    );
    assert_eq!(
        git(&folder, &["show", &format!("{}:b.txt", branches.trim())]),
        "b\n"
    );
    assert_eq!(
        fs::read_dir(&root)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name() != ".gitignore")
            .count(),
        0
    );
}

#[test]
fn what_a_killed_program_leaves_is_removed() {
    if let Some(place) = std::env::var_os(PART) {
        let place = PathBuf::from(place);
        let root = place.join("state/ctxc/project").join(WORKSPACES_FOLDER);
        let worktrees = GitWorktrees::new(&place.join("repository"), &root).unwrap();
        let _held = acquire_many(&worktrees);
        let folders = TemporaryFolders::new(&root);
        let _plain = folders.acquire("plain").unwrap();
        fs::write(place.join("ready"), "").unwrap();
        std::thread::sleep(std::time::Duration::from_mins(10));
    }
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("repository");
    repository(&folder);
    let root = place
        .path()
        .join("state/ctxc/project")
        .join(WORKSPACES_FOLDER);
    let gc = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ctxc"));
        command
            .arg("gc")
            .current_dir(place.path())
            .env("HOME", place.path());
        command
            .env("XDG_STATE_HOME", place.path().join("state"))
            .env("XDG_DATA_HOME", place.path().join("data"));
        let done = command.output().unwrap();
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        String::from_utf8(done.stderr).unwrap()
    };
    let mut killed = child(
        "work::workspaces::what_a_killed_program_leaves_is_removed",
        PART,
        place.path(),
    );
    until("the program", || {
        place.path().join("ready").exists().then_some(())
    });
    assert!(!gc().contains("workspace"), "its program runs");
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(
        git(&folder, &["worktree", "list"]).lines().count(),
        MANY + 1
    );
    // One of them was killed while git made it.
    let half = fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir())
        .unwrap();
    let _ = fs::remove_file(half.join(".git"));
    let said = gc();
    assert!(
        said.contains(&format!(
            "removed {} workspaces of programs that no longer run",
            MANY + 1
        )),
        "{said}"
    );
    assert_eq!(git(&folder, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(git(&folder, &["branch", "--list", "ctxc/*"]), "");
    assert_eq!(
        fs::read_dir(&root)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name() != ".gitignore")
            .count(),
        0
    );
}

#[test]
fn folders_are_empty_and_removed_with_what_is_in_them() {
    let place = tempfile::tempdir().unwrap();
    let folders = TemporaryFolders::new(place.path().join("x"));
    let (first, second) = (
        folders.acquire("../a b").unwrap(),
        folders.acquire("../a b").unwrap(),
    );
    assert_ne!(first.path(), second.path());
    let path = first.path().unwrap().to_owned();
    assert!(
        path.starts_with(place.path().join("x")) && fs::read_dir(&path).unwrap().next().is_none()
    );
    fs::create_dir(path.join("deep")).unwrap();
    fs::write(path.join("deep/file"), "x").unwrap();
    folders.release(first).unwrap();
    assert!(!path.exists() && second.path().unwrap().exists());
    folders.release(second).unwrap();
}

#[test]
fn a_folder_without_a_repository_is_refused_and_a_failed_worktree_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let refused = GitWorktrees::new(place.path(), place.path().join("x")).unwrap_err();
    assert!(
        refused.note.contains("not a git repository"),
        "{}",
        refused.note
    );
    let folder = place.path().join("empty");
    fs::create_dir(&folder).unwrap();
    git(&folder, &["init", "--quiet"]);
    let root = place.path().join("x");
    let worktrees = GitWorktrees::new(&folder, &root).unwrap();
    assert_eq!(
        worktrees.acquire("a").unwrap_err().kind.as_str(),
        "workspace"
    );
    assert_eq!(
        fs::read_dir(&root)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name() != ".gitignore")
            .count(),
        0
    );
}

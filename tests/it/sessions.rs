//! The sessions in the documents are run: each shown output equals the program's output exactly.
//!
//! `<!-- session: NAME -->` above a console block: each line that starts with `$ ` is run by `sh`
//! in a separate folder for each name, in page order. `<!-- file: NAME/PATH -->` above any other
//! block writes that file into the folder first. `<!-- run: NAME COMMAND -->` runs a command there
//! that the page does not show. `CTXC_UPDATE=1 cargo test` writes the program's current output into
//! the page.
//!
//! `<!-- python: NAME -->` is a session that runs Python, which these tests do not require: only
//! `.ci/peers bodies` runs it, and `run` creates its results instead.

use crate::support::fresh::assert_fresh;
use pretty_assertions::assert_eq;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The pages that show sessions.
const PAGES: [&str; 7] = [
    "README.md",
    "docs/AGENTS.md",
    "docs/COMPACTION.md",
    "docs/FORMAT.md",
    "docs/IMPORT.md",
    "docs/PACKAGES.md",
    "docs/tutorial.md",
];

/// Runs one command line and returns the text that a terminal would show.
fn run_line(line: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_ctxc")).parent().unwrap();
    let path = format!(
        "{}:{}",
        program.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("exec 2>&1; {line}")])
        .current_dir(folder)
        .env("PATH", path)
        .env("COLUMNS", "120");
    // The tester's own git settings, such as signatures and hooks, must not affect the output.
    shell
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("REPOSITORY", env!("CARGO_MANIFEST_DIR"));
    // Equal commits, and packages that are fetched anew.
    shell
        .env("GIT_AUTHOR_DATE", "2026-11-28T12:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-11-28T12:00:00Z")
        .env("CTXC_CACHE_DIR", folder.join(".cache"));
    // Permissions given in a session apply only there.
    shell.env(
        "XDG_STATE_HOME",
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("sessions"),
    );
    let output = shell
        .env_remove("CLICOLOR_FORCE")
        .env_remove("FORCE_COLOR")
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns a console block with current output.
fn play_block(block: &str, folder: &Path) -> String {
    let mut out = String::new();
    for line in block.lines().filter(|line| line.starts_with("$ ")) {
        out.push_str(line);
        out.push('\n');
        let output = run_line(&line[2..], folder);
        for line in output.trim_end().lines() {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out
}

/// Returns a page with current sessions; those in Python only if it is available.
fn refresh_page(page: &str, has_python: bool) -> String {
    let mut folders: BTreeMap<&str, TempDir> = BTreeMap::new();
    let mut out = String::new();
    let mut marker = None;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if line.starts_with("```") {
            let block: String = lines
                .by_ref()
                .take_while(|line| *line != "```")
                .flat_map(|line| [line, "\n"])
                .collect();
            let (name, path) = marker.take().unwrap_or_default();
            let folder = folders
                .entry(name)
                .or_insert_with(|| tempfile::tempdir().unwrap())
                .path();
            match path {
                _ if name.is_empty() => out.push_str(&block),
                None => out.push_str(&play_block(&block, folder)),
                Some(path) => {
                    let place = folder.join::<&str>(path);
                    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                    std::fs::write(place, &block).unwrap();
                    out.push_str(&block);
                }
            }
            out.push_str("```\n");
        } else if let Some(mark) = line.strip_suffix(" -->") {
            if let Some(name) = mark.strip_prefix("<!-- session: ") {
                marker = Some((name, None));
            } else if let Some(name) = mark.strip_prefix("<!-- python: ").filter(|_| has_python) {
                marker = Some((name, None));
            } else if let Some(file) = mark.strip_prefix("<!-- file: ") {
                marker = file.split_once('/').map(|(name, path)| (name, Some(path)));
            } else if let Some((name, command)) = mark
                .strip_prefix("<!-- run: ")
                .and_then(|rest| rest.split_once(' '))
            {
                let folder = folders
                    .entry(name)
                    .or_insert_with(|| tempfile::tempdir().unwrap())
                    .path();
                assert_eq!(
                    run_line(&format!("{command} && echo done"), folder),
                    "done\n",
                    "{command}"
                );
            }
        }
    }
    out
}

#[test]
fn every_session_reports_what_it_shows() {
    for path in PAGES {
        let page =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        assert!(page.contains("\n<!-- session: "), "{path} shows no session");
        assert_fresh(path, &refresh_page(&page, false));
    }
}

#[test]
#[ignore = "needs bodies: Python with the library of OpenAI"]
fn bodies_of_the_page_on_agents_are_what_it_shows() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/AGENTS.md")).unwrap();
    // Milliseconds differ from run to run.
    let plain = |page: &str| {
        let lines = page
            .lines()
            .map(|line| match line.split_once(" ms added a call") {
                Some((before, after)) => {
                    format!(
                        "{} ms added a call{after}",
                        before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
                    )
                }
                None => line.to_owned(),
            });
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(plain(&refresh_page(&page, true)), plain(&page));
}

#[test]
fn a_session_is_run_and_not_believed() {
    let page = "Text.\n<!-- run: a mkdir made -->\n<!-- file: a/b.txt -->\n```text\nhello\n```\n<!-- session: a -->\n```console\n$ cat b.txt\nold\n$ ls -d made\nold\n$ echo two >&2; ctxc --nonsense >/dev/null 2>&1 || echo no\n```\n```sh\nnot run\n```\n";
    let now = page
        .replace("$ cat b.txt\nold\n", "$ cat b.txt\nhello\n")
        .replace("made\nold\n", "made\nmade\n")
        .replace("echo no\n```", "echo no\ntwo\nno\n```");
    assert_eq!(refresh_page(page, false), now);
}

//! The client for VS Code as a pipeline makes it: installed from its lock file, checked, tested
//! against this very server, packaged, and inspected.

use pretty_assertions::assert_eq;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The upper bound of the package's size in bytes. A user who opens a folder for the first time
/// waits for it.
const MOST: usize = 200_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/vscode")
}

/// Runs npm and returns its output.
fn npm(args: &[&str]) -> String {
    let mut command = Command::new("npm");
    let command = command
        .args(args)
        .current_dir(folder())
        .env("CTXC", env!("CARGO_BIN_EXE_ctxc"))
        .env("NO_COLOR", "1");
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("npm: {error}"));
    let (said, told) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "npm {args:?}\n{said}\n{told}");
    said.into_owned()
}

/// The names of the files in an archive, sorted: those of its central directory.
fn files(archive: &[u8]) -> Vec<String> {
    let number = |at: usize, length: usize| {
        archive[at..at + length]
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | usize::from(*byte))
    };
    let end = archive
        .windows(4)
        .rposition(|four| four == b"PK\x05\x06")
        .expect("the package is a whole archive");
    let (count, mut at) = (number(end + 10, 2), number(end + 16, 4));
    let mut names: Vec<String> = Vec::new();
    for _ in 0..count {
        assert_eq!(&archive[at..at + 4], b"PK\x01\x02");
        let (name, extra, comment) = (number(at + 28, 2), number(at + 30, 2), number(at + 32, 2));
        names.push(String::from_utf8(archive[at + 46..at + 46 + name].to_vec()).unwrap());
        at += 46 + name + extra + comment;
    }
    names.sort();
    names
}

#[test]
#[ignore = "needs vscode: node and npm"]
fn the_client_is_checked_tested_and_packaged() {
    npm(&["ci", "--ignore-scripts", "--loglevel=error"]);
    npm(&["run", "check"]);
    let output = npm(&["test"]);
    for line in ["# fail 0", "# skipped 0", "ok 1 "] {
        assert!(
            output.lines().any(|own| own.starts_with(line)),
            "no line {line:?} in\n{output}"
        );
    }
    npm(&["run", "package"]);
    let package = std::fs::read(folder().join("ctxc.vsix")).unwrap();
    let expected = [
        "[Content_Types].xml",
        "extension.vsixmanifest",
        "extension/LICENSE.txt",
        "extension/changelog.md",
        "extension/dist/NOTICES.txt",
        "extension/dist/extension.js",
        "extension/package.json",
        "extension/readme.md",
        "extension/syntaxes/double.tmLanguage.json",
        "extension/syntaxes/expression.tmLanguage.json",
        "extension/syntaxes/single.tmLanguage.json",
        "extension/syntaxes/text.tmLanguage.json",
    ];
    assert_eq!(files(&package), expected);
    assert!(
        package.len() <= MOST,
        "the package has {} bytes",
        package.len()
    );
}

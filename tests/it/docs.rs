//! The examples of the guides compile: every XML and TOML block is a whole file of a small project,
//! named by the comment above it, and must give exactly the findings that the comment names.
//!
//! `<!-- example: PROJECT/FILE -->` must give no finding of warning severity or above; `<!--
//! example: PROJECT/FILE gives NAME -->` must give that finding and no other of this severity.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The pages whose every block is checked.
const PAGES: [&str; 2] = ["docs/LANGUAGE.md", "docs/PROJECT.md"];

/// A fenced block with the comment above it.
#[derive(Debug)]
struct FencedBlock<'a> {
    line: usize,
    language: &'a str,
    marker: Option<&'a str>,
    text: String,
}

/// Returns the fenced blocks of a page, in order.
fn fenced_blocks(page: &str) -> Vec<FencedBlock<'_>> {
    let mut found = Vec::new();
    let mut marker = None;
    let mut open: Option<FencedBlock<'_>> = None;
    for (at, line) in page.lines().enumerate() {
        if let Some(mut block) = open.take() {
            if line.trim_end() == "```" {
                found.push(block);
            } else {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
        } else if let Some(language) = line.strip_prefix("```") {
            open = Some(FencedBlock {
                line: at + 1,
                language,
                marker: marker.take(),
                text: String::new(),
            });
        } else if let Some(rest) = line.strip_prefix("<!-- example: ") {
            marker = rest.strip_suffix(" -->");
        } else if !line.trim().is_empty() {
            marker = None;
        }
    }
    assert!(open.is_none(), "a fence is never closed");
    found
}

/// Returns the faults of a page's examples.
fn find_faults(page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut projects: BTreeMap<&str, Vec<(&str, &str, String)>> = BTreeMap::new();
    for block in fenced_blocks(page) {
        // Other files of an example have a marker as well.
        let is_example = matches!(block.language, "xml" | "toml")
            || (block.language == "json" && block.marker.is_some());
        if !is_example {
            continue;
        }
        let Some(marker) = block.marker else {
            faults.push(format!(
                "line {}: a block of {} without `<!-- example: … -->`",
                block.line, block.language
            ));
            continue;
        };
        let (path, gives) = marker.split_once(" gives ").unwrap_or((marker, ""));
        let Some((project, file)) = path.split_once('/') else {
            faults.push(format!("line {}: `{path}` is not PROJECT/FILE", block.line));
            continue;
        };
        projects
            .entry(project)
            .or_default()
            .push((file, gives, block.text));
    }
    for (project, files) in projects {
        faults.extend(check_project(project, &files));
    }
    faults
}

/// Compiles one project of examples and compares its findings with those named on the page.
fn check_project(project: &str, files: &[(&str, &str, String)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut expected = BTreeSet::new();
    for (file, gives, text) in files {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        // The files that an example shows to its agent are created.
        for shown in text
            .split("<path>")
            .skip(1)
            .filter_map(|rest| rest.split_once("</path>"))
        {
            let path = folder.path().join(shown.0);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "shown\n").unwrap();
        }
        if !gives.is_empty() {
            expected.insert(((*file).to_owned(), (*gives).to_owned()));
        }
    }
    let is_workspace = files
        .iter()
        .any(|(_, _, text)| text.contains("[workspace]\n"));
    let member = ["--member", "billing"];
    let output = Command::new(env!("CARGO_BIN_EXE_ctxc"))
        .args(["check", "--format", "json"])
        .args(member.iter().filter(|_| is_workspace))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let Ok(report) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else {
        return vec![format!(
            "{project}: no report: {}",
            String::from_utf8_lossy(&output.stderr)
        )];
    };
    let mut faults = Vec::new();
    for finding in report["diagnostics"].as_array().unwrap() {
        let word = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        if !matches!(word("severity").as_str(), "error" | "warning") {
            continue;
        }
        if !expected.remove(&(word("path"), word("name"))) {
            faults.push(format!(
                "{project}/{}: {}: {}",
                word("path"),
                word("name"),
                word("message")
            ));
        }
    }
    faults.extend(
        expected
            .iter()
            .map(|(file, name)| format!("{project}/{file}: no finding `{name}`")),
    );
    faults
}

fn read_page(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn every_block_of_the_guides_compiles() {
    let faults: Vec<String> = PAGES
        .iter()
        .flat_map(|path| {
            find_faults(&read_page(path))
                .into_iter()
                .map(move |fault| format!("{path}: {fault}"))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let language = read_page("docs/LANGUAGE.md");
    let shown = fenced_blocks(&language)
        .iter()
        .filter(|block| block.language == "xml")
        .count();
    assert!(
        shown >= 25,
        "only {shown} templates found in the guide: does the reader of blocks still work?"
    );
}

#[test]
fn a_bad_block_is_noticed() {
    let fine = "<!-- example: a/t.xml -->\n```xml\n<task type=\"atomic\" name=\"t\">\n<description>d</description>\n</task>\n```\n";
    assert_eq!(find_faults(fine), Vec::<String>::new());
    let unmarked = fine.replace("<!-- example: a/t.xml -->\n", "");
    assert_eq!(
        find_faults(&unmarked),
        ["line 1: a block of xml without `<!-- example: … -->`"]
    );
    let typo = fine.replace("atomic", "atomik");
    assert_eq!(find_faults(&typo).len(), 1, "{:?}", find_faults(&typo));
    let promised = fine.replace("t.xml -->", "t.xml gives no-context -->");
    assert_eq!(find_faults(&promised), ["a/t.xml: no finding `no-context`"]);
}

//! Templates for every cell of the truth table, and for other cases that a schema must distinguish.

use crate::cli::project::Project;
use std::collections::BTreeSet;

/// The text before and behind the settings of each row.
const ROWS: [(&str, &str); 9] = [
    (
        "<task type=\"atomic\"><description>d</description>",
        "</task>",
    ),
    (
        "<task type=\"atomic\" subtype=\"subtask\"><description>d</description>",
        "</task>",
    ),
    (
        "<task type=\"sequential\"><description>d</description>",
        "<steps><task type=\"atomic\"><description>d</description></task></steps></task>",
    ),
    (
        "<task type=\"reduce\"><description>d</description><inputs><input name=\"i\">x</input></inputs>",
        "<inner_task><description>{{current_input}}</description></inner_task><reduction_task><description>{{current_result}}</description></reduction_task></task>",
    ),
    (
        "<task type=\"reduce\"><description>d</description><inputs><input name=\"i\">x</input></inputs><inner_task><description>{{current_input}}</description>",
        "</inner_task><reduction_task><description>{{current_result}}</description></reduction_task></task>",
    ),
    (
        "<task type=\"reduce\"><description>d</description><inputs><input name=\"i\">x</input></inputs><inner_task><description>{{current_input}}</description></inner_task><reduction_task><description>{{current_result}}</description>",
        "</reduction_task></task>",
    ),
    (
        "<task type=\"script\"><description>d</description>",
        "<command>make check</command></task>",
    ),
    (
        "<task type=\"director_evaluator_loop\"><description>d</description>",
        "<director><description>{{evaluation_feedback}}</description></director><evaluator><description>{{director_result}}</description></evaluator></task>",
    ),
    (
        "<task type=\"director_evaluator_loop\"><description>d</description><director><description>{{evaluation_feedback}}</description>",
        "</director><evaluator><description>{{director_result}}</description></evaluator></task>",
    ),
];

/// Heads of tasks that have one of the rows in another notation: no type, older types, subtypes
/// without a row.
const WAYS: [&str; 6] = [
    "<task>",
    "<task type=\"director\">",
    "<task type=\"evaluator\" subtype=\"subtask\">",
    "<task subtype=\"subtask\">",
    "<task type=\"atomic\" subtype=\"standard\">",
    "<task type=\"atomic\" subtype=\"evaluator\">",
];

const WORDS: [(&str, &[&str]); 4] = [
    ("inherit_context", &["", "full", "none", "subset"]),
    ("accumulate_data", &["", "true", "false"]),
    ("accumulation_format", &["", "notes_only", "full_output"]),
    ("fresh_context", &["", "enabled", "disabled"]),
];

/// Every block of settings: 108 of them.
fn blocks() -> Vec<String> {
    let mut blocks = vec![String::new()];
    for (name, words) in WORDS {
        let add = |block: &String, word: &str| {
            if word.is_empty() {
                block.clone()
            } else {
                format!("{block}<{name}>{word}</{name}>")
            }
        };
        blocks = blocks
            .iter()
            .flat_map(|block| words.iter().map(move |word| add(block, word)))
            .collect();
    }
    blocks
        .into_iter()
        .map(|block| {
            if block.is_empty() {
                block
            } else {
                format!("<context_management>{block}</context_management>")
            }
        })
        .collect()
}

/// A project with a file for every cell, and the names of the files.
pub(crate) fn table() -> (Project, Vec<String>) {
    let project = Project::new();
    let (blocks, mut names) = (blocks(), Vec::new());
    assert_eq!(blocks.len(), 108);
    let mut write = |name: String, text: String| {
        project.write_file(&name, text);
        names.push(name);
    };
    for (row, (head, tail)) in ROWS.iter().enumerate() {
        for (cell, block) in blocks.iter().enumerate() {
            write(
                format!("cells/{row}-{cell}.xml"),
                format!("{head}{block}{tail}"),
            );
        }
    }
    for (way, head) in WAYS.iter().enumerate() {
        for (cell, block) in blocks.iter().enumerate() {
            write(
                format!("ways/way-{way}-{cell}.xml"),
                format!("{head}<description>d</description>{block}</task>"),
            );
        }
    }
    for (row, (head, tail)) in ROWS.iter().enumerate() {
        for (cell, (inherit, fresh)) in OLDER.iter().enumerate() {
            let old = format!(
                "<inherit_context>{inherit}</inherit_context><accumulation_format>minimal</accumulation_format>{fresh}"
            );
            write(
                format!("ways/old-{row}-{cell}.xml"),
                format!("{head}<context_management>{old}</context_management>{tail}"),
            );
        }
    }
    (project, names)
}

/// Words of older dialects, with each value of the setting that they must agree with.
const OLDER: [(&str, &str); 6] = [
    ("true", ""),
    ("true", "<fresh_context>enabled</fresh_context>"),
    ("true", "<fresh_context> disabled </fresh_context>"),
    ("false", ""),
    ("false", "<fresh_context>enabled</fresh_context>"),
    ("false", "<fresh_context>disabled</fresh_context>"),
];

/// A project without files.
pub(crate) fn empty() -> Project {
    Project::new()
}

/// The files that the compiler refuses with default lints.
pub(crate) fn refused(project: &Project, paths: &[&str]) -> BTreeSet<String> {
    refused_by(project, paths, &["CTX"])
}

/// The files that it refuses with an error whose code begins with one of these.
pub(crate) fn refused_by(project: &Project, paths: &[&str], codes: &[&str]) -> BTreeSet<String> {
    let json = project.run(&[&["check", "--json"], paths].concat()).json();
    let is_one = |code: &serde_json::Value| {
        codes
            .iter()
            .any(|head| code.as_str().unwrap().starts_with(head))
    };
    let errors = json["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["severity"] == "error");
    errors
        .filter(|finding| is_one(&finding["code"]))
        .map(|finding| finding["path"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_compiler_refuses_exactly_the_cells_that_contradict_themselves() {
    let (project, names) = table();
    let refused = refused(&project, &["cells"]);
    // Rows that inherit by default conflict with fresh context unless `none` is written; the others
    // do if anything is inherited and `disabled` is not written.
    let inherits = [true, false, true, false, true, true, true, false, true];
    let count = inherits
        .iter()
        .map(|inherits| if *inherits { 3 * 9 } else { 2 * 2 * 9 })
        .sum::<usize>();
    assert_eq!((refused.len(), names.len()), (count, 15 * 108 + 9 * 6));
}

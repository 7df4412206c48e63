//! Writes the tests of a prompt as a suite of scenarios.

use super::emit::PromptOrigin;
use super::prompt_model::{ImportedAssertion, ImportedSuite, ImportedValue};
use crate::base::contained_path::relative_path;
use crate::base::json::escape_for_yaml;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The beginning of a suite that was imported from a prompt.
pub const SUITE_ORIGIN_PREFIX: &str = "# Imported by `ctxc import` from ";

/// The text of a suite in `folder`, for the task converted from the prompt of `origin`. The results
/// of `write!` are ignored, since writing to a string cannot fail.
pub fn write_suite(
    suite: &ImportedSuite,
    task: &str,
    folder: &str,
    origin: PromptOrigin<'_>,
) -> String {
    let text = |text: &str| escape_for_yaml(&json!(text));
    let mut out = format!(
        "{SUITE_ORIGIN_PREFIX}{} ({}).\n",
        origin.path.replace('\n', " "),
        origin.format
    );
    let _ = write!(
        out,
        "schema: ctxc/suite/1\nid: {}\ndefaults:\n  task: {}\n  context: {{objective: {}}}\n  expect_context:\n    - nothing_cut: true\n  \
         runs: {}\n  pass_threshold: {}\ncases:\n",
        text(task),
        text(task),
        text(&suite.objective),
        suite.runs,
        suite.runs
    );
    for case in &suite.cases {
        let _ = writeln!(out, "  - id: {}", text(&case.id));
        if let Some(name) = &case.name {
            let _ = writeln!(out, "    name: {}", text(name));
        }
        if let Some(min) = &case.min_score {
            let _ = writeln!(out, "    min_score: {min}");
        }
        if !case.inputs.is_empty() {
            out.push_str("    context:\n      inputs:\n");
        }
        for (name, given) in &case.inputs {
            let value = match given {
                ImportedValue::File(path) => {
                    format!("{{file: {}}}", text(&relative_path(folder, path)))
                }
                // A text that begins with an at sign would be read as a file.
                ImportedValue::Value(Value::String(words)) if words.starts_with('@') => {
                    text(&format!("@{words}"))
                }
                ImportedValue::Value(value) => escape_for_yaml(value),
            };
            let _ = writeln!(out, "        {}: {value}", text(name));
        }
        if !case.expectations.is_empty() {
            out.push_str("    expectations:\n");
        }
        for one in &case.expectations {
            match one {
                ImportedAssertion::Expectation(one) => {
                    for (number, (key, value)) in one.as_object().into_iter().flatten().enumerate()
                    {
                        let _ = writeln!(
                            out,
                            "      {} {key}: {}",
                            if number == 0 { "-" } else { " " },
                            escape_for_yaml(value)
                        );
                    }
                }
                ImportedAssertion::Todo {
                    what,
                    source,
                    weight,
                } => {
                    if !source.is_empty() {
                        let _ = writeln!(out, "      # {source}");
                    }
                    let _ = writeln!(out, "      - todo: {}", text(what));
                    if let Some(weight) = weight {
                        let _ = writeln!(out, "        {weight}");
                    }
                }
            }
        }
    }
    out
}

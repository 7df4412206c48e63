//! The tests of a configuration, inline or in files: their inputs, and their assertions on the
//! answer.

use super::source::{ConfigSource, PROGRAM_EXTENSIONS, file_extension};
use crate::import::front_matter::{self, FrontMatter};
use crate::import::note::ImportNoteKind;
use crate::import::prompt_model::{ImportedAssertion, ImportedPrompt, ImportedValue};
use crate::scenario::csv;
use crate::syntax::yaml::YamlNode;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A test.
#[derive(Clone, Default)]
pub(super) struct PromptfooTest {
    pub(super) path: String,
    pub(super) line: u32,
    pub(super) name: Option<String>,
    /// True for a row of a table.
    is_row: bool,
    pub(super) vars: Vec<(String, ImportedValue)>,
    pub(super) asserts: Vec<PromptfooAssertion>,
    /// Inputs that cannot be converted, so that the test cannot be decided.
    pub(super) lacks: Vec<ImportedAssertion>,
    /// True if its answer is transformed before it is judged.
    pub(super) is_transformed: bool,
    /// The score from which it passes.
    pub(super) threshold: Option<f64>,
}

impl PromptfooTest {
    /// Sets the score from which it passes. One of 0 is none, as in promptfoo.
    fn set_threshold(&mut self, threshold: &Value, line: u32, shared: &mut ImportedPrompt) {
        let share = threshold.as_f64();
        if share.is_some_and(|share| (0.01..=1.0).contains(&share)) {
            self.threshold = share;
        } else if share != Some(0.0) {
            let what = format!("the `threshold` {threshold} of a test");
            let why = "expected a number from 0.01 to 1; here each expectation has to hold";
            shared.add_note(&self.path, line, left_out_note(what, why));
        }
    }
}

/// An assertion and its place.
#[derive(Clone)]
pub(super) struct PromptfooAssertion {
    pub(super) path: String,
    pub(super) line: u32,
    pub(super) json: Value,
}

/// The maximum number of cases from the lists among the inputs of one test.
const MAX_CASES_PER_TEST: usize = 1000;

/// Every test, combined with `defaultTest`.
pub(super) fn read_tests(
    source: &ConfigSource<'_>,
    front: &FrontMatter<'_>,
    known: &BTreeSet<&str>,
    shared: &mut ImportedPrompt,
) -> Vec<PromptfooTest> {
    let default = front
        .root
        .get("defaultTest")
        .map(|node| read_test(source, source.path, front, node, shared))
        .unwrap_or_default();
    let mut tests = Vec::new();
    if let Some(node) = front.root.get("tests") {
        read_list(source, source.path, front, node, shared, &mut tests);
    }
    drop_foreign_tables(&mut tests, known, shared);
    for test in &mut tests {
        let own = std::mem::take(&mut test.vars);
        let is_own = |name: &String| own.iter().any(|(own, _)| own == name);
        test.vars = default
            .vars
            .iter()
            .filter(|(name, _)| !is_own(name))
            .cloned()
            .collect();
        test.vars.extend(own);
        test.asserts.splice(0..0, default.asserts.iter().cloned());
        test.lacks.splice(0..0, default.lacks.iter().cloned());
        test.is_transformed |= default.is_transformed;
        test.threshold = test.threshold.or(default.threshold);
    }
    tests
}

/// The inputs of a test, one set for each combination of its lists; `None` if there are too many.
pub(super) fn expand_lists(
    vars: &[(String, ImportedValue)],
) -> Option<Vec<Vec<(String, ImportedValue)>>> {
    let mut all: Vec<Vec<(String, ImportedValue)>> = vec![Vec::new()];
    for (name, given) in vars {
        let choices: Vec<ImportedValue> = match given {
            ImportedValue::Value(Value::Array(items)) if !items.is_empty() => {
                items.iter().cloned().map(ImportedValue::Value).collect()
            }
            ImportedValue::Value(_) | ImportedValue::File(_) => vec![given.clone()],
        };
        let with = |before: &Vec<(String, ImportedValue)>| {
            let before = before.clone();
            let name = name.clone();
            choices
                .iter()
                .map(move |choice| {
                    before
                        .iter()
                        .cloned()
                        .chain([(name.clone(), choice.clone())])
                        .collect()
                })
                .collect::<Vec<_>>()
        };
        if all.len() * choices.len() > MAX_CASES_PER_TEST {
            return None;
        }
        all = all.iter().flat_map(with).collect();
    }
    Some(all)
}

fn left_out_note(what: String, why: &str) -> ImportNoteKind {
    ImportNoteKind::LeftOut {
        what,
        why: why.to_owned(),
    }
}

/// Reads a list of tests, or a file of them.
fn read_list(
    source: &ConfigSource<'_>,
    path: &str,
    front: &FrontMatter<'_>,
    node: &YamlNode<'_>,
    shared: &mut ImportedPrompt,
    tests: &mut Vec<PromptfooTest>,
) {
    let line = front.line_of(node);
    let items = node
        .items()
        .map_or_else(|| vec![node], |items| items.iter().collect());
    for item in items {
        match item.text() {
            // A file of tests cannot refer to another one.
            Some(name) if path == source.path => read_file(source, name, line, shared, tests),
            Some(name) => shared.add_note(
                path,
                line,
                left_out_note(format!("`{name}`"), "a file of tests names another"),
            ),
            None if item.get("path").is_some() => {
                let why = "a program makes the tests: write them into a file";
                shared.add_note(
                    path,
                    front.line_of(item),
                    left_out_note("tests with a `path`".to_owned(), why),
                );
            }
            None => tests.push(read_test(source, path, front, item, shared)),
        }
    }
}

fn read_file(
    source: &ConfigSource<'_>,
    name: &str,
    line: u32,
    shared: &mut ImportedPrompt,
    tests: &mut Vec<PromptfooTest>,
) {
    let kind = file_extension(name);
    let refuse = |why: &str, shared: &mut ImportedPrompt| {
        shared.add_note(
            source.path,
            line,
            left_out_note(format!("the tests of `{name}`"), why),
        );
    };
    if name.contains('*') {
        return match source.named_by(name) {
            None => refuse(
                "tests are read by a pattern with `*` in the name of a file alone: name each folder",
                shared,
            ),
            Some(names) if names.is_empty() => refuse("no file has such a name", shared),
            Some(names) => names
                .iter()
                .for_each(|name| read_file(source, name, line, shared, tests)),
        };
    }
    if !matches!(kind, "csv" | "yaml" | "yml" | "json" | "jsonl")
        || name.contains("://") && !name.starts_with("file://")
    {
        return refuse(
            "tests are read from `.csv`, `.yaml`, `.json` and `.jsonl`",
            shared,
        );
    }
    let text = match source.read_text(name) {
        Ok(text) => text,
        Err(note) => return shared.add_note(source.path, line, note),
    };
    let place = source.file_path(name);
    if kind == "csv" {
        return read_table(&place, &text, shared, tests);
    }
    // Each line is a value of a list, which keeps the numbers of lines.
    let lines = || {
        text.lines().map(|line| {
            if line.trim().is_empty() {
                line.to_owned()
            } else {
                format!("{line},")
            }
        })
    };
    let text = if kind == "jsonl" {
        format!("[{}]", lines().collect::<Vec<_>>().join("\n"))
    } else {
        text
    };
    let front = front_matter::read_whole(&place, &text, shared);
    read_list(source, &place, &front, &front.root, shared, tests);
}

/// Reads one test, or `defaultTest`.
fn read_test(
    source: &ConfigSource<'_>,
    path: &str,
    front: &FrontMatter<'_>,
    node: &YamlNode<'_>,
    shared: &mut ImportedPrompt,
) -> PromptfooTest {
    let mut test = PromptfooTest {
        path: path.to_owned(),
        line: front.line_of(node),
        ..PromptfooTest::default()
    };
    if node.entries().is_none() {
        shared.add_note(
            path,
            test.line,
            left_out_note(
                format!("a test that is {}", node.kind_name()),
                "expected a mapping with `vars` and `assert`",
            ),
        );
    }
    for entry in node.entries().unwrap_or_default() {
        let line = front.line_of(&entry.value);
        let key = &*entry.key.value;
        match key {
            "description" => test.name = entry.value.text().map(str::to_owned),
            "vars" => read_vars(source, path, line, &entry.value, &mut test, shared),
            "assert" => {
                let items = entry.value.items().unwrap_or_default();
                let assert = |item| PromptfooAssertion {
                    path: path.to_owned(),
                    line: front.line_of(item),
                    json: item.to_json(),
                };
                test.asserts = items.iter().map(assert).collect();
            }
            "metadata" => {}
            "options" => {
                for option in entry.value.entries().unwrap_or_default() {
                    let why = match &*option.key.value {
                        "transform" | "postprocess" => {
                            test.is_transformed = true;
                            "an answer is judged as it was given"
                        }
                        _ => "a scenario has no such option",
                    };
                    shared.add_note(
                        path,
                        front.line_of(&option.value),
                        left_out_note(format!("`options.{}`", option.key.value), why),
                    );
                }
            }
            "threshold" => test.set_threshold(&entry.value.to_json(), line, shared),
            "prompts" | "providers" => {
                let why = "a test becomes a scenario of every prompt that is imported";
                shared.add_note(path, line, left_out_note(format!("`{key}` of a test"), why));
            }
            _ => shared.add_note(
                path,
                line,
                left_out_note(format!("`{key}` of a test"), "nothing here says the same"),
            ),
        }
    }
    test
}

fn read_vars(
    source: &ConfigSource<'_>,
    path: &str,
    line: u32,
    node: &YamlNode<'_>,
    test: &mut PromptfooTest,
    shared: &mut ImportedPrompt,
) {
    let Some(entries) = node.entries() else {
        let why = left_out_note(
            "values from files".to_owned(),
            "write them under `vars`, or as a table of tests",
        );
        test.lacks.push(ImportedAssertion::Todo {
            what: why.to_string(),
            source: String::new(),
            weight: None,
        });
        return shared.add_note(path, line, why);
    };
    for entry in entries {
        let name = entry.key.value.to_string();
        let value = entry.value.to_json();
        let given = match value.as_str() {
            Some(place) if place.starts_with("file://") => match value_from_file(source, place) {
                Ok(given) => given,
                Err(why) => {
                    test.lacks.push(missing_input_todo(&name, &why));
                    shared.add_note(path, line, why);
                    continue;
                }
            },
            Some(words) if words.contains("{{") => {
                let difference =
                    "promptfoo fills other values into it; here it is used as written".to_owned();
                shared.add_note(
                    path,
                    line,
                    ImportNoteKind::Differs {
                        what: format!("the value of `{name}`"),
                        difference,
                    },
                );
                ImportedValue::Value(value)
            }
            _ => ImportedValue::Value(value),
        };
        test.vars.push((name, given));
    }
}

/// The `todo` for an input that cannot be converted.
fn missing_input_todo(name: &str, why: &ImportNoteKind) -> ImportedAssertion {
    ImportedAssertion::Todo {
        what: format!("the input `{name}`: {why}"),
        source: String::new(),
        weight: None,
    }
}

/// The value of an input in a file: data is copied, a text stays in its file.
fn value_from_file(source: &ConfigSource<'_>, name: &str) -> Result<ImportedValue, ImportNoteKind> {
    let refuse = |why: &str| Err(left_out_note(format!("the value `{name}`"), why));
    match file_extension(name) {
        kind if PROGRAM_EXTENSIONS.contains(&kind) => refuse("a program makes it"),
        _ if name.contains('*') => refuse("name each file of it"),
        "json" | "yaml" | "yml" => {
            let text = source.read_text(name)?;
            let mut read = ImportedPrompt::default();
            let value = front_matter::read_whole(name, &text, &mut read)
                .root
                .to_json();
            if read.has_errors() {
                refuse("it is not valid YAML")
            } else {
                Ok(ImportedValue::Value(value))
            }
        }
        _ => source
            .read_text(name)
            .map(|_| ImportedValue::File(source.file_path(name))),
    }
}

/// Reads a table: one test per row, with assertions in the columns `__expected`.
fn read_table(path: &str, csv: &str, shared: &mut ImportedPrompt, tests: &mut Vec<PromptfooTest>) {
    let csv = csv.trim_start_matches('\u{feff}');
    let records = match csv::read_by(csv, csv::delimiter(csv)) {
        Ok(records) => records,
        Err((line, why)) => {
            return shared.add_note(
                path,
                line,
                left_out_note("the rows of this table".to_owned(), why),
            );
        }
    };
    let Some((head, rows)) = records.split_first() else {
        return;
    };
    for name in &head.fields {
        let is_read = name.starts_with("__expected")
            || matches!(name.as_str(), "__description" | "__metric" | "__threshold")
            || name.starts_with("__metadata");
        if name.starts_with("__") && !is_read {
            shared.add_note(
                path,
                head.line,
                left_out_note(format!("the column `{name}`"), "nothing here says the same"),
            );
        }
    }
    for row in rows {
        let mut test = PromptfooTest {
            path: path.to_owned(),
            line: row.line,
            is_row: true,
            ..PromptfooTest::default()
        };
        for (name, value) in head.fields.iter().map(|name| name.trim()).zip(&row.fields) {
            match name {
                "__description" => {
                    test.name = Some(value.clone()).filter(|value| !value.is_empty());
                }
                _ if name.starts_with("__expected") => {
                    let json =
                        (!value.trim().is_empty()).then(|| parse_short_assertion(value.trim()));
                    test.asserts.extend(json.map(|json| PromptfooAssertion {
                        path: path.to_owned(),
                        line: row.line,
                        json,
                    }));
                }
                "__threshold" if !value.trim().is_empty() => {
                    let threshold = value.trim().parse().unwrap_or(Value::Null);
                    test.set_threshold(&threshold, row.line, shared);
                }
                _ if name.starts_with("__") => {}
                _ => test.vars.push((
                    name.to_owned(),
                    ImportedValue::Value(Value::String(value.clone())),
                )),
            }
        }
        tests.push(test);
    }
}

/// Drops the rows of tables without a column that is an input of a prompt, as the columns of one
/// with another separator seem to be.
fn drop_foreign_tables(
    tests: &mut Vec<PromptfooTest>,
    known: &BTreeSet<&str>,
    shared: &mut ImportedPrompt,
) {
    if known.is_empty() {
        return;
    }
    let mut tables: BTreeMap<&str, (bool, &PromptfooTest)> = BTreeMap::new();
    for test in tests.iter().filter(|test| test.is_row) {
        let (is_known, _) = tables.entry(&test.path).or_insert((false, test));
        *is_known |= test.vars.iter().any(|(name, _)| known.contains(&**name));
    }
    let quote = |names: Vec<&str>| {
        names
            .iter()
            .take(6)
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let foreign: BTreeMap<String, String> = tables
        .into_iter()
        .filter(|(_, (is_known, _))| !is_known)
        .map(|(path, (_, test))| {
            let columns = quote(test.vars.iter().map(|(name, _)| &**name).collect());
            let inputs = quote(known.iter().copied().collect());
            let why = format!(
                "no column is an input of the prompt: found {columns}, expected some of {inputs}, separated by `,`, `;` or tabs"
            );
            (path.to_owned(), why)
        })
        .collect();
    for (path, why) in &foreign {
        shared.add_note(path, 1, left_out_note("this table".to_owned(), why));
    }
    tests.retain(|test| !test.is_row || !foreign.contains_key(&test.path));
}

/// Parses an assertion in a field: `contains: x`, `latency(500)`, `fn: …`; a text without a known
/// type means equality.
fn parse_short_assertion(text: &str) -> Value {
    let (head, rest) = text
        .split_once(':')
        .map_or((text, ""), |(head, rest)| (head, rest.trim()));
    let (word, threshold) = match head.split_once('(') {
        Some((word, rest)) => (
            word,
            rest.strip_suffix(')')
                .and_then(|number| number.trim().parse::<f64>().ok()),
        ),
        None => (head, None),
    };
    let word = match word {
        "fn" | "eval" => "javascript",
        "grade" => "llm-rubric",
        "file" => return json!({"type": "javascript", "value": text}),
        word => word,
    };
    if !super::assertion::is_known_type(word) {
        return json!({"type": "equals", "value": text});
    }
    let is_list = word.contains("-all") || word.contains("-any");
    let value = if is_list {
        json!(rest.split(',').map(str::trim).collect::<Vec<_>>())
    } else {
        json!(rest)
    };
    let mut assert = Map::new();
    assert.insert("type".to_owned(), json!(word));
    if !rest.is_empty() {
        assert.insert("value".to_owned(), value);
    }
    if let Some(threshold) = threshold {
        assert.insert("threshold".to_owned(), json!(threshold));
    }
    Value::Object(assert)
}

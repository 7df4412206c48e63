//! Rows of a table as cases. Each becomes a tree like a written case, so that the same checks
//! apply. Its places are those of `cases_from`, and its faults contain the row.

use super::csv;
use super::scenario_fault::CaseTableRow;
use crate::base::span::{Span, Spanned};
use crate::base::suggest::nearest_candidate;
use crate::syntax::yaml::{self, YamlEntry, YamlNode, YamlValue};
use std::borrow::Cow;

/// The maximum number of rows of one table: each takes about seven kilobytes while it is judged.
const MAX_ROWS: usize = 20_000;

/// Columns that are keys of the case; every other one is an input.
pub(super) const CASE_COLUMNS: [&str; 11] = [
    "id",
    "name",
    "description",
    "role",
    "task",
    "node",
    "reviewed",
    "runs",
    "pass_threshold",
    "min_score",
    "baseline_config_hash",
];
/// Columns that are keys of its context.
pub(super) const CONTEXT_COLUMNS: [&str; 3] = ["objective", "task_id", "risk_level"];
/// Columns that are expectations on the answer.
pub(super) const EXPECTATION_COLUMNS: [&str; 3] = ["contains", "absent", "exact"];
/// The column of a list of words.
pub(super) const TAGS: &str = "tags";

/// A row as a tree, with the faults of its text.
pub(super) struct ParsedCaseRow {
    pub(super) row: CaseTableRow,
    pub(super) node: YamlNode<'static>,
    pub(super) faults: Vec<yaml::YamlFault>,
}

/// The rows of a table, and the faults of lines that are not rows.
pub(super) struct CaseTable {
    pub(super) rows: Vec<ParsedCaseRow>,
    pub(super) faults: Vec<String>,
}

/// Reads a table.
///
/// # Errors
/// The reason why the text is not a table.
pub(super) fn read_table(path: &str, text: &str, place: Span) -> Result<CaseTable, String> {
    let is = |ending: &str| {
        path.rsplit('.')
            .next()
            .is_some_and(|found| found.eq_ignore_ascii_case(ending))
    };
    let read = if is("csv") {
        read_csv(path, text, place)?
    } else if is("jsonl") || is("ndjson") {
        CaseTable {
            rows: read_json_lines(path, text, place),
            faults: Vec::new(),
        }
    } else {
        return Err("its name ends in neither `.csv` nor `.jsonl`".to_owned());
    };
    if read.rows.len() > MAX_ROWS {
        return Err(format!(
            "it has {} rows; the limit is {MAX_ROWS}",
            read.rows.len()
        ));
    }
    if read.rows.is_empty() && read.faults.is_empty() {
        return Err("it has no row".to_owned());
    }
    Ok(read)
}

fn read_json_lines(path: &str, text: &str, place: Span) -> Vec<ParsedCaseRow> {
    let parse_line = |(at, line): (usize, &str)| {
        let (node, faults) = yaml::parse_tree(line);
        ParsedCaseRow {
            row: CaseTableRow {
                path: path.to_owned(),
                line: at as u32 + 1,
            },
            node: relocate_tree(&node, place),
            faults,
        }
    };
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(parse_line)
        .collect()
}

/// Copies a tree, with every node at one place.
fn relocate_tree(node: &YamlNode<'_>, place: Span) -> YamlNode<'static> {
    let value = match &node.value {
        YamlValue::Null => YamlValue::Null,
        YamlValue::Bool(value) => YamlValue::Bool(*value),
        YamlValue::Number(number) => YamlValue::Number(number.clone()),
        YamlValue::Text(text) => YamlValue::Text(Cow::Owned(text.as_ref().to_owned())),
        YamlValue::List(items) => YamlValue::List(
            items
                .iter()
                .map(|item| relocate_tree(item, place))
                .collect(),
        ),
        YamlValue::Map(entries) => YamlValue::Map(
            entries
                .iter()
                .map(|entry| {
                    new_entry(
                        entry.key.value.as_ref(),
                        relocate_tree(&entry.value, place),
                        place,
                    )
                })
                .collect(),
        ),
    };
    let tag = node
        .tag
        .as_ref()
        .map(|tag| Box::new(Spanned::new(tag.value.clone(), place)));
    YamlNode {
        value,
        span: place,
        tag,
    }
}

fn new_entry(key: &str, value: YamlNode<'static>, place: Span) -> YamlEntry<'static> {
    YamlEntry {
        key: Spanned::new(Cow::Owned(key.to_owned()), place),
        value,
    }
}

fn read_csv(path: &str, text: &str, place: Span) -> Result<CaseTable, String> {
    let mut records = csv::parse_records(text)
        .map_err(|(line, why)| format!("line {line}: {why}"))?
        .into_iter();
    let Some(head) = records.next() else {
        return Err("it has no first line with the names of its columns".to_owned());
    };
    let mut names: Vec<&str> = head.fields.iter().map(|name| name.trim()).collect();
    names.sort_unstable();
    if let Some(twice) = names
        .windows(2)
        .find_map(|two| (two.first() == two.last()).then(|| two.first()).flatten())
    {
        return Err(format!("two columns are called `{twice}`"));
    }
    if !names.contains(&"id") {
        let near = nearest_candidate("id", names.iter().copied())
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(format!("its first line has no column `id`{near}"));
    }
    let mut read = CaseTable {
        rows: Vec::new(),
        faults: Vec::new(),
    };
    for record in records {
        if record.fields.len() != head.fields.len() {
            let has = record.fields.len();
            let wants = head.fields.len();
            let fields = if has == 1 { "field" } else { "fields" };
            read.faults.push(format!(
                "line {} has {has} {fields}, but the first line has {wants} columns",
                record.line
            ));
            continue;
        }
        let fields = head
            .fields
            .iter()
            .map(|name| name.trim())
            .zip(&record.fields);
        let row = CaseTableRow {
            path: path.to_owned(),
            line: record.line,
        };
        read.rows.push(ParsedCaseRow {
            row,
            node: case_tree(fields, place),
            faults: Vec::new(),
        });
    }
    Ok(read)
}

/// Converts a record to the tree of a case. Empty fields are skipped.
fn case_tree<'f>(
    fields: impl Iterator<Item = (&'f str, &'f String)>,
    place: Span,
) -> YamlNode<'static> {
    let node = |value| YamlNode {
        value,
        span: place,
        tag: None,
    };
    let text = |text: &str| node(YamlValue::Text(Cow::Owned(text.to_owned())));
    let mut own = Vec::new();
    let mut context = Vec::new();
    let mut inputs = Vec::new();
    let mut expected = Vec::new();
    for (name, value) in fields.filter(|(_, value)| !value.is_empty()) {
        match name {
            "runs" | "pass_threshold" | "min_score" => {
                let number = serde_json::from_str(value.trim())
                    .map_or_else(|_| text(value), |number| node(YamlValue::Number(number)));
                own.push(new_entry(name, number, place));
            }
            TAGS => {
                let words = value.split([',', ';', ' ']).filter(|word| !word.is_empty());
                own.push(new_entry(
                    name,
                    node(YamlValue::List(words.map(text).collect())),
                    place,
                ));
            }
            _ if CASE_COLUMNS.contains(&name) => own.push(new_entry(name, text(value), place)),
            _ if CONTEXT_COLUMNS.contains(&name) => {
                context.push(new_entry(name, text(value), place));
            }
            _ if EXPECTATION_COLUMNS.contains(&name) => {
                expected.push(node(YamlValue::Map(vec![new_entry(
                    name,
                    text(value),
                    place,
                )])));
            }
            _ => inputs.push(new_entry(
                name.strip_prefix("inputs.").unwrap_or(name),
                text(value),
                place,
            )),
        }
    }
    if !inputs.is_empty() {
        context.push(new_entry("inputs", node(YamlValue::Map(inputs)), place));
    }
    if !context.is_empty() {
        own.push(new_entry("context", node(YamlValue::Map(context)), place));
    }
    if !expected.is_empty() {
        own.push(new_entry(
            "expectations",
            node(YamlValue::List(expected)),
            place,
        ));
    }
    node(YamlValue::Map(own))
}

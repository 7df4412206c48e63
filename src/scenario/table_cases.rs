//! Rows of a table as cases. Each becomes a tree like a written case, so that the same checks
//! apply. Its places are those of `cases_from`, and its faults contain the row.

use super::csv;
use super::fault::Row;
use crate::base::span::{Span, Spanned};
use crate::base::suggest::nearest;
use crate::syntax::yaml::{self, Entry, Node, Value};
use std::borrow::Cow;

/// The maximum number of rows of one table: each takes about seven kilobytes while it is judged.
const ROWS: usize = 20_000;

/// Columns that are keys of the case; every other one is an input.
pub(super) const KEYS: [&str; 10] = [
    "id",
    "name",
    "description",
    "role",
    "task",
    "node",
    "reviewed",
    "runs",
    "pass_threshold",
    "baseline_config_hash",
];
/// Columns that are keys of its context.
pub(super) const CONTEXT: [&str; 3] = ["objective", "task_id", "risk_level"];
/// Columns that are expectations on the answer.
pub(super) const EXPECTED: [&str; 3] = ["contains", "absent", "exact"];
/// The column of a list of words.
pub(super) const TAGS: &str = "tags";

/// A row as a tree, with the faults of its text.
pub(super) struct Made {
    pub(super) row: Row,
    pub(super) node: Node<'static>,
    pub(super) faults: Vec<yaml::Fault>,
}

/// The rows of a table, and the faults of lines that are not rows.
pub(super) struct Read {
    pub(super) rows: Vec<Made>,
    pub(super) faults: Vec<String>,
}

/// Reads a table.
///
/// # Errors
/// The reason why the text is not a table.
pub(super) fn read(path: &str, text: &str, place: Span) -> Result<Read, String> {
    let is = |ending: &str| {
        path.rsplit('.')
            .next()
            .is_some_and(|found| found.eq_ignore_ascii_case(ending))
    };
    let read = if is("csv") {
        records(path, text, place)?
    } else if is("jsonl") || is("ndjson") {
        Read {
            rows: lines(path, text, place),
            faults: Vec::new(),
        }
    } else {
        return Err("its name ends in neither `.csv` nor `.jsonl`".to_owned());
    };
    if read.rows.len() > ROWS {
        return Err(format!(
            "it has {} rows; the limit is {ROWS}",
            read.rows.len()
        ));
    }
    if read.rows.is_empty() && read.faults.is_empty() {
        return Err("it has no row".to_owned());
    }
    Ok(read)
}

fn lines(path: &str, text: &str, place: Span) -> Vec<Made> {
    let made = |(at, line): (usize, &str)| {
        let (node, faults) = yaml::read(line);
        Made {
            row: Row {
                path: path.to_owned(),
                line: at as u32 + 1,
            },
            node: moved(&node, place),
            faults,
        }
    };
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(made)
        .collect()
}

/// Copies a tree, with every node at one place.
fn moved(node: &Node<'_>, place: Span) -> Node<'static> {
    let value = match &node.value {
        Value::Null => Value::Null,
        Value::Bool(value) => Value::Bool(*value),
        Value::Number(number) => Value::Number(number.clone()),
        Value::Text(text) => Value::Text(Cow::Owned(text.as_ref().to_owned())),
        Value::List(items) => Value::List(items.iter().map(|item| moved(item, place)).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|entry| {
                    self::entry(entry.key.value.as_ref(), moved(&entry.value, place), place)
                })
                .collect(),
        ),
    };
    let tag = node
        .tag
        .as_ref()
        .map(|tag| Box::new(Spanned::new(tag.value.clone(), place)));
    Node {
        value,
        span: place,
        tag,
    }
}

fn entry(key: &str, value: Node<'static>, place: Span) -> Entry<'static> {
    Entry {
        key: Spanned::new(Cow::Owned(key.to_owned()), place),
        value,
    }
}

fn records(path: &str, text: &str, place: Span) -> Result<Read, String> {
    let mut records = csv::read(text)
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
        let near = nearest("id", names.iter().copied())
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(format!("its first line has no column `id`{near}"));
    }
    let mut read = Read {
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
        let row = Row {
            path: path.to_owned(),
            line: record.line,
        };
        read.rows.push(Made {
            row,
            node: case(fields, place),
            faults: Vec::new(),
        });
    }
    Ok(read)
}

/// Converts a record to the tree of a case. Empty fields are skipped.
fn case<'f>(fields: impl Iterator<Item = (&'f str, &'f String)>, place: Span) -> Node<'static> {
    let node = |value| Node {
        value,
        span: place,
        tag: None,
    };
    let text = |text: &str| node(Value::Text(Cow::Owned(text.to_owned())));
    let mut own = Vec::new();
    let mut context = Vec::new();
    let mut inputs = Vec::new();
    let mut expected = Vec::new();
    for (name, value) in fields.filter(|(_, value)| !value.is_empty()) {
        match name {
            "runs" | "pass_threshold" => {
                let number = value
                    .trim()
                    .parse::<u64>()
                    .map_or_else(|_| text(value), |number| node(Value::Number(number.into())));
                own.push(entry(name, number, place));
            }
            TAGS => {
                let words = value.split([',', ';', ' ']).filter(|word| !word.is_empty());
                own.push(entry(
                    name,
                    node(Value::List(words.map(text).collect())),
                    place,
                ));
            }
            _ if KEYS.contains(&name) => own.push(entry(name, text(value), place)),
            _ if CONTEXT.contains(&name) => context.push(entry(name, text(value), place)),
            _ if EXPECTED.contains(&name) => {
                expected.push(node(Value::Map(vec![entry(name, text(value), place)])));
            }
            _ => inputs.push(entry(
                name.strip_prefix("inputs.").unwrap_or(name),
                text(value),
                place,
            )),
        }
    }
    if !inputs.is_empty() {
        context.push(entry("inputs", node(Value::Map(inputs)), place));
    }
    if !context.is_empty() {
        own.push(entry("context", node(Value::Map(context)), place));
    }
    if !expected.is_empty() {
        own.push(entry("expectations", node(Value::List(expected)), place));
    }
    node(Value::Map(own))
}

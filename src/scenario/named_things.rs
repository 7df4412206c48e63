//! Finds the names and paths in a scenario by its key tables. Renames of a thing change only the
//! places found here.

use super::case_tables::{CASE_COLUMNS, CONTEXT_COLUMNS, EXPECTATION_COLUMNS, TAGS};
use super::csv;
use super::keys::{CASE_TABLE, SCENARIO_TABLE, SUITE_TABLE};
use super::read::is_suite;
use super::request_source::split_call_number;
use super::table::{NamedThingKind, ScenarioKey, ScenarioShape, ScenarioTable};
use super::values::{FrozenValue, file_reference, read_frozen};
use crate::base::fix::Edit;
use crate::base::span::{Span, Spanned};
use crate::syntax::yaml::{self, YamlNode, YamlValue};

/// A text of a file that names a thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedThing {
    /// The kind of thing.
    pub thing: NamedThingKind,
    /// The text, without the `@` before a path.
    pub value: String,
    /// The place of the whole text, with its quotes.
    pub span: Span,
}

impl NamedThing {
    /// Returns the place of a part of the value; `None` if the part is written with escapes.
    pub fn part_span(&self, text: &str, part: &str) -> Option<Span> {
        let at = self
            .span
            .slice(text)
            .rfind(part)
            .filter(|_| !part.is_empty())?;
        Some(Span::from_offsets(
            self.span.start as usize + at,
            self.span.start as usize + at + part.len(),
        ))
    }

    /// Replaces a part of the value with a new text, quoted if `is_plain` rejects the unquoted
    /// text.
    pub fn edit(
        &self,
        text: &str,
        part: &str,
        new: &str,
        is_plain: fn(&str) -> bool,
    ) -> Option<Edit> {
        edit(text, self.span, self.part_span(text, part)?, new, is_plain)
    }
}

/// Writes another word for a part of a text that may have quotes; a text without gets them where
/// `is_plain` refuses it.
pub fn edit(
    text: &str,
    quoted: Span,
    part: Span,
    new: &str,
    is_plain: fn(&str) -> bool,
) -> Option<Edit> {
    let before = text.get(..part.start as usize)?;
    let escaped = serde_json::to_string(new).unwrap_or_default();
    let escaped = escaped.get(1..escaped.len() - 1).unwrap_or_default();
    let has_quote = |quote: char| quoted.slice(text).starts_with(quote) || before.ends_with(quote);
    if has_quote('"') {
        return Some(Edit::replace(part, escaped));
    }
    if has_quote('\'') {
        return Some(Edit::replace(part, new.replace('\'', "''")));
    }
    let head = text.get(quoted.start as usize..part.start as usize)?;
    let tail = text.get(part.end as usize..quoted.end as usize)?;
    // The lines of a block need no quotes.
    let is_plain = head.contains('\n') || is_plain(&format!("{head}{new}{tail}"));
    Some(if is_plain {
        Edit::replace(part, new)
    } else {
        Edit::replace(quoted, format!("\"{head}{escaped}{tail}\""))
    })
}

/// The test by which a text needs no quotes in a file, by its path.
pub fn plain_in(path: &str) -> fn(&str) -> bool {
    let ending = path.rsplit('.').next().unwrap_or_default();
    if ending.eq_ignore_ascii_case("csv") {
        is_plain_cell
    } else if ending.eq_ignore_ascii_case("toml") {
        is_bare_key
    } else {
        is_plain
    }
}

/// Returns true if a text needs no quotes as a key in TOML; as a value it always needs them.
fn is_bare_key(key: &str) -> bool {
    !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

/// Returns true if a text needs no quotes in YAML.
fn is_plain(text: &str) -> bool {
    let word = text.trim_start_matches("../");
    let is_other = ["true", "false", "null", "yes", "no", "on", "off"]
        .contains(&word.to_ascii_lowercase().as_str());
    word.starts_with(|c: char| c.is_alphabetic() || "_/".contains(c))
        && word
            .chars()
            .all(|c| c.is_alphanumeric() || "_-./#:@".contains(c))
        && !word.ends_with(':')
        && !is_other
}

/// Returns true if a text needs no quotes in a table of columns.
fn is_plain_cell(text: &str) -> bool {
    !text.contains([',', '"', '\n', '\r'])
}

/// The names in a table of cases: those of its columns, then those of each row.
pub fn named_in_table(path: &str, text: &str) -> Vec<Vec<NamedThing>> {
    let mut groups = vec![Vec::new()];
    if !path.to_ascii_lowercase().ends_with(".csv") {
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let mut found = Vec::new();
            collect_from_members(&CASE_TABLE, &yaml::parse_tree(line).0, &mut found);
            let place = |span: Span| Span::new(span.start + start, span.end + start);
            groups.push(
                found
                    .into_iter()
                    .map(|own| NamedThing {
                        span: place(own.span),
                        ..own
                    })
                    .collect(),
            );
            start += line.len() as u32;
        }
        return groups;
    }
    let mut records = csv::parse_records(text).unwrap_or_default().into_iter();
    let Some(head) = records.next() else {
        return groups;
    };
    let columns: Vec<&str> = head.fields.iter().map(|column| column.trim()).collect();
    let is_input = |column: &str| {
        column != TAGS
            && !CASE_COLUMNS.contains(&column)
            && ![CONTEXT_COLUMNS, EXPECTATION_COLUMNS]
                .concat()
                .contains(&column)
    };
    let inputs = columns
        .iter()
        .zip(&head.spans)
        .filter(|(column, _)| is_input(column));
    let input = |(column, span): (&&str, &Span)| NamedThing {
        thing: NamedThingKind::Parameter,
        value: column.strip_prefix("inputs.").unwrap_or(column).to_owned(),
        span: *span,
    };
    groups = vec![inputs.map(input).collect()];
    groups.extend(records.map(|record| {
        let cells = columns.iter().zip(record.fields).zip(record.spans);
        let cell = |((column, value), span): ((&&str, String), Span)| {
            let (thing, value) = match value.strip_prefix('@') {
                Some(path) if is_input(column) => (NamedThingKind::SiblingFile, path.to_owned()),
                _ => (CASE_TABLE.key(column)?.names, value),
            };
            (thing != NamedThingKind::PlainText && !value.is_empty()).then_some(NamedThing {
                thing,
                value,
                span,
            })
        };
        cells.filter_map(cell).collect()
    }));
    groups
}

/// The names and paths of a scenario: those of a suite outside of its cases, then those of each
/// case.
pub fn find_named_things(text: &str) -> Vec<Vec<NamedThing>> {
    let (root, _) = yaml::parse_tree(text);
    let mut groups = vec![Vec::new()];
    let table = if is_suite(&root) {
        &SUITE_TABLE
    } else {
        &SCENARIO_TABLE
    };
    for entry in root.entries().unwrap_or_default() {
        match (table.key(&entry.key.value), entry.value.items()) {
            (Some(key), Some(cases)) if key.name == "cases" => {
                groups.extend(cases.iter().map(|case| {
                    let mut found = Vec::new();
                    collect_named_things(key.shape, key, case, &mut found);
                    found
                }));
            }
            (Some(key), _) => groups
                .first_mut()
                .into_iter()
                .for_each(|found| collect_named_things(key.shape, key, &entry.value, found)),
            (None, _) => {}
        }
    }
    groups
}

fn collect_named_things(
    shape: ScenarioShape,
    key: &ScenarioKey,
    node: &YamlNode<'_>,
    found: &mut Vec<NamedThing>,
) {
    if let Some(file) = file_path(shape, node) {
        return found.push(NamedThing {
            thing: NamedThingKind::SiblingFile,
            value: file.value.to_owned(),
            span: file.span,
        });
    }
    match (&node.value, shape) {
        (YamlValue::Text(text), _) if key.names != NamedThingKind::PlainText => {
            let value = if key.names == NamedThingKind::SiblingFile {
                split_call_number(text).0
            } else {
                text
            };
            found.push(NamedThing {
                thing: key.names,
                value: value.to_owned(),
                span: node.span,
            });
        }
        (
            YamlValue::List(items),
            ScenarioShape::List(inner, _) | ScenarioShape::Or(&ScenarioShape::List(inner, _), _),
        ) => {
            for item in items {
                collect_named_things(*inner, key, item, found);
            }
        }
        (YamlValue::List(items), _) => {
            for item in items.iter().filter(|item| item.entries().is_some()) {
                collect_named_things(shape, key, item, found);
            }
        }
        (YamlValue::Map(entries), ScenarioShape::Map(inner)) => {
            for entry in entries {
                if key.keyed_by != NamedThingKind::PlainText {
                    found.push(NamedThing {
                        thing: key.keyed_by,
                        value: entry.key.value.to_string(),
                        span: entry.key.span,
                    });
                }
                collect_named_things(*inner, key, &entry.value, found);
            }
        }
        (YamlValue::Map(entries), ScenarioShape::Pairs(_))
            if file_reference(node).is_none() && node.get("id").is_none() =>
        {
            for entry in entries {
                collect_named_things(ScenarioShape::Content, key, &entry.value, found);
            }
        }
        (YamlValue::Map(_), ScenarioShape::Setting) => {
            let agent = node
                .get("node")
                .and_then(|agent| Some((agent.text()?, agent.span)));
            found.extend(agent.map(|(name, span)| NamedThing {
                thing: NamedThingKind::Node,
                value: name.to_owned(),
                span,
            }));
        }
        (YamlValue::Map(_), _) => shape
            .inner_table()
            .into_iter()
            .for_each(|table| collect_from_members(table, node, found)),
        (YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Text(_), _) => {}
    }
}

fn collect_from_members(table: &ScenarioTable, node: &YamlNode<'_>, found: &mut Vec<NamedThing>) {
    for entry in node.entries().unwrap_or_default() {
        if let Some(key) = table.key(&entry.key.value) {
            collect_named_things(key.shape, key, &entry.value, found);
        }
    }
}

/// Returns the path of the file from which a value is taken.
fn file_path<'n>(shape: ScenarioShape, node: &'n YamlNode<'_>) -> Option<Spanned<&'n str>> {
    if !shape.takes_file() {
        return None;
    }
    let is_file = node.tag.as_ref().is_some_and(|tag| tag.value == "file");
    if let Some(named) = file_reference(node) {
        return named.text().map(|path| Spanned::new(path, named.span));
    }
    let path = match node.text()? {
        path if is_file || matches!(shape, ScenarioShape::Schema) => Some(path),
        text if matches!(read_frozen(node).value, FrozenValue::File(_))
            && !matches!(shape, ScenarioShape::Content) =>
        {
            text.strip_prefix('@')
        }
        _ => None,
    };
    path.map(|path| Spanned::new(path, node.span))
}

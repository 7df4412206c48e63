//! The names and paths in a project file and in the suppressions file, according to their tables.

use super::keys::TOP_TABLE;
use super::value::{TomlValue, to_span};
use crate::base::span::Span;
use crate::project::table::{ConfigKey, ConfigShape, optional_key};
use crate::scenario::named_things::NamedThing;
use crate::scenario::table::NamedThingKind;
use toml::de::{DeTable, DeValue};

/// A key that the project chooses itself.
const OTHER_KEY: ConfigKey = optional_key("", ConfigShape::Any, "");

/// Returns the names and paths in `ctxc.toml`. If it is not valid TOML, those in the valid lines.
pub fn named_things(text: &str) -> Vec<NamedThing> {
    let (tree, _) = DeTable::parse_recoverable(text);
    let mut found = Vec::new();
    for (name, value) in tree.get_ref() {
        TOP_TABLE
            .key(name.get_ref())
            .into_iter()
            .for_each(|key| collect_named_things(key.shape, key, value, &mut found));
    }
    found
}

/// Returns the paths of files with suppressed findings.
pub fn suppressed_files(text: &str) -> Vec<NamedThing> {
    let (tree, _) = DeTable::parse_recoverable(text);
    let files = tree
        .get_ref()
        .iter()
        .filter(|(_, value)| value.get_ref().is_table());
    files
        .map(|(path, _)| named_thing(NamedThingKind::Path, path.get_ref(), to_span(&path.span())))
        .collect()
}

fn collect_named_things(
    shape: ConfigShape,
    key: &ConfigKey,
    value: &TomlValue<'_>,
    found: &mut Vec<NamedThing>,
) {
    match value.get_ref() {
        DeValue::String(text) if key.names != NamedThingKind::PlainText => {
            found.push(named_thing(key.names, text, to_span(&value.span())));
        }
        DeValue::Array(items) => {
            for item in items {
                collect_named_things(shape, key, item, found);
            }
        }
        DeValue::Table(own) => {
            for (name, value) in own {
                if let ConfigShape::Map(inner) = shape {
                    if key.keyed_by != NamedThingKind::PlainText {
                        found.push(named_thing(
                            key.keyed_by,
                            name.get_ref(),
                            to_span(&name.span()),
                        ));
                    }
                    collect_named_things(*inner, key, value, found);
                } else if let Some(table) = shape.table() {
                    match (table.key(name.get_ref()), table.others) {
                        (Some(key), _) => collect_named_things(key.shape, key, value, found),
                        (None, Some(other)) => {
                            collect_named_things(*other, &OTHER_KEY, value, found);
                        }
                        (None, None) => {}
                    }
                }
            }
        }
        DeValue::String(_)
        | DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_) => {}
    }
}

fn named_thing(thing: NamedThingKind, value: &str, span: Span) -> NamedThing {
    NamedThing {
        thing,
        value: value.to_owned(),
        span,
    }
}

//! The names and paths in a project file and in the suppressions file, according to their tables.

use super::keys::TOP;
use super::value::{Value, span};
use crate::base::span::Span;
use crate::project::table::{Key, Shape, key};
use crate::scenario::named_things::NamedThing;
use crate::scenario::table::Thing;
use toml::de::{DeTable, DeValue};

/// A key that the project chooses itself.
const OTHER: Key = key("", Shape::Any, "");

/// Returns the names and paths in `ctxc.toml`. If it is not valid TOML, those in the valid lines.
pub fn named_things(text: &str) -> Vec<NamedThing> {
    let (tree, _) = DeTable::parse_recoverable(text);
    let mut found = Vec::new();
    for (name, value) in tree.get_ref() {
        TOP.key(name.get_ref())
            .into_iter()
            .for_each(|key| walk(key.shape, key, value, &mut found));
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
        .map(|(path, _)| named(Thing::Path, path.get_ref(), span(&path.span())))
        .collect()
}

fn walk(shape: Shape, key: &Key, value: &Value<'_>, found: &mut Vec<NamedThing>) {
    match value.get_ref() {
        DeValue::String(text) if key.names != Thing::Words => {
            found.push(named(key.names, text, span(&value.span())));
        }
        DeValue::Array(items) => {
            for item in items {
                walk(shape, key, item, found);
            }
        }
        DeValue::Table(own) => {
            for (name, value) in own {
                if let Shape::Map(inner) = shape {
                    if key.keyed_by != Thing::Words {
                        found.push(named(key.keyed_by, name.get_ref(), span(&name.span())));
                    }
                    walk(*inner, key, value, found);
                } else if let Some(table) = shape.table() {
                    match (table.key(name.get_ref()), table.others) {
                        (Some(key), _) => walk(key.shape, key, value, found),
                        (None, Some(other)) => walk(*other, &OTHER, value, found),
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

fn named(thing: Thing, value: &str, span: Span) -> NamedThing {
    NamedThing {
        thing,
        value: value.to_owned(),
        span,
    }
}

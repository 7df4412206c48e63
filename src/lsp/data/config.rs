//! Completions in the project file: keys, words, rules, and names of tasks, models and providers.

use super::offer::Offer;
use super::spot::Spot;
use crate::lsp::state::project::ProjectState;
use crate::lsp::state::scenarios;
use crate::project::lints::Level;
use crate::project::models::ProviderKind;
use crate::project::read::keys::TOP;
use crate::project::table::{Key, Shape};
use crate::rules::list;
use crate::scenario::table::{Need, Thing};
use crate::settings::operators::Operator;
use crate::template::setting::SettingName;
use std::collections::BTreeSet;

/// Returns the completions at a place.
pub(super) fn offers(project: &ProjectState, text: &str, spot: &Spot<'_>) -> Vec<Offer> {
    let Some(shape) = shape(&spot.path) else {
        return Vec::new();
    };
    let config = &project.config;
    let rest = text.get(spot.outer.end as usize..).unwrap_or("");
    match (spot.key, spot.path.as_slice(), shape) {
        (None, [], _) if spot.header.is_none() && !rest.starts_with('.') => {
            let next = rest
                .lines()
                .skip(1)
                .map(str::trim_start)
                .find(|line| !line.is_empty() && !line.starts_with('#'));
            // A table header would take over the keys after it.
            let takes_keys = next.is_some_and(|line| !line.starts_with('['));
            let own = TOP.keys.iter().filter(|key| {
                !(matches!(key.shape, Shape::Later) || is_table(key.shape) && takes_keys)
            });
            let one = |own: &Key| {
                let insert = if matches!(own.shape, Shape::List(_)) {
                    format!("[[{}]]", own.name)
                } else {
                    format!("[{}]", own.name)
                };
                let header = Offer {
                    insert,
                    ..Offer::word(own.name, own.about)
                };
                if is_table(own.shape) {
                    header
                } else {
                    Offer::key(own.name, own.about, &separator(own.shape))
                }
            };
            own.map(one).collect()
        }
        (None, _, Shape::Lints) if spot.header.is_none() => {
            let rules = list::all()
                .map(|rule| &rule.meta)
                .filter(|meta| !meta.locked);
            rules
                .map(|meta| Offer::key(meta.name, meta.summary, " = \"$0\""))
                .collect()
        }
        (None, ..) => {
            let is_fit = |key: &&Key| match spot.header {
                Some("]]") => matches!(key.shape, Shape::List(_)),
                Some(_) => is_table(key.shape) && !matches!(key.shape, Shape::List(_)),
                None => true,
            };
            let mut keys: Vec<_> = shape
                .table()
                .into_iter()
                .flat_map(|table| table.keys)
                .filter(is_fit)
                .collect();
            keys.sort_by_key(|key| key.need != Need::Required);
            let separator = |key: &Key| {
                spot.header
                    .map_or_else(|| separator(key.shape), str::to_owned)
            };
            let keys = keys
                .into_iter()
                .map(|key| Offer::key(key.name, key.about, &separator(key)));
            let after = spot.header.unwrap_or(" = { $0 }");
            keys.chain(
                names(project, spot)
                    .into_iter()
                    .map(|name| Offer::key(&bare(name), "", after)),
            )
            .collect()
        }
        (Some(_), _, Shape::Lints) => quoted(Level::WORDS),
        (Some("template"), ["roles", _], _) | (Some("name"), ["require"], _) => {
            quoted(scenarios::tasks(&project.index()))
        }
        (Some("model"), ["roles", _], _) => quoted(config.models.keys().map(String::as_str)),
        (Some("tools" | "blocked_tools"), ["roles", _], _) => {
            let own: Vec<_> = config
                .roles
                .values()
                .filter_map(|role| role.tools.as_ref())
                .collect();
            let named = own
                .iter()
                .flat_map(|tools| tools.allowed.iter().chain(&tools.blocked))
                .map(|name| &*name.value);
            let defined = own
                .iter()
                .flat_map(|tools| tools.defined.keys())
                .map(String::as_str);
            quoted(named.chain(defined).collect::<BTreeSet<_>>())
        }
        (Some("role"), ["require"], _) => quoted(config.roles.keys().map(String::as_str)),
        (Some("operator"), ["require"], _) => quoted(config.layers.operators()),
        (Some("subtype"), ["require"], _) => {
            let subtypes: BTreeSet<&str> = config
                .layers
                .operators()
                .flat_map(|own| config.layers.subtypes_of(own))
                .collect();
            quoted(subtypes)
        }
        (Some("provider"), ["models", _], _) => quoted(
            config
                .providers
                .keys()
                .map(String::as_str)
                .chain(ProviderKind::WORDS),
        ),
        (Some(key), ..) => match child(shape, key) {
            Some(Shape::Word(words) | Shape::Words(words)) => quoted(words.iter().copied()),
            Some(Shape::Setting(name)) => quoted(name.words().iter().copied()),
            Some(Shape::Base) => quoted(Operator::ALL.into_iter().map(Operator::word)),
            Some(Shape::WholeOr(_, word)) => quoted([word]),
            Some(Shape::Bool) => quoted(["true", "false"]),
            _ => Vec::new(),
        },
    }
}

/// True if paths or path patterns are written at a place.
pub(super) fn takes_files(spot: &Spot<'_>) -> bool {
    let Some(name) = spot.key else { return false };
    let around = shape(&spot.path).and_then(Shape::table);
    around
        .and_then(|table| table.key(name))
        .is_some_and(|key| key.names == Thing::Path)
}

/// Returns the likely names of tables at a place.
fn names<'p>(project: &'p ProjectState, spot: &Spot<'_>) -> Vec<&'p str> {
    let config = &project.config;
    match *spot.path.as_slice() {
        ["roles"] => config.roles.keys().map(String::as_str).collect(),
        ["defaults"] => config.layers.operators().collect(),
        ["defaults", operator] => {
            let rows = config
                .layers
                .rows()
                .map(|(_, row)| row)
                .filter(|row| **row.operator() == *operator);
            rows.filter_map(|row| row.subtype().map(|name| &**name))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the description of a key of the project file.
pub(super) fn about(spot: &Spot<'_>, key: &str) -> Option<&'static str> {
    let shape = shape(&spot.path)?;
    if matches!(shape, Shape::Lints) {
        return list::find(key).map(|rule| rule.meta.summary);
    }
    shape.table()?.key(key).map(|key| key.about)
}

fn quoted<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<Offer> {
    words.into_iter().map(Offer::quoted).collect()
}

/// Returns a key as TOML: bare if possible, otherwise quoted.
fn bare(key: &str) -> String {
    let is_bare = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if is_bare {
        key.to_owned()
    } else {
        Offer::quoted(key).insert
    }
}

/// Returns the text after a key, with a placeholder for its value.
fn separator(shape: Shape) -> String {
    match shape {
        Shape::Texts | Shape::PointersOr(_) | Shape::Set | Shape::Globs | Shape::Words(_) => {
            " = [\"$0\"]".to_owned()
        }
        Shape::Table(_) | Shape::Map(_) | Shape::Lints | Shape::Later => " = { $0 }".to_owned(),
        Shape::List(_) => " = [{ $0 }]".to_owned(),
        Shape::Setting(SettingName::AccumulateData) | Shape::Bool => " = true".to_owned(),
        Shape::Whole((least, _)) | Shape::WholeOr((least, _), _) => format!(" = {least}"),
        Shape::Number(_) => " = 0".to_owned(),
        Shape::Text
        | Shape::Name
        | Shape::Pointer
        | Shape::Word(_)
        | Shape::Setting(_)
        | Shape::Base
        | Shape::NameOr(_)
        | Shape::Any => " = \"$0\"".to_owned(),
    }
}

fn is_table(shape: Shape) -> bool {
    matches!(
        shape,
        Shape::Table(_) | Shape::NameOr(_) | Shape::Map(_) | Shape::List(_) | Shape::Lints
    )
}

/// Returns the shape of the value at a key path.
fn shape(path: &[&str]) -> Option<Shape> {
    path.iter()
        .try_fold(Shape::Table(&TOP), |shape, key| child(shape, key))
}

/// Returns the shape of a key inside a value of a shape.
fn child(shape: Shape, key: &str) -> Option<Shape> {
    if let Shape::Map(inner) = shape {
        return Some(*inner);
    }
    let table = shape.table()?;
    table
        .key(key)
        .map(|own| own.shape)
        .or(table.others.copied())
}

//! Completions in the project file: keys, words, rules, and names of tasks, models and providers.

use super::offer::Offer;
use super::spot::DataCursor;
use crate::lsp::state::project::ProjectState;
use crate::lsp::state::scenarios;
use crate::project::lints::LintLevel;
use crate::project::models::ProviderKind;
use crate::project::read::keys::TOP_TABLE;
use crate::project::table::{ConfigKey, ConfigShape};
use crate::rules::list;
use crate::scenario::table::{KeyNeed, NamedThingKind};
use crate::settings::operators::Operator;
use crate::template::setting::SettingName;
use std::collections::BTreeSet;

/// Returns the completions at a place.
pub(super) fn offers(project: &ProjectState, text: &str, spot: &DataCursor<'_>) -> Vec<Offer> {
    let Some(shape) = shape_at(&spot.path) else {
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
            let own = TOP_TABLE
                .keys
                .iter()
                .filter(|key| !(is_table(key.shape) && takes_keys));
            let one = |own: &ConfigKey| {
                let insert = if matches!(own.shape, ConfigShape::List(_)) {
                    format!("[[{}]]", own.name)
                } else {
                    format!("[{}]", own.name)
                };
                let header = Offer {
                    insert,
                    ..Offer::for_word(own.name, own.about)
                };
                if is_table(own.shape) {
                    header
                } else {
                    Offer::for_key(own.name, own.about, &value_template(own.shape))
                }
            };
            own.map(one).collect()
        }
        (None, _, ConfigShape::Lints) if spot.header.is_none() => {
            let rules = list::all_rules()
                .map(|rule| &rule.meta)
                .filter(|meta| !meta.locked);
            rules
                .map(|meta| Offer::for_key(meta.name, meta.summary, " = \"$0\""))
                .collect()
        }
        (None, ..) => {
            let is_fit = |key: &&ConfigKey| match spot.header {
                Some("]]") => matches!(key.shape, ConfigShape::List(_)),
                Some(_) => is_table(key.shape) && !matches!(key.shape, ConfigShape::List(_)),
                None => true,
            };
            let mut keys: Vec<_> = shape
                .table()
                .into_iter()
                .flat_map(|table| table.keys)
                .filter(is_fit)
                .collect();
            keys.sort_by_key(|key| key.need != KeyNeed::Required);
            let separator = |key: &ConfigKey| {
                spot.header
                    .map_or_else(|| value_template(key.shape), str::to_owned)
            };
            let keys = keys
                .into_iter()
                .map(|key| Offer::for_key(key.name, key.about, &separator(key)));
            let after = spot.header.unwrap_or(" = { $0 }");
            keys.chain(
                table_names(project, spot)
                    .into_iter()
                    .map(|name| Offer::for_key(&toml_key(name), "", after)),
            )
            .collect()
        }
        (Some(_), _, ConfigShape::Lints) => quoted_offers(LintLevel::WORDS),
        (Some("template"), ["roles", _], _) | (Some("name"), ["require"], _) => {
            quoted_offers(scenarios::task_names(&project.index()))
        }
        (Some("model"), ["roles", _], _) => quoted_offers(config.models.keys().map(String::as_str)),
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
            quoted_offers(named.chain(defined).collect::<BTreeSet<_>>())
        }
        (Some("role"), ["require"], _) => quoted_offers(config.roles.keys().map(String::as_str)),
        (Some("operator"), ["require"], _) => quoted_offers(config.layers.operator_names()),
        (Some("subtype"), ["require"], _) => {
            let subtypes: BTreeSet<&str> = config
                .layers
                .operator_names()
                .flat_map(|own| config.layers.subtype_names(own))
                .collect();
            quoted_offers(subtypes)
        }
        (Some("provider"), ["models", _], _) => quoted_offers(
            config
                .providers
                .keys()
                .map(String::as_str)
                .chain(ProviderKind::WORDS),
        ),
        (Some(key), ..) => match child_shape(shape, key) {
            Some(ConfigShape::Word(words) | ConfigShape::Words(words)) => {
                quoted_offers(words.iter().copied())
            }
            Some(ConfigShape::Setting(name)) => quoted_offers(name.allowed_words().iter().copied()),
            Some(ConfigShape::Base) => quoted_offers(Operator::ALL.into_iter().map(Operator::word)),
            Some(ConfigShape::WholeOr(_, word)) => quoted_offers([word]),
            Some(ConfigShape::Bool) => quoted_offers(["true", "false"]),
            _ => Vec::new(),
        },
    }
}

/// True if paths or path patterns are written at a place.
pub(super) fn takes_files(spot: &DataCursor<'_>) -> bool {
    let Some(name) = spot.key else { return false };
    let around = shape_at(&spot.path).and_then(ConfigShape::table);
    around
        .and_then(|table| table.key(name))
        .is_some_and(|key| key.names == NamedThingKind::Path)
}

/// Returns the likely names of tables at a place.
fn table_names<'p>(project: &'p ProjectState, spot: &DataCursor<'_>) -> Vec<&'p str> {
    let config = &project.config;
    match *spot.path.as_slice() {
        ["roles"] => config.roles.keys().map(String::as_str).collect(),
        ["defaults"] => config.layers.operator_names().collect(),
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
pub(super) fn key_description(spot: &DataCursor<'_>, key: &str) -> Option<&'static str> {
    let shape = shape_at(&spot.path)?;
    if matches!(shape, ConfigShape::Lints) {
        return list::find_rule(key).map(|rule| rule.meta.summary);
    }
    shape.table()?.key(key).map(|key| key.about)
}

fn quoted_offers<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<Offer> {
    words.into_iter().map(Offer::for_toml_value).collect()
}

/// Returns a key as TOML: bare if possible, otherwise quoted.
fn toml_key(key: &str) -> String {
    let is_bare = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if is_bare {
        key.to_owned()
    } else {
        Offer::for_toml_value(key).insert
    }
}

/// Returns the text after a key, with a placeholder for its value.
fn value_template(shape: ConfigShape) -> String {
    match shape {
        ConfigShape::Texts
        | ConfigShape::PointersOr(_)
        | ConfigShape::Set
        | ConfigShape::Globs
        | ConfigShape::Folders
        | ConfigShape::Words(_) => " = [\"$0\"]".to_owned(),
        ConfigShape::Table(_) | ConfigShape::Map(_) | ConfigShape::Lints => " = { $0 }".to_owned(),
        ConfigShape::List(_) => " = [{ $0 }]".to_owned(),
        ConfigShape::Setting(SettingName::AccumulateData) | ConfigShape::Bool => {
            " = true".to_owned()
        }
        ConfigShape::Whole((min, _)) | ConfigShape::WholeOr((min, _), _) => {
            format!(" = {min}")
        }
        ConfigShape::Number(_) => " = 0".to_owned(),
        ConfigShape::Text
        | ConfigShape::Name
        | ConfigShape::Pointer
        | ConfigShape::Word(_)
        | ConfigShape::Setting(_)
        | ConfigShape::Base
        | ConfigShape::NameOr(_)
        | ConfigShape::NamesOr(_)
        | ConfigShape::Any => " = \"$0\"".to_owned(),
    }
}

fn is_table(shape: ConfigShape) -> bool {
    matches!(
        shape,
        ConfigShape::Table(_)
            | ConfigShape::NameOr(_)
            | ConfigShape::NamesOr(_)
            | ConfigShape::Map(_)
            | ConfigShape::List(_)
            | ConfigShape::Lints
    )
}

/// Returns the shape of the value at a key path.
fn shape_at(path: &[&str]) -> Option<ConfigShape> {
    path.iter()
        .try_fold(ConfigShape::Table(&TOP_TABLE), |shape, key| {
            child_shape(shape, key)
        })
}

/// Returns the shape of a key inside a value of a shape.
fn child_shape(shape: ConfigShape, key: &str) -> Option<ConfigShape> {
    if let ConfigShape::Map(inner) = shape {
        return Some(*inner);
    }
    let table = shape.table()?;
    table
        .key(key)
        .map(|own| own.shape)
        .or(table.others.copied())
}

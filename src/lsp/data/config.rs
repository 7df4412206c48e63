//! What can be written in the project file: keys, words, rules, and names of tasks, models and providers.

use super::offer::Offer;
use super::spot::Spot;
use crate::lsp::state::project::ProjectState;
use crate::lsp::state::scenarios;
use crate::project::lints::Level;
use crate::project::read::keys::TOP;
use crate::project::table::{Shape, Table};
use crate::rules::list;
use crate::scenario::table::Need;
use crate::settings::operators::Operator;

/// What can stand at a place.
pub(super) fn offers(project: &ProjectState, spot: &Spot<'_>) -> Vec<Offer> {
    if spot.is_header {
        let is_table = |shape: &Shape| matches!(shape, Shape::Table(_) | Shape::Map(_) | Shape::List(_) | Shape::Lints);
        let tables = TOP.keys.iter().filter(|key| is_table(&key.shape));
        return tables.map(|key| Offer::word(key.name, key.about)).collect();
    }
    let Some(shape) = spot.path.iter().try_fold(Shape::Table(&TOP), |shape, key| child(shape, key)) else { return Vec::new() };
    let config = &project.config;
    match (spot.key, spot.path.first(), shape) {
        (None, _, Shape::Lints) => {
            let rules = list::all().map(|rule| &rule.meta).filter(|meta| !meta.locked);
            rules.map(|meta| Offer::key(meta.name, meta.summary, " = ")).collect()
        }
        (Some(_), _, Shape::Lints) => quoted(Level::WORDS.into_iter()),
        (None, ..) => table(shape).map_or_else(Vec::new, keys),
        (Some("template"), Some(&"roles"), _) => quoted(scenarios::tasks(&project.index()).into_iter()),
        (Some("model"), Some(&"roles"), _) => quoted(config.models.keys().map(String::as_str)),
        (Some("provider"), Some(&"models"), _) => quoted(config.providers.keys().map(String::as_str)),
        (Some(key), ..) => match child(shape, key) {
            Some(Shape::Word(words) | Shape::Words(words)) => quoted(words.iter().copied()),
            Some(Shape::Setting(name)) => quoted(name.words().iter().copied()),
            Some(Shape::Base) => quoted(Operator::ALL.into_iter().map(Operator::word)),
            Some(Shape::WholeOr(_, word)) => quoted([word].into_iter()),
            _ => Vec::new(),
        },
    }
}

/// What a key of the project file is for.
pub(super) fn about(spot: &Spot<'_>, key: &str) -> Option<&'static str> {
    let shape = spot.path.iter().try_fold(Shape::Table(&TOP), |shape, key| child(shape, key))?;
    if matches!(shape, Shape::Lints) {
        return list::find(key).map(|rule| rule.meta.summary);
    }
    table(shape)?.keys.iter().find(|own| own.name == key).map(|key| key.about)
}

fn quoted<'w>(words: impl Iterator<Item = &'w str>) -> Vec<Offer> {
    words.map(Offer::quoted).collect()
}

fn keys(table: &Table) -> Vec<Offer> {
    let mut keys: Vec<_> = table.keys.iter().collect();
    keys.sort_by_key(|key| key.need != Need::Required);
    keys.into_iter().map(|key| Offer::key(key.name, key.about, " = ")).collect()
}

/// What a key takes below a place.
fn child(shape: Shape, key: &str) -> Option<Shape> {
    if let Shape::Map(inner) = shape {
        return Some(*inner);
    }
    let table = table(shape)?;
    table.keys.iter().find(|own| own.name == key).map(|own| own.shape).or(table.others.copied())
}

fn table(shape: Shape) -> Option<&'static Table> {
    #[allow(clippy::wildcard_enum_match_arm, reason = "no other shape has one")]
    match shape {
        Shape::Table(table) | Shape::List(table) | Shape::NameOr(table) => Some(table),
        _ => None,
    }
}

//! Completions in a scenario: keys, words, tasks and roles, and parameters of the case's task.

use super::offer::Offer;
use super::spot::Spot;
use crate::lsp::state::project::ProjectState;
use crate::lsp::state::scenarios;
use crate::rules::scenario::cx::{Parameter, Results, plain};
use crate::scenario::keys::{SCENARIO, SUITE};
use crate::scenario::table::{Need, Shape, Table, Thing};
use crate::scenario::words::KINDS;
use crate::template::setting::{SettingName, Word};
use std::collections::BTreeSet;

/// Returns the completions at a place.
pub(super) fn offers(project: &ProjectState, text: &str, spot: &Spot<'_>) -> Vec<Offer> {
    let Some(shape) = shape(text, spot) else {
        return Vec::new();
    };
    let results = || {
        task(project, text, spot)
            .and_then(|task| scenarios::results(project, &task))
            .unwrap_or_default()
    };
    let word = |name: &&str| Offer::word(plain(name), "");
    let around = spot.path.last().copied().unwrap_or_default();
    match (spot.key, around) {
        (Some("task"), _) => tasks(project),
        (Some("node"), _) => results()
            .agents
            .iter()
            .map(String::as_str)
            .map(|name| word(&name))
            .collect(),
        (Some("role"), _) => {
            let role = |(name, role): (&String, &crate::project::roles::Role)| {
                Offer::word(plain(name), role.description.clone().unwrap_or_default())
            };
            project.config.roles.iter().map(role).collect()
        }
        (Some("name"), "setting") => SettingName::ALL
            .iter()
            .map(|name| word(&name.word()))
            .collect(),
        (Some("value"), "setting") => {
            let line = text
                .get(..spot.word.start as usize)
                .unwrap_or("")
                .rsplit("setting")
                .next()
                .unwrap_or("");
            let named = SettingName::ALL
                .iter()
                .copied()
                .find(|name| line.contains(name.word()));
            named
                .map_or(&[][..], SettingName::words)
                .iter()
                .map(word)
                .collect()
        }
        (None, "setting") => ["name", "value", "node"]
            .map(|key| Offer::key(key, "", ": "))
            .into(),
        (Some("in" | "order" | "exactly"), _)
        | (None, "order" | "exactly")
        | (Some("segment"), "trust") => segments(project, text, spot, &results()),
        (Some("id"), "segment" | "in") => segments(project, text, spot, &results()),
        (Some(key), _) => child(shape, key).map_or_else(Vec::new, words),
        (None, "inputs") => parameters(project, text, spot),
        (None, "results") => results()
            .names()
            .map(|name| Offer::key(&plain(name), "", ": "))
            .collect(),
        (None, _) => match shape.table() {
            Some(table) => keys(table),
            None => words(shape),
        },
    }
}

/// True if the path of a file beside the scenario is written at a place.
pub(super) fn takes_files(text: &str, spot: &Spot<'_>) -> bool {
    let before = text.get(..spot.word.start as usize).unwrap_or("");
    let is_file =
        |(around, name): (Shape, &str)| match around.table().and_then(|table| table.key(name)) {
            Some(key) => key.names == Thing::Beside || matches!(key.shape, Shape::Schema),
            None => {
                name == "file" && around.takes_file() || matches!(around, Shape::Map(Shape::Schema))
            }
        };
    before.ends_with("!file ")
        || before.ends_with('@')
        || shape(text, spot).zip(spot.key).is_some_and(is_file)
}

/// Returns the possible ids of segments of the task.
fn segments(project: &ProjectState, text: &str, spot: &Spot<'_>, results: &Results) -> Vec<Offer> {
    let signature = task(project, text, spot).and_then(|task| scenarios::signature(project, &task));
    let named = |kind: &'static str, names: &BTreeSet<String>| {
        names
            .iter()
            .map(|name| format!("{kind}:{name}"))
            .collect::<Vec<_>>()
    };
    let mut ids: Vec<String> = KINDS
        .iter()
        .filter(|kind| !NAMED.contains(kind))
        .map(|kind| (*kind).to_owned())
        .collect();
    if let Some(signature) = signature {
        ids.extend(named("input", &signature.inputs));
        ids.extend(named("file", &signature.files));
    }
    ids.extend(results.names().map(|name| format!("accumulated:{name}")));
    let is_simple = |id: &str| {
        id.chars()
            .all(|c| c.is_alphanumeric() || "_-./:".contains(c))
    };
    ids.into_iter()
        .map(|id| Offer::word(if is_simple(&id) { id } else { plain(&id) }, ""))
        .collect()
}

/// Kinds whose segment ids contain a name.
const NAMED: [&str; 5] = ["input", "file", "fresh", "accumulated", "history"];

/// Returns the description of a key of the scenario.
pub(super) fn about(text: &str, spot: &Spot<'_>, key: &str) -> Option<&'static str> {
    shape(text, spot)?.table()?.key(key).map(|key| key.about)
}

/// Returns the shape of the value at a key path, in a suite or a single scenario.
fn shape(text: &str, spot: &Spot<'_>) -> Option<Shape> {
    let says = |key: &str| {
        text.lines().any(|line| {
            line.strip_prefix(key)
                .is_some_and(|rest| rest.starts_with(':'))
        })
    };
    let root = if says("cases") || says("cases_from") || says("defaults") {
        &SUITE
    } else {
        &SCENARIO
    };
    spot.path
        .iter()
        .try_fold(Shape::Table(root), |shape, key| child(shape, key))
}

/// Returns the names of tasks, quoted as YAML requires.
fn tasks(project: &ProjectState) -> Vec<Offer> {
    scenarios::tasks(&project.index())
        .into_iter()
        .map(|name| Offer::word(plain(name), ""))
        .collect()
}

fn keys(table: &Table) -> Vec<Offer> {
    let mut keys: Vec<_> = table.keys.iter().collect();
    keys.sort_by_key(|key| key.need != Need::Required);
    keys.into_iter()
        .map(|key| Offer::key(key.name, key.about, ": "))
        .collect()
}

/// Returns the task of the case: that of the nearest `task` or `role` in the text.
fn task(project: &ProjectState, text: &str, spot: &Spot<'_>) -> Option<String> {
    let said = |line: &str| {
        let (key, value) = line.trim_start_matches([' ', '-']).split_once(':')?;
        let value = value.trim().trim_matches(['"', '\'']).to_owned();
        match key {
            "task" => Some(value),
            "role" => project
                .config
                .roles
                .get(&value)
                .map(|role| role.task.value.clone()),
            _ => None,
        }
    };
    let (before, behind) = text
        .split_at_checked(spot.word.start as usize)
        .unwrap_or((text, ""));
    before
        .lines()
        .rev()
        .find_map(said)
        .or_else(|| behind.lines().find_map(said))
}

/// Returns the task's parameters, required ones first.
fn parameters(project: &ProjectState, text: &str, spot: &Spot<'_>) -> Vec<Offer> {
    let signature = task(project, text, spot).and_then(|task| scenarios::signature(project, &task));
    let Some(signature) = signature else {
        return Vec::new();
    };
    let mut parameters: Vec<_> = signature.parameters.iter().collect();
    parameters.sort_by_key(|parameter| !parameter.required);
    let one = |own: &Parameter| {
        let need = if own.required { "required" } else { "optional" };
        let about = own
            .kind
            .as_ref()
            .map_or_else(|| need.to_owned(), |kind| format!("{kind}, {need}"));
        Offer::key(own.name.as_ref(), about, ": ")
    };
    parameters.into_iter().map(one).collect()
}

fn words(shape: Shape) -> Vec<Offer> {
    #[allow(clippy::wildcard_enum_match_arm, reason = "no other shape has one")]
    let words: &[&str] = match shape {
        Shape::Word(words) | Shape::WordOr(words, _) => words,
        Shape::Bool => &["true", "false"],
        Shape::True => &["true"],
        Shape::List(Shape::Word(words), _) => words,
        _ => &[],
    };
    words.iter().map(|word| Offer::word(*word, "")).collect()
}

/// Returns the shape of a key inside a value of a shape.
fn child(shape: Shape, key: &str) -> Option<Shape> {
    if let Shape::Map(inner) = shape {
        return Some(*inner);
    }
    shape.table()?.key(key).map(|key| key.shape)
}

//! Completions in a scenario: keys, words, tasks and roles, and parameters of the case's task.

use super::offer::Offer;
use super::spot::DataCursor;
use crate::lsp::state::project::ProjectState;
use crate::lsp::state::scenarios;
use crate::rules::scenario::cx::{AgentResults, SignatureParameter, yaml_word};
use crate::scenario::keys::{SCENARIO_TABLE, SUITE_TABLE};
use crate::scenario::rubric::RUBRIC_TABLE;
use crate::scenario::table::{KeyNeed, NamedThingKind, ScenarioShape, ScenarioTable};
use crate::scenario::values::SEGMENT_KINDS;
use crate::template::setting::{SettingName, Word};
use std::collections::BTreeSet;

/// Returns the completions at a place.
pub(super) fn offers(project: &ProjectState, text: &str, spot: &DataCursor<'_>) -> Vec<Offer> {
    let Some(shape) = shape_at(text, spot) else {
        return Vec::new();
    };
    let results = || {
        case_task(project, text, spot)
            .and_then(|task| scenarios::task_results(project, &task))
            .unwrap_or_default()
    };
    let word = |name: &&str| Offer::for_word(yaml_word(name), "");
    let around = spot.path.last().copied().unwrap_or_default();
    match (spot.key, around) {
        (Some("task"), _) => task_offers(project),
        (Some("node"), _) => results()
            .agents
            .iter()
            .map(String::as_str)
            .map(|name| word(&name))
            .collect(),
        (Some("role"), _) => {
            let role = |(name, role): (&String, &crate::project::roles::Role)| {
                Offer::for_word(
                    yaml_word(name),
                    role.description.clone().unwrap_or_default(),
                )
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
                .map_or(&[][..], SettingName::allowed_words)
                .iter()
                .map(word)
                .collect()
        }
        (None, "setting") => ["name", "value", "node"]
            .map(|key| Offer::for_key(key, "", ": "))
            .into(),
        (Some("in" | "order" | "exactly"), _)
        | (None, "order" | "exactly")
        | (Some("segment"), "trust")
        | (Some("id"), "segment" | "in") => segment_offers(project, text, spot, &results()),
        (Some(key), _) => child_shape(shape, key).map_or_else(Vec::new, word_offers),
        (None, "inputs") => parameter_offers(project, text, spot),
        (None, "results") => results()
            .names()
            .map(|name| Offer::for_key(&yaml_word(name), "", ": "))
            .collect(),
        (None, _) => match shape.inner_table() {
            Some(table) => key_offers(table),
            None => word_offers(shape),
        },
    }
}

/// True if the path of a file beside the scenario is written at a place.
pub(super) fn takes_files(text: &str, spot: &DataCursor<'_>) -> bool {
    let before = text.get(..spot.word.start as usize).unwrap_or("");
    let is_file = |(around, name): (ScenarioShape, &str)| match around
        .inner_table()
        .and_then(|table| table.key(name))
    {
        Some(key) => {
            key.names == NamedThingKind::SiblingFile || matches!(key.shape, ScenarioShape::Schema)
        }
        None => {
            name == "file" && around.takes_file()
                || matches!(around, ScenarioShape::Map(ScenarioShape::Schema))
        }
    };
    before.ends_with("!file ")
        || before.ends_with('@')
        || shape_at(text, spot).zip(spot.key).is_some_and(is_file)
}

/// Returns the possible ids of segments of the task.
fn segment_offers(
    project: &ProjectState,
    text: &str,
    spot: &DataCursor<'_>,
    results: &AgentResults,
) -> Vec<Offer> {
    let signature =
        case_task(project, text, spot).and_then(|task| scenarios::task_signature(project, &task));
    let named = |kind: &'static str, names: &BTreeSet<String>| {
        names
            .iter()
            .map(|name| format!("{kind}:{name}"))
            .collect::<Vec<_>>()
    };
    let mut ids: Vec<String> = SEGMENT_KINDS
        .iter()
        .filter(|kind| !KINDS_WITH_NAMES.contains(kind))
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
        .map(|id| Offer::for_word(if is_simple(&id) { id } else { yaml_word(&id) }, ""))
        .collect()
}

/// Kinds whose segment ids contain a name.
const KINDS_WITH_NAMES: [&str; 5] = ["input", "file", "fresh", "accumulated", "history"];

/// Returns the description of a key of the scenario.
pub(super) fn key_description(
    text: &str,
    spot: &DataCursor<'_>,
    key: &str,
) -> Option<&'static str> {
    shape_at(text, spot)?
        .inner_table()?
        .key(key)
        .map(|key| key.about)
}

/// Returns the shape of the value at a key path, in a suite or a single scenario.
fn shape_at(text: &str, spot: &DataCursor<'_>) -> Option<ScenarioShape> {
    let has_value = |key: &str| {
        text.lines().any(|line| {
            line.strip_prefix(key)
                .is_some_and(|rest| rest.starts_with(':'))
        })
    };
    let root = if has_value("cases") || has_value("cases_from") || has_value("defaults") {
        &SUITE_TABLE
    } else if has_value("criteria") {
        &RUBRIC_TABLE
    } else {
        &SCENARIO_TABLE
    };
    spot.path
        .iter()
        .try_fold(ScenarioShape::Table(root), |shape, key| {
            child_shape(shape, key)
        })
}

/// Returns the names of tasks, quoted as YAML requires.
fn task_offers(project: &ProjectState) -> Vec<Offer> {
    scenarios::task_names(&project.index())
        .into_iter()
        .map(|name| Offer::for_word(yaml_word(name), ""))
        .collect()
}

fn key_offers(table: &ScenarioTable) -> Vec<Offer> {
    let mut keys: Vec<_> = table.keys.iter().collect();
    keys.sort_by_key(|key| key.need != KeyNeed::Required);
    keys.into_iter()
        .map(|key| Offer::for_key(key.name, key.about, ": "))
        .collect()
}

/// Returns the task of the case: that of the nearest `task` or `role` in the text.
fn case_task(project: &ProjectState, text: &str, spot: &DataCursor<'_>) -> Option<String> {
    let kind_of_line = |line: &str| {
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
        .find_map(kind_of_line)
        .or_else(|| behind.lines().find_map(kind_of_line))
}

/// Returns the task's parameters, required ones first.
fn parameter_offers(project: &ProjectState, text: &str, spot: &DataCursor<'_>) -> Vec<Offer> {
    let signature =
        case_task(project, text, spot).and_then(|task| scenarios::task_signature(project, &task));
    let Some(signature) = signature else {
        return Vec::new();
    };
    let mut parameters: Vec<_> = signature.parameters.iter().collect();
    parameters.sort_by_key(|parameter| !parameter.required);
    let one = |own: &SignatureParameter| {
        let need = if own.required { "required" } else { "optional" };
        let about = own
            .kind
            .as_ref()
            .map_or_else(|| need.to_owned(), |kind| format!("{kind}, {need}"));
        Offer::for_key(own.name.as_ref(), about, ": ")
    };
    parameters.into_iter().map(one).collect()
}

fn word_offers(shape: ScenarioShape) -> Vec<Offer> {
    #[allow(clippy::wildcard_enum_match_arm, reason = "no other shape has one")]
    let words: &[&str] = match shape {
        ScenarioShape::Word(words) | ScenarioShape::WordOr(words, _) => words,
        ScenarioShape::Bool => &["true", "false"],
        ScenarioShape::True => &["true"],
        ScenarioShape::List(ScenarioShape::Word(words), _) => words,
        _ => &[],
    };
    words
        .iter()
        .map(|word| Offer::for_word(*word, ""))
        .collect()
}

/// Returns the shape of a key inside a value of a shape.
fn child_shape(shape: ScenarioShape, key: &str) -> Option<ScenarioShape> {
    if let ScenarioShape::Map(inner) = shape {
        return Some(*inner);
    }
    shape.inner_table()?.key(key).map(|key| key.shape)
}

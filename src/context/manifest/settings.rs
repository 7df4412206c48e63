//! Finds the settings of an agent that have another value or origin, with their positions.

use super::model::Entry;
use super::places::SettingPlaces;
use crate::settings::data::{OriginData, SettingData};
use crate::settings::provenance::{Layer, SettingValue};
use crate::template::setting::{SettingName, Word};
use serde::Serialize;

/// A setting with another value or origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct SettingChange {
    /// The name of the setting.
    #[cfg_attr(feature = "cli", schemars(with = "SettingName"))]
    pub setting: &'static str,
    /// The enclosing node that the setting belongs to; null for the agent's own.
    pub of: Option<String>,
    /// The value before; null for “does not apply”.
    pub from: SettingValue,
    /// The value now; null for “does not apply”.
    pub to: SettingValue,
    /// True if it has any effect now.
    pub applies: bool,
    /// The origin of the new value.
    pub origin: SettingPlace,
    /// The origin of the old value.
    pub origin_before: SettingPlace,
}

/// The origin of a setting's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct SettingPlace {
    /// The layer that set it.
    pub layer: Layer,
    /// The type that the layer configures, such as `atomic` or `atomic.subtask`.
    #[serde(rename = "row")]
    pub task_type: String,
    /// The file, relative to the project; null for the language's own table.
    pub path: Option<String>,
    /// The line there, from 1; null if unknown: a manifest contains none.
    pub line: Option<u32>,
}

impl SettingPlace {
    /// Describes the place: `ctxc.toml:14`, or the type of task whose default it is.
    pub fn describe(&self) -> String {
        match (&self.path, self.line) {
            (Some(path), Some(line)) => format!("{path}:{line}"),
            (Some(path), None) => path.clone(),
            (None, _) => format!("the default of {}", self.task_type),
        }
    }
}

impl SettingChange {
    /// Describes the change: “`fresh_context` disabled → enabled (ctxc.toml:14)”.
    pub fn describe(&self) -> String {
        let name = self.of.as_ref().map_or_else(
            || self.setting.to_owned(),
            |of| format!("{} of {of}", self.setting),
        );
        let from = self.from.as_str();
        let to = self.to.as_str();
        let place = self.origin.describe();
        let before = self.origin_before.describe();
        if from == to {
            return format!("{name} {to} comes from {place}, was {before}");
        }
        // A setting that was removed is described by its old position.
        if self.origin.path.is_none() && self.origin_before.path.is_some() {
            return format!("{name} {from} → {to} ({place}; was set in {before})");
        }
        format!("{name} {from} → {to} ({place})")
    }
}

/// An entry with the places of its settings.
#[derive(Clone, Copy)]
pub(super) struct PlacedEntry<'e, 'p> {
    pub(super) entry: &'e Entry,
    pub(super) places: &'e SettingPlaces<'p>,
}

/// Returns the settings that changed between two entries: first those that the nodes around it pass
/// on, then its own.
pub(super) fn setting_changes(
    before: PlacedEntry<'_, '_>,
    after: PlacedEntry<'_, '_>,
) -> Vec<SettingChange> {
    let (old, new) = (before.entry, after.entry);
    let mut olds = before.places.chain_stages(old);
    let mut news = after.places.chain_stages(new);
    // The last node is the agent itself; without a registry its settings come from the manifest and
    // have no positions.
    let own_old = olds.pop().map(|own| own.settings);
    let own_new = news.pop().map(|own| own.settings);
    let one = |of: Option<&str>, name: SettingName, (from, to): (&SettingData, &SettingData)| {
        let is_moved = |from: &OriginData, to: &OriginData| {
            (from.layer, &from.row, &from.path) != (to.layer, &to.row, &to.path)
        };
        let differs = from.value != to.value
            || from.applies != to.applies
            || is_moved(&from.origin, &to.origin);
        let place = |places: &SettingPlaces<'_>, origin: &OriginData| {
            let line = places.line(origin);
            SettingPlace {
                layer: origin.layer,
                task_type: origin.row.clone(),
                path: origin.path.clone(),
                line,
            }
        };
        differs.then(|| SettingChange {
            setting: name.word(),
            of: of.map(str::to_owned),
            from: from.value,
            to: to.value,
            applies: to.applies,
            origin: place(after.places, &to.origin),
            origin_before: place(before.places, &from.origin),
        })
    };
    let mut changes = Vec::new();
    for around in &news {
        let Some(was) = olds.iter().find(|was| was.of == around.of) else {
            continue;
        };
        let carried = [SettingName::AccumulateData, SettingName::AccumulationFormat];
        let pair = |name| (was.settings.get(name), around.settings.get(name));
        changes.extend(
            carried
                .into_iter()
                .filter_map(|name| one(Some(&around.of), name, pair(name))),
        );
    }
    let own_old = own_old.as_ref().or(old.settings.as_ref());
    let own_new = own_new.as_ref().or(new.settings.as_ref());
    if let (Some(was), Some(own)) = (own_old, own_new) {
        let names = SettingName::ALL.iter().copied();
        changes.extend(names.filter_map(|name| one(None, name, (was.get(name), own.get(name)))));
    }
    changes
}
